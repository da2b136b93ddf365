/* Shared words, time and hart identity on bare RV64 (plain QEMU or under the virtual-clock plugin; the same ELF).
 *
 * Explicit instructions, never compiler atomics: gcc turns an atomic load into a plain LD, which the plugin cannot see.
 * Ordering (RVWMO, unprivileged spec 14.1, preserved program order rules 5 and 6):
 *   .aq  forbids every later memory access of this hart to be ordered before the annotated one: what is read after
 *        lt_load, lt_swap or a successful lt_cas is at least as new as what the releasing hart had written.
 *   .rl  forbids every earlier memory access of this hart to be ordered after the annotated one: stores of a critical
 *        section cannot leak past the lt_store that frees the lock. (`fence r,rw` + store would let earlier *stores* pass.)
 * Both are RCsc: an .rl followed by an .aq on the same hart stays in order (rule 7).
 *
 * Boot code puts mhartid into tp before any C code runs. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_PORT_ARCH_H
#define LT_PORT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vclock_abi.h"

typedef struct lt_word {
	uint64_t value;
} lt_word;

/* Set by the platform from the FDT before a second hart runs. */
extern uintptr_t lt_clint_base; /* msip at +4*hart, mtimecmp at +0x4000+8*hart; default 0x2000000 */
extern uint32_t lt_ns_per_tick; /* of rdtime; default 100 (10 MHz) */

/* LR.D and not LD: a sync point of the virtual clock. .aq keeps later reads behind it. */
static inline uint64_t lt_load(const lt_word *w)
{
	uint64_t v;

	__asm__ volatile("lr.d.aq %0, (%1)" : "=r"(v) : "r"(&w->value) : "memory");
	return v;
}

static inline uint64_t lt_load_last(const lt_word *w)
{
	uint64_t v;

	__asm__ volatile("lr.d.aqrl %0, (%1)" : "=r"(v) : "r"(&w->value) : "memory");
	return v;
}

static inline uint32_t lt_load32(const uint32_t *w)
{
	uint64_t v;

	__asm__ volatile("lr.w.aq %0, (%1)" : "=r"(v) : "r"(w) : "memory");
	return (uint32_t)v;
}

static inline void lt_store32(uint32_t *w, uint32_t v) { __asm__ volatile("amoswap.w.rl zero, %1, (%0)" : : "r"(w), "r"(v) : "memory"); }

/* Plain accesses suffice the virtual clock, too: the sequence that judges them is read and written at sync points. */
static inline uint32_t lt_glance(const uint32_t *w) { return *(const volatile uint32_t *)w; }
static inline void lt_put(uint32_t *w, uint32_t v) { *(volatile uint32_t *)w = v; }

/* AMOSWAP and not SD: a sync point. .rl keeps every earlier load and store before it. */
static inline void lt_store(lt_word *w, uint64_t v)
{
	__asm__ volatile("amoswap.d.rl zero, %1, (%0)" : : "r"(&w->value), "r"(v) : "memory");
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

/* LR.aq: later accesses see the stores of the last releasing writer. SC.rl: earlier stores are visible to every reader of new_. A later
 * access may be ordered before the SC but not before the LR, and the SC succeeds only without a write in between. There is only a branch
 * between LR and SC: the constrained loop of spec 8.3, so it always ends. */
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

static inline struct hz_vc_slot *lt_vc_slot(void)
{
	unsigned long id;

	__asm__("mv %0, tp" : "=r"(id));
	return (struct hz_vc_slot *)(HZ_VC_SLOTS_ADDR + id * sizeof(struct hz_vc_slot));
}

/* A hypercall to the plugin (vclock_abi.h); a no-op without it. */
#define LT_HYPERCALL(imm) __asm__ volatile("slti zero, zero, %0" : : "i"(imm) : "memory")

/* The plugin fills in every slot's magic before any hart passes its first hypercall; boot code executes one (HZ_VC_SYNC). */
static inline bool clock_is_virtual(void) { return lt_vc_slot()->magic != 0; }

static inline void clock_freeze(void) { LT_HYPERCALL(HZ_VC_FREEZE); }

/* A branch inside the freeze may go either way by chance. If a compiler gave each way its own thaw and code behind it, device time would
 * depend on the way. So before the thaw all ways enter a loop: for all the compiler knows, an empty instruction might repeat it, so it
 * cannot follow one way through. And the thaw has empty lines, each counted as an instruction, so that a compiler which copies short
 * blocks takes it for a long one. Neither costs anything. */
static inline __attribute__((always_inline)) void clock_thaw(void)
{
meet:
	__asm__ goto("" : : : "memory" : meet);
	__asm__ volatile inline("slti zero, zero, %0\n\n\n\n\n\n\n\n\n\n" : : "i"(HZ_VC_THAW) : "memory");
}

/* No other hart comes between the last lt_* access of this freeze and this hart's next freeze. Call with the clock frozen. */
static inline void clock_stay(void) { LT_HYPERCALL(HZ_VC_STAY); }

static inline void lt_may_wait(const char *what) { (void)what; }

static inline void clock_charge_ns(uint64_t ns)
{
	lt_vc_slot()->arg0 = ns;
	LT_HYPERCALL(HZ_VC_CHARGE);
}

/* The lock this hart spins for, for the plugin's deadlock dump. Call with the clock frozen. */
static inline void lt_note_waiting(unsigned lock_class, uint32_t index, uint64_t since_ns)
{
	volatile struct hz_vc_slot *slot = lt_vc_slot();

	slot->waiting_since_ns = since_ns;
	slot->waiting_for = HZ_VC_LOCK(lock_class, index);
}

static inline void lt_note_not_waiting(void) { *(volatile uint64_t *)&lt_vc_slot()->waiting_for = 0; }

/* For the plugin's lock profile. Call with the clock frozen. */
static inline void lt_tell_lock(enum hz_vc_lock_event event, unsigned lock_class, uint32_t index, const void *site)
{
	volatile struct hz_vc_slot *slot = lt_vc_slot();

	slot->arg0 = event;
	slot->arg1 = HZ_VC_LOCK(lock_class, index);
	slot->arg2 = (uintptr_t)site;
	LT_HYPERCALL(HZ_VC_LOCK_EVENT);
}

/* For the plugin's race check. */
static inline void lt_tell_look(void) { LT_HYPERCALL(HZ_VC_LOOK); }
static inline void lt_tell_looked(void) { LT_HYPERCALL(HZ_VC_LOOKED); }

/* For the plugin's lock profile: one instruction, anywhere. */
#define lt_tell_had(logical_lock) LT_HYPERCALL(HZ_VC_HAD + (logical_lock))

/* For the plugin's account of requests: one instruction, anywhere. */
#define lt_tell_request(event, request) __asm__ volatile("slti zero, %1, %0" : : "i"(event), "r"(request) : "memory")

/* The same; call with the clock frozen. */
static inline void lt_tell_flash_read(const void *request, uint64_t begin_ns, uint64_t cells_end_ns, uint64_t end_ns)
{
	volatile struct hz_vc_slot *slot = lt_vc_slot();

	slot->arg0 = begin_ns;
	slot->arg1 = cells_end_ns;
	slot->arg2 = end_ns;
	lt_tell_request(HZ_VC_FLASH_READ, request);
}

static inline void lt_tell_links(const void *request, uint64_t until_ns)
{
	lt_vc_slot()->arg0 = until_ns;
	lt_tell_request(HZ_VC_LINKS, request);
}

/* For the plugin's timeline: the span of HZ_VC_SPAN_OF. Call with the clock frozen. */
static inline void lt_tell_span(uint64_t what, uint64_t begin_ns, uint64_t end_ns)
{
	volatile struct hz_vc_slot *slot = lt_vc_slot();

	slot->arg0 = begin_ns;
	slot->arg1 = end_ns;
	slot->arg2 = what;
	LT_HYPERCALL(HZ_VC_SPAN);
}

static inline uint64_t lt_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("rdtime %0" : "=r"(ticks));
	return ticks;
}

static inline uint64_t clock_now_ns(void)
{
	struct hz_vc_slot *slot = lt_vc_slot();

	if (slot->magic == 0)
		return lt_ticks() * lt_ns_per_tick;
	LT_HYPERCALL(HZ_VC_NOW);
	return *(volatile uint64_t *)&slot->now_ns;
}

/* The plugin keeps the time of a frozen clock in the slot. */
static inline uint64_t clock_frozen_ns(void)
{
	struct hz_vc_slot *slot = lt_vc_slot();

	if (slot->magic == 0)
		return lt_ticks() * lt_ns_per_tick;
	return *(volatile uint64_t *)&slot->now_ns;
}

/* LR reads and sets the reservation; WRS.NTO stalls until another hart writes the line (Zawrs), and parks the hart
 * under the virtual clock. One asm block: a compiler-made access in between could lose the reservation. */
static inline uint64_t lt_spin_while(const lt_word *w, uint64_t value)
{
	uint64_t seen;

	__asm__ volatile("	lr.d.aq %0, (%1)\n"
			 "	bne %0, %2, 1f\n"
			 "	.word 0x00d00073\n" /* wrs.nto */
			 "1:"
			 : "=&r"(seen)
			 : "r"(&w->value), "r"(value)
			 : "memory");
	return seen;
}

static inline void lt_relax(void) { __asm__ volatile(".word 0x0100000f" : : : "memory"); /* pause */ }

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

bool lt_wait_while(const lt_word *w, uint64_t value, uint64_t deadline_ns);
uint64_t lt_real_take(lt_word *w, uint64_t deadline_ns); /* lt_wait_take on plain QEMU */

/* One hypercall: the plugin looks, parks the hart and takes, so that a look in vain need not run the hart. */
static inline uint64_t lt_wait_take(lt_word *w, uint64_t deadline_ns)
{
	volatile struct hz_vc_slot *slot = lt_vc_slot();

	if (!clock_is_virtual())
		return lt_real_take(w, deadline_ns);
	slot->arg0 = deadline_ns;
	slot->arg1 = (uintptr_t)&w->value;
	LT_HYPERCALL(HZ_VC_TAKE);
	return slot->arg1;
}
void lt_kick(unsigned hart);

#endif
