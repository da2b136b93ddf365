/* Vector clocks of the words that harts synchronise through. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "vector.h"

#include "table.h"

struct entry {
	uint64_t tag; /* address >> 3, plus 1 */
	struct vc_vector clock;
};

static struct vc_table words = { .entry_bytes = sizeof(struct entry) };

struct vc_vector *vc_vector_of(uint64_t address) { return &((struct entry *)vc_table_at(&words, (address >> 3) + 1))->clock; }
