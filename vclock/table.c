/* Table from tag to entry. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

static uint64_t *slot_of(const struct vc_table *table, uint64_t tag)
{
	uint64_t i = (tag * 0x9e3779b97f4a7c15ull) >> 20;

	for (;; i++) {
		uint64_t *entry = (uint64_t *)(table->entries + (i & (table->slots - 1)) * table->entry_bytes);

		if (!*entry || *entry == tag)
			return entry;
	}
}

static void grow(struct vc_table *table)
{
	struct vc_table bigger = *table;

	bigger.slots = table->slots ? table->slots * 2 : FIRST_SLOTS;
	bigger.entries = calloc(bigger.slots, bigger.entry_bytes);
	if (!bigger.entries)
		abort();
	for (uint64_t i = 0; i < table->slots; i++) {
		uint64_t *entry = vc_table_entry(table, i);

		if (entry)
			memcpy(slot_of(&bigger, *entry), entry, table->entry_bytes);
	}
	free(table->entries);
	*table = bigger;
}

void *vc_table_at(struct vc_table *table, uint64_t tag)
{
	uint64_t *entry;

	if (table->used * 2 >= table->slots)
		grow(table);
	entry = slot_of(table, tag);
	if (!*entry) {
		*entry = tag;
		table->used++;
	}
	return entry;
}

void *vc_table_find(const struct vc_table *table, uint64_t tag)
{
	uint64_t *entry = table->slots ? slot_of(table, tag) : NULL;

	return entry && *entry ? entry : NULL;
}
