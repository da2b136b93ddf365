/* Inside the host port: what waiting and the clock ask of the single-threaded runner. */
#ifndef LT_HOST_STATE_H
#define LT_HOST_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lt/arch.h"

bool lt_runner_active(void);            /* the test clock is chosen */
uint64_t lt_runner_now_ns(void);        /* of the calling hart */
void lt_runner_charge_ns(uint64_t ns);
void lt_runner_note_wait(uint64_t deadline_ns);

/* Between the runner and the interleaver. */
bool lt_runner_due(unsigned hart);      /* between two turns: mail, or its time has come */
uint64_t lt_runner_next_ns(void);       /* the earliest time to come that a hart waits for, LT_FOREVER: none */
void lt_interleave_run(uint64_t limit_ns); /* until no hart has anything to do before limit_ns */
void lt_interleave_spin(const lt_word *w, uint64_t value); /* others go on until *w has another value */
void lt_interleave_relax(void);         /* every other hart goes first */

#endif
