/* The one architecture header: shared words, waiting, time, hart identity. Bodies: port/riscv/port_arch.h,
 * port/host/port_arch.h.
 *
 * Rule of the virtual clock: a word that another hart may write while we read it without holding a lock is a *shared
 * word* and is touched only through these calls, never by a plain load or store (plain accesses are invisible to the
 * clock's order; under ThreadSanitizer they are data races too). Data protected by a lock or handed over by an event
 * use plain accesses.
 *
 *   typedef struct … lt_word;                       a 64-bit shared word, 8-byte aligned; zeroed memory is the value 0
 *   uint64_t lt_load(const lt_word *w);             acquire            (riscv: LR.D.AQ)
 *   void     lt_store(lt_word *w, uint64_t v);      release            (riscv: AMOSWAP.D.RL)
 *   uint64_t lt_swap(lt_word *w, uint64_t v);       acquire + release
 *   uint64_t lt_add(lt_word *w, uint64_t d);        acquire + release, returns the old value
 *   uint64_t lt_or / lt_and(lt_word *w, uint64_t)   acquire + release, returns the old value
 *   bool     lt_cas(lt_word *w, uint64_t old, uint64_t new_);  acquire + release; never fails spuriously
 *   uint64_t lt_cas_seen(…same…);                   the value found: equal to `old` exactly if new_ was written
 *   uint64_t lt_load_last(const lt_word *w);        lt_load that comes after every earlier read, too (riscv: LR.D.AQRL)
 *   uint32_t lt_load32(const uint32_t *w);          lt_load and lt_store of 32 bits, 4-byte aligned (riscv: LR.W.AQ, AMOSWAP.W.RL);
 *   void     lt_store32(uint32_t *w, uint32_t v);   plain reads of the word by a hart that excludes all writers are no race
 *   uint32_t lt_glance(const uint32_t *w);          plain read that another hart's lt_put may overtake: what was read counts only if
 *   void     lt_put(uint32_t *w, uint32_t v);       lt_lock_looked (lt/lock.h) says so
 *   uint64_t lt_peek(const lt_word *w);             plain relaxed read by the only hart that ever writes the word
 *   void     lt_preset(lt_word *w, uint64_t v);     plain write while no other hart can reach the word yet
 *   bool     lt_wait_while(const lt_word *w, uint64_t value, uint64_t deadline_ns);
 *            returns true once *w != value may hold, false at the deadline (LT_FOREVER: none); may return true early,
 *            so look again. After a change of the word its writer must call lt_kick(the waiting hart).
 *            Costs no host time while waiting under the virtual clock; WFI on plain QEMU.
 *   uint64_t lt_wait_take(lt_word *w, uint64_t deadline_ns);  waits like lt_wait_while(w, 0, deadline_ns), then takes the
 *            word: returns it and leaves 0 (acquire + release); 0: nothing yet. For the only hart that takes.
 *            This is how a hart is idle, and the only wait that may stand inside clock_freeze: its clock jumps to the end of it.
 *   uint64_t lt_spin_while(const lt_word *w, uint64_t value);  the lock waiter's form: no deadline, no WFI, needs no
 *            kick.
 *            Returns the value read (acquire): not `value` if there was nothing to wait for, `value` after a wait.
 *   void     lt_relax(void);                        between two retries of a failed atomic
 *   unsigned lt_hart_id(void);
 *   uint64_t clock_now_ns(void);                    device time; virtual: slot.now_ns, real: rdtime scaled, host:
 *                                                   host_clock.h
 *   uint64_t clock_frozen_ns(void);                 the same inside clock_freeze, where it needs no hypercall
 *   bool     clock_is_virtual(void);
 *   void     lt_note_waiting(class, index, since_ns), lt_note_not_waiting(void);  for the deadlock dump of the virtual
 *                                                   clock
 *   void     lt_tell_lock(event, class, index, site);  for the virtual clock's lock profile, clock frozen
 *   void     lt_tell_look(void), lt_tell_looked(void);  for the virtual clock's race check: plain loads between the two may race
 *   void     lt_tell_had(logical_lock);             for the same profile: a logical lock was taken (lt/logical.h); a constant
 *   void     lt_tell_request(event, request);        for the virtual clock's account of requests (vclock_abi.h); a constant event
 *   void     lt_tell_flash_read(request, begin_ns, cells_end_ns, end_ns);  for the same, clock frozen
 *   void     lt_tell_links(request, until_ns);         for the same, clock frozen
 *   void     lt_tell_span(what, begin_ns, end_ns);  for the virtual clock's timeline, clock frozen
 *   void     clock_charge_ns(uint64_t ns);          advance this hart's clock (modelled CPU or bus time); real clock:
 *                                                   no effect
 *   void     clock_freeze(void), clock_thaw(void);  code between costs no device time (nests): data movement, MMIO,
 *                                                   statistics. While a clock stands still no other hart passes it, so code
 *                                                   between never waits for another hart
 *   void     lt_may_wait(const char *what);         a note: `what` may have to wait for another hart, even if it does not
 *                                                   this time. Host: fails the run if the clock is frozen; bare metal: nothing,
 *                                                   the virtual clock ends the run if it happens
 *   void     lt_kick(unsigned hart);                end another hart's WFI (IPI); no effect under the virtual clock
 *   void     lt_guard(void *start, size_t bytes, size_t apart);
 *                                                   these bytes may be used, the `apart` bytes behind them not (AddressSanitizer)
 *   void     lt_spoil(void *start, size_t bytes);   they are written before they are read. Host: nonsense in the first MiB
 *   void     lt_fail(const char *text);             report, stop the run; never returns. Host: stderr and abort. Bare metal:
 *                                                   defined by the platform */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_ARCH_H
#define LT_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define LT_FOREVER UINT64_MAX
#define LT_CACHE_LINE 64
#define LT_OWN_LINE __attribute__((aligned(LT_CACHE_LINE))) /* keeps shared words of different purpose apart */

#ifdef __cplusplus
extern "C" {
#endif
void lt_fail(const char *text) __attribute__((noreturn));
#ifdef __cplusplus
}
#endif

#include "port_arch.h" /* found through the port's include path */

/* Spin until the word has another value than `value`; returns it. */
static inline uint64_t lt_spin_until_not(const lt_word *w, uint64_t value)
{
	uint64_t seen;

	do
		seen = lt_spin_while(w, value);
	while (seen == value);
	return seen;
}

#endif
