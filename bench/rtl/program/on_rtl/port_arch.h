/* libthread's port to RTL without Zawrs or hypercalls: time is not queried, and waiters poll.
 *
 * Shared words are read and written as an ordinary port would, by plain loads and stores with
 * fences; with SHARED_BY_LR as in the port to the virtual clock, by LR and AMOSWAP. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_PORT_ARCH_H
#define LT_PORT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lt_word {
	uint64_t value;
} lt_word;

#ifdef SHARED_BY_LR
#define LT_READ(to, address) "lr.d.aq " to ", (" address ")\n"
#define LT_READ_LAST(to, address) "lr.d.aqrl " to ", (" address ")\n"
#define LT_WRITE(from, address) "amoswap.d.rl zero, " from ", (" address ")\n"
#else
#define LT_READ(to, address) "ld " to ", (" address ")\n	fence r, rw\n"
#define LT_READ_LAST(to, address) "fence r, r\n	" LT_READ(to, address)
#define LT_WRITE(from, address) "fence rw, w\n	sd " from ", (" address ")\n"
#endif

static inline uint64_t lt_load(const lt_word *w)
{
	uint64_t v;

	__asm__ volatile(LT_READ("%0", "%1") : "=r"(v) : "r"(&w->value) : "memory");
	return v;
}

static inline uint64_t lt_load_last(const lt_word *w)
{
	uint64_t v;

	__asm__ volatile(LT_READ_LAST("%0", "%1") : "=r"(v) : "r"(&w->value) : "memory");
	return v;
}

static inline void lt_store(lt_word *w, uint64_t v) { __asm__ volatile(LT_WRITE("%1", "%0") : : "r"(&w->value), "r"(v) : "memory"); }

static inline uint64_t lt_spin_while(const lt_word *w, uint64_t value)
{
	(void)value;
	return lt_load(w);
}

#define LT_AMO(name, insn) \
	static inline uint64_t name(lt_word *w, uint64_t v) \
	{ \
		uint64_t old; \
		__asm__ volatile(insn ".d.aqrl %0, %2, (%1)" : "=&r"(old) : "r"(&w->value), "r"(v) : "memory"); \
		return old; \
	}
LT_AMO(lt_swap, "amoswap")
LT_AMO(lt_add, "amoadd")
LT_AMO(lt_or, "amoor")
LT_AMO(lt_and, "amoand")
#undef LT_AMO

static inline uint64_t lt_cas_seen(lt_word *w, uint64_t old, uint64_t new_)
{
	uint64_t seen, failed;

	__asm__ volatile("1:	lr.d.aq %0, (%2)\n"
			 "	bne %0, %3, 2f\n"
			 "	sc.d.rl %1, %4, (%2)\n"
			 "	bnez %1, 1b\n"
			 "2:"
			 : "=&r"(seen), "=&r"(failed)
			 : "r"(&w->value), "r"(old), "r"(new_)
			 : "memory");
	return seen;
}

static inline bool lt_cas(lt_word *w, uint64_t old, uint64_t new_) { return lt_cas_seen(w, old, new_) == old; }
static inline uint64_t lt_peek(const lt_word *w) { return *(const volatile uint64_t *)&w->value; }
static inline void lt_preset(lt_word *w, uint64_t v) { *(volatile uint64_t *)&w->value = v; }

static inline unsigned lt_hart_id(void)
{
	unsigned long id;

	__asm__("mv %0, tp" : "=r"(id));
	return (unsigned)id;
}

static inline void lt_relax(void) { __asm__ volatile(".word 0x0100000f" : : : "memory"); /* pause */ }

static inline void clock_freeze(void) {}
static inline void clock_thaw(void) {}
static inline void lt_may_wait(const char *what) { (void)what; }

static inline void lt_guard(void *start, size_t bytes, size_t apart)
{
	(void)start;
	(void)bytes;
	(void)apart;
}

static inline void lt_spoil(void *start, size_t bytes)
{
	(void)start;
	(void)bytes;
}

#endif
