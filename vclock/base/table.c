/* Table from tag to entry. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_SLOTS = 1024, LARGE_PAGE = 2 << 20 /* huge page of x86 and ARM hosts with 4 KiB pages */ };

/* A large table is touched all over and soon: huge pages save the host most of the page faults. */
static void *map_large(size_t bytes)
{
	unsigned char *memory = mmap(NULL, bytes + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before = -(uintptr_t)memory & (LARGE_PAGE - 1);

	if (memory == MAP_FAILED)
		return NULL;
	if (before)
		munmap(memory, before);
	munmap(memory + before + bytes, LARGE_PAGE - before);
	madvise(memory + before, bytes, MADV_HUGEPAGE);
	return memory + before;
}

/* Bytes of all slots, rounded up to huge pages if larger than one. */
static size_t bytes_of(const struct vc_table *table)
{
	size_t bytes = table->slots * table->entry_bytes;

	return bytes <= LARGE_PAGE ? bytes : (bytes + LARGE_PAGE - 1) & -(size_t)LARGE_PAGE;
}

static void make_slots(struct vc_table *table)
{
	size_t bytes = bytes_of(table);

	table->entries = bytes > LARGE_PAGE ? map_large(bytes) : calloc(1, bytes);
	if (!table->entries)
		abort();
}

void vc_table_drop(struct vc_table *table)
{
	if (bytes_of(table) > LARGE_PAGE)
		munmap(table->entries, bytes_of(table));
	else
		free(table->entries);
	*table = (struct vc_table){ .entry_bytes = table->entry_bytes };
}

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
	make_slots(&bigger);
	for (uint64_t i = 0; i < table->slots; i++) {
		uint64_t *entry = vc_table_entry(table, i);

		if (entry)
			memcpy(slot_of(&bigger, *entry), entry, table->entry_bytes);
	}
	vc_table_drop(table);
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
