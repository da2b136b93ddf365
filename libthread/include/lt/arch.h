/* The one architecture header: shared words, waiting, time, hart identity. Bodies: port/riscv/arch.h and port/host/arch.h.
 *
 * Rule of the virtual clock: a word that another hart may write while we read it without holding a lock is a *shared word*
 * and is touched only through these calls, never by a plain load or store (plain accesses are invisible to the clock's order;
 * under ThreadSanitizer they are data races too). Data protected by a lock or handed over by an event use plain accesses.
 *
 *   typedef … lt_word;                              a 64-bit shared word, 8-byte aligned
 *   uint64_t lt_load(const lt_word *w);             acquire            (riscv: LR.D.AQ)
 *   void     lt_store(lt_word *w, uint64_t v);      release            (riscv: AMOSWAP.D.RL)
 *   uint64_t lt_swap(lt_word *w, uint64_t v);       acquire + release
 *   uint64_t lt_add(lt_word *w, uint64_t d);        acquire + release, returns the old value
 *   uint64_t lt_or / lt_and(lt_word *w, uint64_t)   acquire + release, returns the old value
 *   bool     lt_cas(lt_word *w, uint64_t old, uint64_t new_);  acquire + release; never fails spuriously
 *   uint64_t lt_peek(const lt_word *w);             plain relaxed read by the only hart that ever writes the word
 *   void     lt_wait_while(const lt_word *w, uint64_t value, uint64_t deadline_ns);
 *            returns once *w != value (seen with acquire) or at the deadline (LT_FOREVER: none); may return early, so loop.
 *            Costs no host time while waiting under the virtual clock; WFI on plain QEMU with LT_IDLE waits, WRS in spin waits.
 *   void     lt_spin_while(const lt_word *w, uint64_t value);  the lock waiter's form: no deadline, no WFI
 *   unsigned lt_hart_id(void);
 *   uint64_t clock_now_ns(void);                    device time; virtual: slot.now_ns, real: rdtime scaled, host: steady clock or test clock
 *   bool     clock_is_virtual(void);
 *   void     clock_charge_ns(uint64_t ns);          advance this hart's clock (modelled CPU or bus time); real clock: no effect
 *   void     clock_freeze(void), clock_thaw(void);  code between costs no device time (nests): data movement, MMIO, statistics
 *   void     lt_kick(unsigned hart);                end another hart's WFI (IPI); no effect under the virtual clock
 *   void     lt_fail(const char *text);             report on console and header, stop the run; never returns */
#ifndef LT_ARCH_H
#define LT_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define LT_FOREVER UINT64_MAX
#define LT_CACHE_LINE 64

#include "port_arch.h" /* found through the port's include path */

#endif
