/* The walk over the SLC log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount_visit.h"

#include "mount/mount_blocks.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

/* A page of a plane's block: sectors [first, end) of it are programmed. */
struct slc_page {
	uint32_t block, column, first, end;
};

static void read_page(struct mount *mount, ppa_t ppa, uint32_t sectors)
{
	if (mount->whole)
		tsu_read_now(mount->ftl->tsu, ppa, sectors, NULL, 0, mount->oob);
	else
		tsu_records_now(mount->ftl->tsu, ppa, sectors, true, mount->oob);
}

/* True: it is to be visited again. */
static bool visit_page(struct mount *mount, const struct slc_page *page, mount_visit_fn *visit)
{
	bool again = false;

	read_page(mount, slc_sector_at(mount->ftl, page->block, page->column, page->first), page->end - page->first);
	for (uint32_t s = page->first; s < page->end; s++)
		again |= visit(mount, &mount->oob[s - page->first], slc_sector_at(mount->ftl, page->block, page->column, s));
	return again;
}

/* True: some of its pages are to be visited again. */
static bool visit_block(struct mount *mount, uint32_t block, mount_visit_fn *visit, bool marked)
{
	const struct ftl *ftl = mount->ftl;
	const struct slc *slc = ftl->slc;
	uint32_t pages = ftl->shape.slc_pages_per_block;
	bool again = false;

	mount_look_at_blocks(mount, block, slc->unit_sectors);
	for (uint32_t p = 0; mount->used && p < pages; p++)
		for (uint32_t c = 0; c < slc->planes; c++) {
			uint32_t first = p * ftl->page_sectors,
				 end = min_u32(first + ftl->page_sectors, mount->rows[c] * slc->unit_sectors);
			size_t number = ((size_t)block * slc->planes + c) * pages + p;
			struct slc_page page = { block, c, first, end };

			if (first < end && (!marked || mount->again[number]))
				again |= mount->again[number] = visit_page(mount, &page, visit);
		}
	return again;
}

static bool visit_blocks(struct mount *mount, mount_visit_fn *visit, bool marked)
{
	bool again = false;

	for (uint32_t b = 0; b < mount->ftl->slc->blocks; b++)
		again |= visit_block(mount, b, visit, marked);
	return again;
}

void mount_visit_slc(struct mount *mount, mount_visit_fn *visit) { visit_blocks(mount, visit, false); }

bool mount_visit_again(struct mount *mount, mount_visit_fn *visit) { return visit_blocks(mount, visit, true); }
