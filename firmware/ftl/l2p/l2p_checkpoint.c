/* Checkpoints of the map of conventional zones: writing and believing them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_checkpoint.h"

#include "l2p/l2p.h"
#include "tsu/tsu_mount.h"

static uint32_t conventional_map_pages(const struct ftl *ftl) { return ftl->shape.conventional_zones << ftl->l2p->table.zone_shift; }

void l2p_checkpoint_pass(struct ftl *ftl) { ftl->l2p->log.checkpoints.before = lt_load(&ftl->sequence); }

/* Only the log's job writes copies, so it may read their numbers. */
uint32_t l2p_checkpoint_next(struct ftl *ftl, uint8_t *image)
{
	struct l2p_checkpoints *checkpoints = &ftl->l2p->log.checkpoints;
	struct l2p_checkpoint *checkpoint = (struct l2p_checkpoint *)image;
	uint32_t count = ftl->shape.map_checkpoints, first, end = conventional_map_pages(ftl);

	if (checkpoints->next == count) {
		if (!count || checkpoints->unrecorded < L2P_CHECKPOINT_EVERY * count)
			return UINT32_MAX;
		checkpoints->next = checkpoints->unrecorded = 0;
	}
	first = checkpoints->next * HZ_CHECKPOINT_PAGES;
	checkpoint->before = checkpoints->before;
	for (uint32_t i = 0; i < HZ_CHECKPOINT_PAGES; i++)
		checkpoint->sequence[i] = first + i < end ? (uint32_t)ftl->l2p->table.page[first + i].sequence : 0;
	return ftl->l2p->table.pages + checkpoints->next++;
}

void l2p_checkpoint_now(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;

	if (!ftl->shape.map_checkpoints)
		return;
	ftl->l2p->log.checkpoints.unrecorded = L2P_CHECKPOINT_EVERY * ftl->shape.map_checkpoints;
	l2p_log_flush(self);
}

/* A copy is either the one that the checkpoint knew, or younger than the checkpoint. If it is neither, that one cannot be found any more. */
static bool as_new(const struct map_page *page, uint32_t recorded, uint64_t recorded_at)
{
	uint64_t sequence = page->ppa == PPA_NONE ? 0 : page->sequence;

	return sequence > recorded_at || (uint32_t)sequence == recorded;
}

uint64_t l2p_checkpoint_before(struct ftl *ftl, uint8_t *image)
{
	const struct l2p_table *table = &ftl->l2p->table;
	const struct l2p_checkpoint *checkpoint = (const struct l2p_checkpoint *)image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };
	uint64_t before = UINT64_MAX;

	for (uint32_t c = 0; c < ftl->shape.map_checkpoints; c++) {
		const struct map_page *copy = &table->page[table->pages + c];
		uint32_t first = c * HZ_CHECKPOINT_PAGES, end = conventional_map_pages(ftl);

		if (copy->ppa == PPA_NONE || tsu_read_now(ftl->tsu, copy->ppa, 1, &data, 0, NULL) != NAND_OK)
			return 0;
		for (uint32_t i = 0; i < HZ_CHECKPOINT_PAGES && first + i < end; i++)
			if (!as_new(&table->page[first + i], checkpoint->sequence[i], copy->sequence))
				return 0;
		before = checkpoint->before < before ? checkpoint->before : before;
	}
	return before == UINT64_MAX ? 0 : before;
}
