/* Table from address to vector clock: open addressing, doubled when half full. */
#include "vector.h"

#include <stdlib.h>

struct entry {
	uint64_t tag; /* address >> 3, plus 1 */
	struct vc_vector clock;
};

static struct entry *table;
static uint64_t slots, used;

static struct entry *slot_of(struct entry *in, uint64_t size, uint64_t tag)
{
	uint64_t i = (tag * 0x9e3779b97f4a7c15ull) >> 20 & (size - 1);

	while (in[i].tag && in[i].tag != tag)
		i = (i + 1) & (size - 1);
	return &in[i];
}

static void grow(void)
{
	uint64_t size = slots ? slots * 2 : 1024;
	struct entry *bigger = calloc(size, sizeof(*bigger));

	if (!bigger)
		abort();
	for (uint64_t i = 0; i < slots; i++)
		if (table[i].tag)
			*slot_of(bigger, size, table[i].tag) = table[i];
	free(table);
	table = bigger;
	slots = size;
}

struct vc_vector *vc_vector_of(uint64_t address)
{
	uint64_t tag = (address >> 3) + 1;
	struct entry *entry;

	if (used * 2 >= slots)
		grow();
	entry = slot_of(table, slots, tag);
	if (!entry->tag) {
		entry->tag = tag;
		used++;
	}
	return &entry->clock;
}
