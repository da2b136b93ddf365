/* Doorbells written through registers: tails and heads of the queues, of the admin pair at once, of others when they are looked at. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_DOORBELL_REGISTERS_H
#define HIL_DOORBELL_REGISTERS_H

#include "hil/queue/queues.h"

/* The controller is ready; id < QUEUES. What the doorbell does not allow is told to the client. Clock frozen. */
void doorbell_write(struct queues *queues, unsigned id, bool is_cq, uint32_t value);

#endif
