/* Inside libthread only: a hart's loop in single turns, for the host's runner. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HART_H
#define HART_H

#include "hart_state.h"

/* One turn of the calling hart's loop: true if it did something. */
bool lt_hart_turn(struct hart *h);
/* Its own next time: of a timer or an engine. */
uint64_t lt_hart_deadline(const struct hart *h);
/* Nothing more will come to this hart before it stops. */
bool lt_hart_done(struct hart *h);

#endif
