/* The host as the HIL sees it: memory, PRPs, interrupts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HOST_HOST_H
#define HIL_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base.h"
#include "hil/ports/ports.h"
#include "sgl.h"
#include "shm.h"

/* Host memory: words written by host threads while we read them, and the memory range allowed to the host's pointers.
 *
 * Not lt_* accessors: no other hart ever touches these words, so they are no sync points of the virtual clock. On bare metal a plain
 * access with a fence is enough (compiler atomics would become AMOs, which are sync points); on the host the compiler's atomics are
 * used, so that ThreadSanitizer sees them. */

#ifdef __riscv
#define HOST_WORD(bits) \
	static inline uint##bits##_t host_load##bits(const uint##bits##_t *word) \
	{ \
		uint##bits##_t value = *(const volatile uint##bits##_t *)word; \
		__atomic_thread_fence(__ATOMIC_ACQUIRE); \
		return value; \
	} \
	static inline void host_store##bits(uint##bits##_t *word, uint##bits##_t value) \
	{ \
		__atomic_thread_fence(__ATOMIC_RELEASE); \
		*(volatile uint##bits##_t *)word = value; \
	}
/* Earlier stores become visible before later loads: the sleeping host does the same the other way round. */
static inline void host_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#else
#define HOST_WORD(bits) \
	static inline uint##bits##_t host_load##bits(const uint##bits##_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); } \
	static inline void host_store##bits(uint##bits##_t *word, uint##bits##_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }
static inline void host_fence(void) {} /* the accesses above are sequentially consistent */
#endif
HOST_WORD(32)
HOST_WORD(64)
#undef HOST_WORD

/* The region as a bus: addresses are byte offsets, and only the heap may be named by the host. */
struct host_bus {
	uint8_t *base;
	uint64_t bytes;
};

static inline bool host_bus_holds(const struct host_bus *bus, uint64_t address, uint64_t bytes)
{
	return address >= HZ_SHM_HEAP_OFFSET && address <= bus->bytes && bytes <= bus->bytes - address;
}

/* The host as this hart reaches it: the platform's port, the head of the shared region, and the heartbeat for it. */

struct host {
	struct hil_port port;
	struct hz_shm_header *header;
	uint32_t heartbeat;
};

/* At each look at the host; returns the number of looks so far. Clock frozen, as for all below. */
static inline uint32_t host_beat(struct host *host)
{
	host_store32(&host->header->heartbeat, ++host->heartbeat);
	return host->heartbeat;
}

static inline uint32_t host_bell(const struct host *host) { return host_load32(&host->header->host_bell); }
/* As hil_port.host_wait: false if nothing will come. */
static inline bool host_wait(struct host *host, uint32_t bell) { return host->port.host_wait(host->port.ctx, bell); }
static inline void host_wake(struct host *host, unsigned queue) { host->port.host_wake(host->port.ctx, queue); }

/* Interrupts: raised by completions, masked by registers, sent by the register link. */

enum { VECTORS = HZ_MAX_IO_QUEUES + 1 };

struct interrupts {
	uint64_t pending[2]; /* bit = vector */
	uint32_t masked;     /* INTMS/INTMC: bit = vector, 0 … 31 */
};

static inline void interrupts_raise(struct interrupts *irq, unsigned vector) { irq->pending[vector >> 6] |= 1ull << (vector & 63); }

static inline void interrupts_sent(struct interrupts *irq, unsigned vector) { irq->pending[vector >> 6] &= ~(1ull << (vector & 63)); }

static inline void interrupts_drop(struct interrupts *irq) { irq->pending[0] = irq->pending[1] = 0; }

static inline bool interrupts_any(const struct interrupts *irq) { return irq->pending[0] | irq->pending[1]; }

/* The vector is to be sent now. */
static inline bool interrupts_due(const struct interrupts *irq, unsigned vector)
{
	return (irq->pending[vector >> 6] >> (vector & 63) & 1) && !(vector < 32 && (irq->masked >> vector & 1));
}

/* PRP entries to a scatter list of host pages (base spec 4.1.1). Pure: reads host memory, changes only its outputs. */

enum { PRP_MAX_PAGES = HZ_MAX_TRANSFER_SECTORS + 1 }; /* an unaligned transfer of MDTS touches one page more */

/* bytes: 1 … HZ_MAX_TRANSFER_SECTORS * 4096. pages: room for PRP_MAX_PAGES. On success sgl names exactly `bytes` bytes of the host
 * heap. Returns an NVMe status: PRP Offset Invalid (a wrong alignment) or Data Transfer Error (an address outside the heap). */
uint16_t prp_parse(const struct host_bus *bus, uint64_t prp1, uint64_t prp2, uint32_t bytes, uint8_t **pages, struct sgl *sgl);

#endif
