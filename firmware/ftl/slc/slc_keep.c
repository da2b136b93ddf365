/* Places for what is kept when power goes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "slc/slc_keep.h"

#include "tsu/tsu_keep.h"

bool slc_keeps(const struct ftl *ftl) { return lt_load(&ftl->slc->keeps); }

void slc_keep_begin(struct ftl *ftl)
{
	struct slc *slc = ftl->slc;
	struct lt_lock_node node;

	lt_lock_acquire(&slc->lock, &node);
	for (uint32_t i = 0; i < slc->blocks; i++)
		if (slc->block[i].state == SLC_FREE)
			slc->kept.block[slc->kept.blocks++] = i;
	lt_lock_release(&slc->lock, &node);
}

static uint32_t die_of_column(const struct ftl *ftl, uint32_t column) { return ftl->map->column[column].die_index; }

/* Of columns with places left, the one whose die is free first. */
static uint32_t column_free_first(const struct ftl *ftl)
{
	const struct slc *slc = ftl->slc;
	uint32_t best = slc->planes;
	uint64_t best_ns = UINT64_MAX;

	for (uint32_t c = 0; c < slc->planes; c++) {
		uint64_t ready_ns = tsu_keep_ready_ns(ftl->tsu, die_of_column(ftl, c));

		if (slc->kept.column[c].index < slc->kept.blocks && ready_ns < best_ns) {
			best = c;
			best_ns = ready_ns;
		}
	}
	return best;
}

ppa_t slc_keep_place(struct ftl *ftl)
{
	struct slc *slc = ftl->slc;
	uint32_t number = column_free_first(ftl);
	struct slc_kept_column *column = &slc->kept.column[number];
	ppa_t ppa;

	if (number == slc->planes)
		return PPA_NONE;
	ppa = ppa_make(ftl->map, slc->kept.block[column->index], (column->row * slc->planes + number) * slc->unit_sectors);
	if (++column->row == slc->rows) {
		column->row = 0;
		column->index++;
	}
	return ppa;
}

void slc_keep_failed(struct ftl *ftl, ppa_t ppa)
{
	struct slc *slc = ftl->slc;
	struct slc_kept_column *column = &slc->kept.column[ppa_offset(ftl->map, ppa) / slc->unit_sectors % slc->planes];

	if (column->row == 0) /* it was the block's last row */
		return;
	column->row = 0;
	column->index++;
}
