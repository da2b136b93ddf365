/* The map as a table of zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_zone.h"

#include "lt/arena.h"

static struct zone_place *zone_entry(struct ftl *ftl, const struct extent *ext) { return &ftl->l2p->zone[ext->index]; }

static void zone_map_init(struct ftl *ftl, struct arena *arena)
{
	ftl->l2p->zone = arena_alloc(arena, ftl->zone_count, sizeof(*ftl->l2p->zone), "zone mapping table");
	for (uint32_t z = 0; z < ftl->zone_count; z++)
		ftl->l2p->zone[z].start = PPA_NONE;
	zone_log_init(ftl, arena);
}

static uint32_t zone_read(struct ftl_worker *self, struct ftl_request *req, const struct extent *ext, uint32_t offset, uint32_t count,
			  ppa_t *ppa)
{
	ppa_t first = zone_entry(self->ftl, ext)->start + offset;

	(void)req;
	for (uint32_t i = 0; i < count; i++)
		ppa[i] = first + i;
	return count;
}

/* Mount wants to know where zones begin, and when they are complete. */
static void zone_map_run(struct ftl_worker *self, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa, bool staged)
{
	struct zone_place place = { .start = ppa - offset, .length = offset + count };

	if (staged)
		zone_staged_placed(self->ftl, ext, place.length);
	zone_log_note(self, ext, place, offset == 0 || place.length == ext->capacity);
}

/* Row by row, of a zone that moves: it stays where it is until the last one. */
static void zone_remap_run(struct ftl_worker *self, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa)
{
	(void)self;
	(void)ext;
	(void)offset;
	(void)count;
	(void)ppa;
}

static void zone_moved(struct ftl_worker *self, const struct extent *ext)
{
	zone_log_note(self, ext, (struct zone_place){ .start = extent_place(ext, 0), .length = ext->placed }, true);
}

static void zone_unmap(struct ftl_worker *self, const struct extent *ext, uint32_t count)
{
	(void)count;
	zone_staged_give(self->ftl, ext);
	zone_log_note(self, ext, (struct zone_place){ .start = PPA_NONE }, true);
}

static bool zone_room(struct ftl_worker *self, struct extent *ext)
{
	(void)self;
	(void)ext;
	return true;
}

static bool zone_settled(struct ftl_worker *self, struct ftl_request *req)
{
	(void)self;
	(void)req;
	return true;
}

static void zone_mounted(struct ftl *ftl, const struct extent *ext)
{
	*zone_entry(ftl, ext) = (struct zone_place){ .start = ext->placed ? extent_place(ext, 0) : PPA_NONE, .length = ext->placed };
}

static const char *zone_map_check(struct ftl *ftl, const struct extent *ext)
{
	const struct zone_place *place = ext ? zone_entry(ftl, ext) : NULL;

	if (!ext)
		return NULL;
	if (place->length != ext->placed)
		return "the zone mapping table knows another number of sectors at their place";
	if (place->start != (ext->placed ? extent_place(ext, 0) : PPA_NONE))
		return "a zone is not where the zone mapping table says";
	return NULL;
}

/* Functions of conventional zones are missing: there are none. Those of staged sectors are l2p_zone_staged.c's. */
const struct l2p_ops l2p_zone = {
	.init = zone_map_init,
	.read = zone_read,
	.map_run = zone_map_run,
	.remap_run = zone_remap_run,
	.moved = zone_moved,
	.unmap = zone_unmap,
	.room = zone_room,
	.settled = zone_settled,
	.found = zone_log_found,
	.replay = zone_log_replay,
	.knows = zone_log_knows,
	.mounted = zone_mounted,
	.check = zone_map_check,
};
