/* Interrupts: raised by completions, masked by registers, sent by the register link. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_INTERRUPTS_H
#define HIL_INTERRUPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base.h"

enum { VECTORS = HZ_MAX_IO_QUEUES + 1 };

struct interrupts {
	uint64_t pending[2]; /* bit = vector */
	uint32_t masked;     /* INTMS/INTMC: bit = vector, 0 … 31 */
};

static inline void interrupts_raise(struct interrupts *irq, unsigned vector) { irq->pending[vector >> 6] |= 1ull << (vector & 63); }

static inline void interrupts_sent(struct interrupts *irq, unsigned vector) { irq->pending[vector >> 6] &= ~(1ull << (vector & 63)); }

static inline void interrupts_drop(struct interrupts *irq) { irq->pending[0] = irq->pending[1] = 0; }

static inline bool interrupts_any(const struct interrupts *irq) { return irq->pending[0] | irq->pending[1]; }

/* The vector is to be sent now. */
static inline bool interrupts_due(const struct interrupts *irq, unsigned vector)
{
	return (irq->pending[vector >> 6] >> (vector & 63) & 1) && !(vector < 32 && (irq->masked >> vector & 1));
}

#endif
