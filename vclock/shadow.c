/* Shadow pages: a table from guest page to its cells. */
#include "shadow.h"

#include <stdlib.h>

enum { PAGE_SHIFT = 12, CELLS_PER_PAGE = (1 << PAGE_SHIFT) / 8 * VC_SHADOW_CELLS };

struct page {
	uint64_t tag; /* guest page number plus 1 */
	struct vc_cell *cells;
};

static struct page *table;
static uint64_t slots, used;

static struct page *slot_of(struct page *in, uint64_t size, uint64_t tag)
{
	uint64_t i = (tag * 0x9e3779b97f4a7c15ull) >> 20 & (size - 1);

	while (in[i].tag && in[i].tag != tag)
		i = (i + 1) & (size - 1);
	return &in[i];
}

static void grow(void)
{
	uint64_t size = slots ? slots * 2 : 1024;
	struct page *bigger = calloc(size, sizeof(*bigger));

	if (!bigger)
		abort();
	for (uint64_t i = 0; i < slots; i++)
		if (table[i].tag)
			*slot_of(bigger, size, table[i].tag) = table[i];
	free(table);
	table = bigger;
	slots = size;
}

struct vc_cell *vc_shadow_of(uint64_t address)
{
	uint64_t tag = (address >> PAGE_SHIFT) + 1;
	struct page *page;

	if (used * 2 >= slots)
		grow();
	page = slot_of(table, slots, tag);
	if (!page->tag) {
		page->tag = tag;
		page->cells = calloc(CELLS_PER_PAGE, sizeof(*page->cells));
		if (!page->cells)
			abort();
		used++;
	}
	return &page->cells[(address >> 3 & ((1 << PAGE_SHIFT) / 8 - 1)) * VC_SHADOW_CELLS];
}
