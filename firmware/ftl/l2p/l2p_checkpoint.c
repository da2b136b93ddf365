/* Checkpoints of the map of conventional zones: writing and believing them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_checkpoint.h"

#include "l2p/l2p.h"
#include "tsu/tsu_mount.h"

static uint32_t conventional_map_pages(const struct ftl *ftl) { return ftl->shape.conventional_zones << ftl->l2p->table.zone_shift; }

void l2p_checkpoint_pass(struct ftl *ftl) { ftl->l2p->log.checkpoints.before = lt_load(&ftl->sequence); }

/* How a checkpoint knows a page's copy by its sequence number. */
enum { HAS_COPY = 1 << MAP_VERSION_BITS };
static uint32_t record_of(uint64_t sequence) { return HAS_COPY | (uint32_t)(sequence & (HAS_COPY - 1)); }

static bool stands_for_none(const struct l2p_table *table, uint32_t page)
{
	return (page & ((1u << table->zone_shift) - 1)) >= table->per_zone;
}

/* Of the pages from `first` on: those of one zone, a piece at a time. Returns how many. */
static uint32_t record_some(struct ftl *ftl, uint32_t first, uint32_t most, uint32_t *copy)
{
	enum { PIECE = 64 };
	const struct l2p_table *table = &ftl->l2p->table;
	uint32_t zone_end = ((first >> table->zone_shift) + 1) << table->zone_shift,
		 count = min_u32(min_u32(most, PIECE), zone_end - first);
	struct lt_lock *lock = map_page_lock(ftl, first);
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	for (uint32_t i = 0; i < count; i++) {
		bool has_copy = !stands_for_none(table, first + i) && map_page_state(table, first + i)->ppa != MAP_NO_COPY;

		copy[i] = has_copy ? record_of(map_page_version(table, first + i)) : 0;
	}
	lt_lock_release(lock, &node);
	return count;
}

/* Only the log's job writes copies, so they stay what they are. */
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
	memset(checkpoint->copy, 0, sizeof(checkpoint->copy));
	for (uint32_t i = 0; i < HZ_CHECKPOINT_PAGES && first + i < end;)
		i += record_some(ftl, first + i, min_u32(end - first, HZ_CHECKPOINT_PAGES) - i, &checkpoint->copy[i]);
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
static bool as_new(const struct l2p_table *table, uint32_t page, uint32_t recorded, uint64_t recorded_at)
{
	uint64_t sequence;

	if (stands_for_none(table, page) || map_page_state(table, page)->ppa == MAP_NO_COPY)
		return !recorded;
	sequence = *map_page_number(table, page);
	return sequence > recorded_at || record_of(sequence) == recorded;
}

uint64_t l2p_checkpoint_before(struct ftl *ftl, uint8_t *image)
{
	const struct l2p_table *table = &ftl->l2p->table;
	const struct l2p_checkpoint *checkpoint = (const struct l2p_checkpoint *)image;
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };
	uint64_t before = UINT64_MAX;

	for (uint32_t c = 0; c < ftl->shape.map_checkpoints; c++) {
		const struct map_page *copy = map_page_state(table, table->pages + c);
		uint64_t recorded_at = *map_page_number(table, table->pages + c);
		uint32_t first = c * HZ_CHECKPOINT_PAGES, end = conventional_map_pages(ftl);

		if (copy->ppa == MAP_NO_COPY || tsu_read_now(ftl->tsu, copy->ppa, 1, &data, 0, NULL) != NAND_OK)
			return 0;
		for (uint32_t i = 0; i < HZ_CHECKPOINT_PAGES && first + i < end; i++)
			if (!as_new(table, first + i, checkpoint->copy[i], recorded_at))
				return 0;
		before = checkpoint->before < before ? checkpoint->before : before;
	}
	return before == UINT64_MAX ? 0 : before;
}
