/* Inside the host port: what waiting and the clock ask of the single-threaded runner. */
#ifndef LT_HOST_STATE_H
#define LT_HOST_STATE_H

#include <stdbool.h>
#include <stdint.h>

bool lt_runner_active(void);            /* the test clock is chosen */
uint64_t lt_runner_now_ns(void);        /* of the calling hart */
void lt_runner_charge_ns(uint64_t ns);
void lt_runner_note_wait(uint64_t deadline_ns);

#endif
