/* Host only: the clock of device code, a deterministic single-threaded runner, and real hart threads.
 *
 * Steady clock (default): clock_now_ns is the monotonic clock of the machine; for lt_host_start_harts. Test clock: time stands still
 * unless the test or the runner moves it; for everything in one thread. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_HOST_CLOCK_H
#define LT_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Back to the machine's clock. */
void lt_host_clock_steady(void);
/* Test clock from start_ns on; forgets the runner's state of an earlier test. Call it before lt_harts_init. */
void lt_host_clock_test(uint64_t start_ns);
/* Test clock only; now_ns must not lie in the past. No timer fires before the next run. */
void lt_host_clock_set(uint64_t now_ns);

/* Run all harts of lt_harts_init round-robin in the calling thread, one loop turn each, until none has anything to do now and no timer
 * (or waiting hook) has a later time. When all are idle, time jumps to the earliest deadline. After clock_charge_ns a hart is busy until
 * its own clock is reached; the others go on. Returns the device time of the end. Same input, same order, same result. The caller acts
 * as hart 0 before and after. */
uint64_t lt_host_run_until_idle(void);
/* The same, but stops with the clock at limit_ns if something is still to come then. */
uint64_t lt_host_run_until(uint64_t limit_ns);
/* Test clock only: from now on, until the next choice of a clock, lt_host_run_until(_idle) also interleaves harts inside their turns. A
 * hart may stand still before any access to a shared word while the others go on and time passes, or go on for long alone: the one with
 * the highest priority runs, and before one in `one_in` accesses its priority is drawn again (after PCT: Burckhardt et al., ASPLOS
 * 2010). Time is one more party. The order follows from seed alone. A deadlock fails the run, unless it waits for a lock of the caller. */
void lt_host_interleave(uint64_t seed, unsigned one_in);
/* One turn of one hart without any movement of time: true if it did something. */
bool lt_host_turn(unsigned hart);

/* Steady clock: one pthread per hart of lt_harts_init runs lt_hart_run. Until the join the caller is no hart: it may
 * call lt_post and lt_harts_stop, but neither locks nor timers nor pools. */
void lt_host_start_harts(void);
void lt_host_join_harts(void);

/* For code outside an event loop (lock tests, benchmarks): the calling thread becomes this hart. */
void lt_host_set_hart(unsigned hart);

#ifdef __cplusplus
}
#endif
#endif
