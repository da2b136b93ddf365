/* Places for the power-loss dump. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "slc/slc.h"
#include "tsu/tsu_dump.h"
#include "tsu/tsu_mount.h"

bool slc_takes_dump(const struct ftl *ftl) { return lt_load(&ftl->slc->takes_dump); }

void slc_dump_begin(struct ftl *ftl)
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

/* Among columns with places left, the one with the first free die. */
static uint32_t column_free_first(const struct ftl *ftl)
{
	const struct slc *slc = ftl->slc;
	uint32_t best = slc->planes;
	uint64_t best_ns = UINT64_MAX;

	for (uint32_t c = 0; c < slc->planes; c++) {
		uint64_t ready_ns = tsu_dump_ready_ns(ftl->tsu, die_of_column(ftl, c));

		if (slc->kept.column[c].index < slc->kept.blocks && ready_ns < best_ns) {
			best = c;
			best_ns = ready_ns;
		}
	}
	return best;
}

ppa_t slc_dump_place(struct ftl *ftl)
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

/* --- a start after a kill: one hart, nothing of the log runs yet --- */

static bool slc_blank(struct ftl *ftl, uint32_t block)
{
	bool blank = true;

	for (uint32_t c = 0; c < ftl->slc->planes; c++)
		blank = blank && tsu_block_now(ftl->tsu, slc_sector_at(ftl, block, c, 0))->write_sector == 0;
	return blank;
}

static bool slc_sane(struct ftl *ftl, uint32_t block)
{
	uint32_t flags = 0;

	for (uint32_t c = 0; c < ftl->slc->planes; c++)
		flags |= tsu_block_now(ftl->tsu, slc_sector_at(ftl, block, c, 0))->flags;
	return !flags;
}

static const struct hz_nand_block *kept_block(struct ftl *ftl, uint32_t number)
{
	return tsu_block_now(ftl->tsu, slc_sector_at(ftl, ftl->slc->kept.block[ftl->slc->kept.column[number].index], number, 0));
}

/* The column's next row in its block; a block with a torn program is not resumed (mount.c, close_torn). */
static uint32_t belated_row(struct ftl *ftl, uint32_t number)
{
	const struct hz_nand_block *block = kept_block(ftl, number);

	return block->ended < block->write_sector ? ftl->slc->rows : block->write_sector / ftl->slc->unit_sectors;
}

/* The column skips blocks that are full, or have failed. */
static void belated_step(struct ftl *ftl, uint32_t number)
{
	struct slc *slc = ftl->slc;
	struct slc_kept_column *column = &slc->kept.column[number];

	while (column->index < slc->kept.blocks && (column->row == slc->rows || kept_block(ftl, number)->flags))
		column->row = ++column->index < slc->kept.blocks ? belated_row(ftl, number) : 0;
}

void slc_belated_begin(struct ftl *ftl)
{
	struct slc_kept *kept = &ftl->slc->kept;

	for (unsigned blank = 0; blank < 2; blank++)
		for (uint32_t b = 0; b < ftl->slc->blocks; b++)
			if (slc_sane(ftl, b) && slc_blank(ftl, b) == blank)
				kept->block[kept->blocks++] = b;
	for (uint32_t c = 0; c < ftl->slc->planes && kept->blocks; c++)
		kept->column[c].row = belated_row(ftl, c);
}

ppa_t slc_belated_place(struct ftl *ftl)
{
	struct slc *slc = ftl->slc;
	struct slc_kept_column *best = NULL;
	uint32_t number = 0;

	for (uint32_t c = 0; c < slc->planes; c++) {
		struct slc_kept_column *column = &slc->kept.column[c];

		belated_step(ftl, c);
		if (column->index == slc->kept.blocks || (best && (column->index > best->index || column->row >= best->row)))
			continue;
		best = column;
		number = c;
	}
	return best ? slc_sector_at(ftl, slc->kept.block[best->index], number, best->row++ * slc->unit_sectors) : PPA_NONE;
}

void slc_belated_end(struct ftl *ftl)
{
	struct slc_kept *kept = &ftl->slc->kept;

	kept->blocks = 0;
	memset(kept->column, 0, ftl->slc->planes * sizeof(*kept->column));
}

void slc_dump_failed(struct ftl *ftl, ppa_t ppa)
{
	struct slc *slc = ftl->slc;
	struct slc_kept_column *column = &slc->kept.column[ppa_offset(ftl->map, ppa) / slc->unit_sectors % slc->planes];

	if (column->row == 0) /* it was the block's last row */
		return;
	column->row = 0;
	column->index++;
}
