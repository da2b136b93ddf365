/* Barrier: no party goes on before all have come; reusable at once. For boot and tests, not for the I/O path: it spins. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_BARRIER_H
#define LT_BARRIER_H

#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lt_barrier {
	LT_OWN_LINE lt_word arrived;
	LT_OWN_LINE lt_word round; /* on its own line: the waiters watch it */
	uint32_t parties;
};

void lt_barrier_init(struct lt_barrier *barrier, uint32_t parties);
/* All earlier stores of every party are visible to every party afterwards. True for the last one to arrive. */
bool lt_barrier_wait(struct lt_barrier *barrier);

#ifdef __cplusplus
}
#endif
#endif
