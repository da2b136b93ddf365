/* Inside the host port: the single-threaded runner's interface for waiting, the clock and the interleaver. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNNER_H
#define RUNNER_H

#include <stdbool.h>
#include <stdint.h>

bool lt_runner_active(void);     /* the test clock is chosen */
uint64_t lt_runner_now_ns(void); /* of the calling hart */
void lt_runner_charge_ns(uint64_t ns);
void lt_runner_note_wait(uint64_t deadline_ns);
bool lt_runner_due(unsigned hart); /* between two turns: mail, or its time has come */
uint64_t lt_runner_next_ns(void);  /* the earliest future time in a hart's wait, LT_FOREVER: none */

#endif
