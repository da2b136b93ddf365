/* Shadow pages: a table from guest page to its cells. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "shadow.h"

#include <stdlib.h>

#include "table.h"

enum { PAGE_SHIFT = 12, CELLS_PER_PAGE = (1 << PAGE_SHIFT) / 8 * VC_SHADOW_CELLS };

struct page {
	uint64_t tag; /* guest page number plus 1 */
	struct vc_cell *cells;
};

static struct vc_table pages = { .entry_bytes = sizeof(struct page) };

struct vc_cell *vc_shadow_of(uint64_t address)
{
	struct page *page = vc_table_at(&pages, (address >> PAGE_SHIFT) + 1);

	if (!page->cells) {
		page->cells = calloc(CELLS_PER_PAGE, sizeof(*page->cells));
		if (!page->cells)
			abort();
	}
	return &page->cells[(address >> 3 & ((1 << PAGE_SHIFT) / 8 - 1)) * VC_SHADOW_CELLS];
}
