/* Shared words, time and hart identity in the native image (native_abi.h): the plugin does what it does for instructions of port/riscv.
 * Everything here runs with the clock frozen.
 *
 * r15 has the hart's number, as tp has it on RISC-V: no compiled code changes it, and it follows the hart from thread to thread. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_PORT_ARCH_H
#define LT_PORT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native_abi.h"
#include "vclock_abi.h"

typedef struct lt_word {
	uint64_t value;
} lt_word;

register uint64_t lt_native_hart __asm__("r15");
#define native_services (*(const struct hz_native_services *)HZ_NATIVE_SERVICES)

static inline unsigned lt_hart_id(void) { return (unsigned)lt_native_hart; }
static inline struct hz_vc_slot *lt_vc_slot(void)
{
	return (struct hz_vc_slot *)(HZ_VC_SLOTS_ADDR + lt_native_hart * sizeof(struct hz_vc_slot));
}

static inline uint64_t lt_load(const lt_word *w) { return native_services.load(lt_native_hart, &w->value); }
static inline void lt_store(lt_word *w, uint64_t v) { native_services.swap(lt_native_hart, &w->value, v); }
static inline uint64_t lt_swap(lt_word *w, uint64_t v) { return native_services.swap(lt_native_hart, &w->value, v); }
static inline uint64_t lt_add(lt_word *w, uint64_t v) { return native_services.add(lt_native_hart, &w->value, v); }
static inline uint64_t lt_or(lt_word *w, uint64_t v) { return native_services.set(lt_native_hart, &w->value, v); }
static inline uint64_t lt_and(lt_word *w, uint64_t v) { return native_services.mask(lt_native_hart, &w->value, v); }
static inline uint64_t lt_cas_seen(lt_word *w, uint64_t old, uint64_t new_)
{
	return native_services.compare_and_swap(lt_native_hart, &w->value, old, new_);
}
static inline bool lt_cas(lt_word *w, uint64_t old, uint64_t new_) { return lt_cas_seen(w, old, new_) == old; }
static inline uint64_t lt_peek(const lt_word *w) { return *(const volatile uint64_t *)&w->value; }
static inline void lt_preset(lt_word *w, uint64_t v) { *(volatile uint64_t *)&w->value = v; }

static inline void native_hypercall(enum hz_hypercall hypercall) { native_services.hypercall(lt_native_hart, hypercall); }

#define LT_HYPERCALL(imm) native_hypercall(imm)

static inline bool clock_is_virtual(void) { return true; }
static inline void clock_freeze(void) {} /* it is frozen, */
static inline void clock_thaw(void) {}   /* and stays so */
static inline void clock_stay(void) { native_hypercall(HZ_VC_STAY); }
static inline uint64_t clock_frozen_ns(void) { return *(volatile uint64_t *)&lt_vc_slot()->now_ns; }
static inline uint64_t clock_now_ns(void) { return clock_frozen_ns(); }
static inline void lt_may_wait(const char *what) { (void)what; }
static inline void lt_kick(unsigned hart) { (void)hart; }

static inline void clock_charge_ns(uint64_t ns)
{
	*(volatile uint64_t *)&lt_vc_slot()->arg0 = ns;
	native_hypercall(HZ_VC_CHARGE);
}

static inline void lt_tell_lock(enum hz_vc_lock_event event, unsigned lock_class, uint32_t index, const void *site)
{
	struct hz_vc_slot *slot = lt_vc_slot();

	slot->arg0 = event;
	slot->arg1 = HZ_VC_LOCK(lock_class, index);
	slot->arg2 = (uintptr_t)site;
	native_hypercall(HZ_VC_LOCK_EVENT);
}

static inline void lt_tell_span(uint64_t what, uint64_t begin_ns, uint64_t end_ns)
{
	struct hz_vc_slot *slot = lt_vc_slot();

	slot->arg0 = begin_ns;
	slot->arg1 = end_ns;
	slot->arg2 = what;
	native_hypercall(HZ_VC_SPAN);
}

static inline uint64_t lt_wait_take(lt_word *w, uint64_t deadline_ns)
{
	struct hz_vc_slot *slot = lt_vc_slot();

	slot->arg0 = deadline_ns;
	slot->arg1 = (uintptr_t)&w->value;
	native_hypercall(HZ_VC_TAKE);
	return *(volatile uint64_t *)&slot->arg1;
}

/* Code of hardware neither waits for other harts nor tells the progress of a request: the link fails where it does. */
void lt_tell_had(unsigned logical_lock);
void lt_tell_request(enum hz_hypercall event, const void *request);
void lt_tell_links(const void *request, uint64_t until_ns);
void lt_tell_flash_read(const void *request, uint64_t begin_ns, uint64_t cells_end_ns, uint64_t end_ns);
uint64_t lt_spin_while(const lt_word *w, uint64_t value);
void lt_relax(void);

#endif
