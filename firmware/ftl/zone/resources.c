/* Fence, superblock and buffer of a zone that is written. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/resources.h"

#include "block/superblock.h"
#include "buffer/buffer.h"

/* Calls, here and for the fence, so that a zone that has all it needs need not save registers. */
static __attribute__((noinline)) bool ask_for_superblock(struct ftl_worker *self, struct extent *ext)
{
	uint32_t *place = extent_part(ext);
	bool hopeless;

	if (ext->for_superblock.queued)
		return false;
	*place = superblock_take(ext, &hopeless);
	ext->failed = hopeless;
	superblocks_kick(self);
	return *place != SUPERBLOCK_NONE;
}

/* The superblock, or the patch, that the next program goes to. */
static bool have_superblock(struct ftl_worker *self, struct zone *zone)
{
	return *extent_part(&zone->ext) != SUPERBLOCK_NONE || ask_for_superblock(self, &zone->ext);
}

struct zone_record zone_fenced_record(const struct zone *zone, enum zone_record_kind kind)
{
	const struct zone_record *present = &zone->ext.ftl->table->record[zone->ext.index];
	struct zone_record record = zone_table_record(zone, zone->ext.generation, kind);

	record.fence_offset = zone->record.fence ? zone->record.wp_at_mount : present->fence_offset;
	record.fence_sequence = zone->record.fence ? zone->ext.ftl->mount_sequence : present->fence_sequence;
	return record;
}

/* False: it stands once the record is durable, and the zone is kicked then. */
static __attribute__((noinline)) bool raise_fence(struct ftl_worker *self, struct zone *zone)
{
	struct zone_record record = zone_fenced_record(zone, ZONE_RECORD_OPEN);

	zone->record.fence = false;
	zone_table_commit(self, zone, &record);
	return false;
}

/* Stale staged copies beyond the write pointer must be dead for ever before new data take their place. */
static bool fence_stands(struct ftl_worker *self, struct zone *zone)
{
	if (!zone_table_settled(zone))
		return false;
	if (zone_table_lost(self->ftl)) {
		zone->ext.failed = true;
		return false;
	}
	return !zone->record.fence || raise_fence(self, zone);
}

void zone_take_grants(struct ftl_worker *self, struct zone *zone)
{
	struct extent *ext = &zone->ext;
	uint32_t superblock;

	buffer_granted(ext);
	superblock = ext->for_superblock.queued ? (uint32_t)lt_swap(&ext->for_superblock.granted, 0) : 0;
	if (!superblock)
		return;
	ext->for_superblock.queued = false;
	if (superblock == UINT32_MAX)
		ext->failed = true;
	else if (zone->move.under_way)
		relocate_zone(self, zone, superblock - 1);
	else
		*extent_part(ext) = superblock - 1;
}

/* A backing zone asks for the buffer first, so that those of one write frontier get it in the order in which they were filled. */
bool zone_can_land(struct ftl_worker *self, struct zone *zone)
{
	if (extent_is_backing(&zone->ext))
		return buffer_take(self, &zone->ext) && fence_stands(self, zone) && have_superblock(self, zone);
	return fence_stands(self, zone) && have_superblock(self, zone) && buffer_take(self, &zone->ext);
}
