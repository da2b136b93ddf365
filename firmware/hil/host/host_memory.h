/* Host memory: words that host threads write while we read them, and the range that the host may point us to.
 *
 * Not lt_* accessors: no other hart ever touches these words, so they are no order points of the virtual clock. On bare metal a
 * fence beside a plain access is enough (compiler atomics would become AMOs, which are order points); on the host the compiler's
 * atomics are used, so that ThreadSanitizer sees them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HOST_MEMORY_H
#define HIL_HOST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "shm.h"

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
/* What we stored before is visible before what we load next: the sleeping host does the same the other way round. */
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

#endif
