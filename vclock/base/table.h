/* Table from tag to entry: open addressing, doubled when half full. Lines, vector clocks and shadow pages live in one each.
 *
 * An entry is a struct that begins with its uint64_t tag; tag 0 marks an unused one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_BASE_TABLE_H
#define VCLOCK_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct vc_table {
	size_t entry_bytes;
	uint64_t slots, used; /* slots: 0 or a power of two */
	unsigned char *entries;
};

/* The entry of `tag` (not 0); a new one is zero except for its tag. Valid until the next call for
 * the same table. Aborts if memory runs out. */
void *vc_table_at(struct vc_table *table, uint64_t tag);

/* The entry of `tag`, or NULL. */
void *vc_table_find(const struct vc_table *table, uint64_t tag);

/* Empty the table and free its memory. */
void vc_table_drop(struct vc_table *table);

/* Entry number i of `slots`, or NULL if it is unused. */
static inline void *vc_table_entry(const struct vc_table *table, uint64_t i)
{
	void *entry = table->entries + i * table->entry_bytes;

	return *(uint64_t *)entry ? entry : NULL;
}

#endif
