/* For tests in C++, which cannot read the firmware's own headers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "inside.h"

#include "block/superblock.h"
#include "buffer/staged.h"
#include "buffer/superpage.h"
#include "conventional/conv_space.h"
#include "l2p/l2p.h"
#include "places/places.h"
#include "tsu/tsu_keep.h"
#include "tsu/tsu_state.h"

uint32_t rig_place_of(struct ftl *ftl, uint32_t number, uint32_t offset) { return extent_where(ftl->extent[number], offset); }

uint8_t *rig_buffered(struct ftl *ftl, uint32_t number, uint32_t offset)
{
	const struct extent *ext = ftl->extent[number];

	return ext->buffer->memory[extent_slot(ext, offset)];
}

void rig_merge_map(struct ftl *ftl) { l2p_log_flush(&ftl->workers[0]); }

void rig_waste_runs(struct ftl *ftl)
{
	for (uint32_t w = 0; w < ftl->l2p->runs.words; w++)
		lt_store(&ftl->l2p->runs.taken[w], UINT64_MAX);
}

void rig_plant(struct ftl *ftl, enum rig_fault fault, uint32_t number)
{
	switch (fault) {
	case RIG_SHARED_SUPERBLOCK: ftl->extent[number]->superblock = ftl->extent[number - 1]->superblock; break;
	case RIG_NO_SUPERBLOCK: ftl->extent[number]->superblock = SUPERBLOCK_NONE; break;
	case RIG_STREAM: lt_store(&ftl->conventional->backing[number].stream, STREAM_HOT); break;
	}
}

uint32_t rig_map_line(struct ftl *ftl) { return l2p_cache_line(&ftl->l2p->cache); }

struct lt_lock *rig_map_lock(struct ftl *ftl, uint64_t lba) { return l2p_lock_of(ftl, extent_at(ftl, lba)); }

struct lt_lock *rig_zone_lock(struct ftl *ftl, uint32_t zone) { return &ftl->extent[zone]->lock; }

void rig_lose_power(struct tsu *tsu)
{
	tsu_keep(tsu, clock_now_ns());
	tsu->nand->ops->power_off(tsu->nand);
}

uint64_t rig_backing_resets(struct ftl *ftl) { return lt_load(&ftl->places->resets); }

uint32_t rig_conventional_place(struct ftl *ftl, uint64_t lba) { return l2p_conv_peek(ftl, lba); }
