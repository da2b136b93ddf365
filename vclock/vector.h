/* Vector clocks of the race check: one per hart, and one per address that harts synchronise through. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_VECTOR_H
#define VC_VECTOR_H

#include <stdint.h>

#include "state.h"

struct vc_vector {
	uint32_t at[VC_MAX_HARTS];
};

static inline void vc_vector_join(struct vc_vector *into, const struct vc_vector *from)
{
	for (unsigned i = 0; i < VC_MAX_HARTS; i++)
		if (from->at[i] > into->at[i])
			into->at[i] = from->at[i];
}

/* The clock of an 8-byte word, all zero at first. The pointer is valid until the next call. */
struct vc_vector *vc_vector_of(uint64_t address);

#endif
