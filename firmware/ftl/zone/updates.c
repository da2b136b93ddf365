/* Which sectors have been written in place, and where they lie. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/updates.h"

#include "l2p/l2p.h"
#include "lt/arena.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"
#include "zone/zone.h"

enum { DROP_PIECE = 64 };

/* --- entries; lock held --- */

static uint32_t *update_bucket(struct updates *updates, uint32_t lba)
{
	return &updates->bucket[(lba * 2654435769u) >> (32 - updates->bits)];
}

static struct update *update_find(struct updates *updates, uint32_t lba)
{
	uint32_t index = *update_bucket(updates, lba);

	while (index != UPDATE_NONE && updates->update[index].lba != lba)
		index = updates->update[index].chain;
	return index == UPDATE_NONE ? NULL : &updates->update[index];
}

static void update_list(struct updates *updates, struct zone_updates *of_zone, struct update *update)
{
	uint32_t index = (uint32_t)(update - updates->update);

	update->before = of_zone->last;
	update->after = UPDATE_NONE;
	if (of_zone->last == UPDATE_NONE)
		of_zone->first = index;
	else
		updates->update[of_zone->last].after = index;
	of_zone->last = index;
	of_zone->listed++;
}

static void update_unlist(struct updates *updates, struct zone_updates *of_zone, const struct update *update)
{
	if (update->before == UPDATE_NONE)
		of_zone->first = update->after;
	else
		updates->update[update->before].after = update->after;
	if (update->after == UPDATE_NONE)
		of_zone->last = update->before;
	else
		updates->update[update->after].before = update->before;
	of_zone->listed--;
}

/* NULL: the budget is used up. */
static struct update *update_make(struct updates *updates, struct zone_updates *of_zone, uint32_t lba)
{
	uint32_t index = updates->free, *bucket = update_bucket(updates, lba);
	struct update *update = &updates->update[index];

	if (index == UPDATE_NONE)
		return NULL;
	updates->free = update->chain;
	*update = (struct update){ .lba = lba, .chain = *bucket, .ppa = PPA_NONE };
	*bucket = index;
	update_list(updates, of_zone, update);
	lt_add(&updates->used, 1);
	return update;
}

/* It has no copy, and none is promised. Not in its zone's list any more. */
static void update_free(struct updates *updates, struct update *update)
{
	uint32_t index = (uint32_t)(update - updates->update), *link = update_bucket(updates, update->lba);

	while (*link != index)
		link = &updates->update[*link].chain;
	*link = update->chain;
	update->chain = updates->free;
	updates->free = index;
	lt_add(&updates->used, (uint64_t)-1);
}

static void update_unpromise(struct updates *updates, struct zone_updates *of_zone, struct update *update)
{
	if (--update->pending || update->ppa != PPA_NONE)
		return;
	update_unlist(updates, of_zone, update);
	update_free(updates, update);
}

static uint32_t update_tag(const struct updates *updates, const struct update *update)
{
	return slc_update_tag((uint32_t)(update - updates->update));
}

/* --- operations --- */

bool updates_promise(struct ftl *ftl, struct zone *zone, uint64_t lba, uint32_t count)
{
	struct updates *updates = ftl->updates;
	struct lt_lock_node node;
	uint32_t i;

	lt_lock_acquire(&updates->lock, &node);
	for (i = 0; i < count; i++) {
		struct update *update = update_find(updates, (uint32_t)lba + i);

		if (!update)
			update = update_make(updates, &zone->updates, (uint32_t)lba + i);
		if (!update)
			break;
		update->pending++;
	}
	for (uint32_t back = 0; i < count && back < i; back++)
		update_unpromise(updates, &zone->updates, update_find(updates, (uint32_t)lba + back));
	lt_lock_release(&updates->lock, &node);
	return i == count;
}

void updates_unpromise(struct ftl *ftl, struct zone *zone, uint64_t lba, uint32_t count)
{
	struct updates *updates = ftl->updates;
	struct lt_lock_node node;

	lt_lock_acquire(&updates->lock, &node);
	for (uint32_t i = 0; i < count; i++)
		update_unpromise(updates, &zone->updates, update_find(updates, (uint32_t)lba + i));
	lt_lock_release(&updates->lock, &node);
}

void updates_put(struct ftl_worker *self, struct zone *zone, uint64_t lba, uint32_t count, ppa_t ppa, uint64_t sequence)
{
	struct ftl *ftl = self->ftl;
	struct updates *updates = ftl->updates;
	struct lt_lock_node node;

	lt_lock_acquire(&updates->lock, &node);
	for (uint32_t i = 0; i < count; i++) {
		struct update *update = update_find(updates, (uint32_t)lba + i);
		ppa_t old = update->ppa;

		update->pending--;
		if (old != PPA_NONE && update->sequence > sequence + i)
			continue;
		update->ppa = ppa + i;
		update->sequence = sequence + i;
		slc_validate(ftl, ppa + i, 1, update_tag(updates, update));
		if (old != PPA_NONE)
			slc_invalidate(self, &old, 1);
		zone->updates.copies += old == PPA_NONE;
	}
	lt_lock_release(&updates->lock, &node);
}

void updates_drop_begin(struct zone *zone)
{
	struct updates *updates = zone->ext.ftl->updates;
	struct lt_lock_node node;

	lt_lock_acquire(&updates->lock, &node);
	zone->updates.to_look = zone->updates.listed;
	lt_lock_release(&updates->lock, &node);
}

/* What stays goes to the end of the list. */
bool updates_drop(struct ftl_worker *self, struct zone *zone, uint64_t before)
{
	struct updates *updates = self->ftl->updates;
	struct zone_updates *own = &zone->updates;
	ppa_t dead[DROP_PIECE];
	struct lt_lock_node node;
	uint32_t count = 0;

	if (!own->to_look)
		return true;
	lt_lock_acquire(&updates->lock, &node);
	for (uint32_t i = 0; i < DROP_PIECE && own->to_look && own->first != UPDATE_NONE; i++, own->to_look--) {
		struct update *update = &updates->update[own->first];

		update_unlist(updates, own, update);
		if (update->ppa != PPA_NONE && update->sequence < before) {
			dead[count++] = update->ppa;
			update->ppa = PPA_NONE;
		}
		if (update->pending || update->ppa != PPA_NONE)
			update_list(updates, own, update);
		else
			update_free(updates, update);
	}
	if (own->first == UPDATE_NONE)
		own->to_look = 0;
	if (count)
		slc_invalidate(self, dead, count);
	lt_lock_release(&updates->lock, &node);
	own->copies -= count;
	return !own->to_look;
}

uint32_t updates_gap(struct ftl *ftl, uint64_t lba, uint32_t count)
{
	struct updates *updates = ftl->updates;
	struct lt_lock_node node;
	uint32_t gap;

	lt_lock_acquire(&updates->lock, &node);
	for (gap = 0; gap < count; gap++) {
		const struct update *update = update_find(updates, (uint32_t)lba + gap);

		if (update && update->ppa != PPA_NONE)
			break;
	}
	lt_lock_release(&updates->lock, &node);
	return gap;
}

uint32_t updates_pin(struct ftl *ftl, uint64_t lba, uint32_t count, ppa_t *ppa)
{
	struct updates *updates = ftl->updates;
	struct lt_lock_node node;
	uint32_t found;

	lt_lock_acquire(&updates->lock, &node);
	for (found = 0; found < count; found++) {
		const struct update *update = update_find(updates, (uint32_t)lba + found);

		if (!update || update->ppa == PPA_NONE)
			break;
		ppa[found] = update->ppa;
		slc_pin(ftl, update->ppa);
	}
	lt_lock_release(&updates->lock, &node);
	return found;
}

ppa_t updates_peek(struct ftl *ftl, uint64_t lba)
{
	const struct update *update = ftl->updates->budget ? update_find(ftl->updates, (uint32_t)lba) : NULL;

	return update ? update->ppa : PPA_NONE;
}

/* --- owner of its sectors --- */

static struct update *update_of_tag(struct ftl *ftl, uint32_t tag) { return &ftl->updates->update[tag - slc_update_tag(0)]; }

static bool update_lies_at(struct ftl *ftl, uint32_t tag, ppa_t ppa) { return update_of_tag(ftl, tag)->ppa == ppa; }

static void update_moved(struct ftl_worker *self, uint32_t tag, ppa_t from, ppa_t to)
{
	struct ftl *ftl = self->ftl;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->updates->lock, &node);
	if (update_lies_at(ftl, tag, from)) {
		update_of_tag(ftl, tag)->ppa = to;
		slc_move(ftl, from, to);
	}
	lt_lock_release(&ftl->updates->lock, &node);
}

/* --- mount --- */

/* The collector leaves equal copies, of which one may be lost. */
static bool update_is_better(struct ftl *ftl, const struct update *update, const struct hz_oob *oob)
{
	struct hz_oob present;

	if (update->ppa == PPA_NONE || update->sequence < oob->sequence)
		return true;
	if (update->sequence > oob->sequence)
		return false;
	tsu_read_now(ftl->tsu, update->ppa, 1, NULL, 0, &present);
	return present.flags & HZ_OOB_LOST;
}

bool updates_found(struct ftl *ftl, struct zone *zone, const struct hz_oob *oob, ppa_t ppa)
{
	struct update *update = ftl->updates->budget ? update_find(ftl->updates, oob->lpa) : NULL;

	if (!update && ftl->updates->budget)
		update = update_make(ftl->updates, &zone->updates, oob->lpa);
	if (!update)
		return false;
	if (update_is_better(ftl, update, oob)) {
		update->ppa = ppa;
		update->sequence = oob->sequence;
	}
	return true;
}

static void zone_updates_mounted(struct ftl *ftl, struct zone *zone)
{
	struct updates *updates = ftl->updates;
	struct zone_updates *own = &zone->updates;

	for (uint32_t i = own->first, after; i != UPDATE_NONE; i = after) {
		struct update *update = &updates->update[i];

		after = update->after;
		if (zone->state == NVME_ZS_OFFLINE || update->lba - zone->ext.start >= zone->ext.wp) {
			update_unlist(updates, own, update);
			update_free(updates, update);
			continue;
		}
		slc_validate(ftl, update->ppa, 1, update_tag(updates, update));
		own->copies++;
	}
}

void updates_mounted(struct ftl *ftl)
{
	for (uint32_t z = 0; z < ftl->zone_count; z++)
		zone_updates_mounted(ftl, &ftl->zones[z]);
}

/* --- construction and check --- */

static void entries_make(struct updates *updates, struct arena *arena)
{
	while (1u << updates->bits < updates->budget)
		updates->bits++;
	updates->bucket = arena_alloc(arena, 1u << updates->bits, sizeof(*updates->bucket), "sectors written in place");
	memset(updates->bucket, 0xff, sizeof(*updates->bucket) << updates->bits);
	updates->update = arena_alloc(arena, updates->budget, sizeof(*updates->update), "sectors written in place");
	for (uint32_t i = updates->budget; i-- > 0;) {
		updates->update[i].chain = updates->free;
		updates->free = i;
	}
}

void updates_init(struct ftl *ftl, struct arena *arena)
{
	struct updates *updates = arena_alloc(arena, 1, sizeof(*updates), "sectors written in place");

	ftl->updates = updates;
	lt_lock_init(&updates->lock, HZ_LC_L2P, ftl->l2p->shards + 3);
	updates->budget = (uint32_t)ftl->cfg->in_place_sectors;
	updates->bits = 1;
	updates->free = UPDATE_NONE;
	for (uint32_t z = 0; z < ftl->all_zones; z++)
		ftl->zones[z].updates.first = ftl->zones[z].updates.last = UPDATE_NONE;
	if (!updates->budget)
		return;
	entries_make(updates, arena);
	slc_own(ftl->slc, SLC_OWNS_UPDATES,
		(struct slc_owner){ .first = slc_update_tag(0),
				    .last = slc_update_tag(updates->budget - 1),
				    .moved = update_moved,
				    .lies_at = update_lies_at });
}

static const char *check_update(struct ftl *ftl, const struct zone *zone, const struct update *update)
{
	struct hz_oob oob;

	if (update->pending || update->ppa == PPA_NONE)
		return "a sector is being written in place though nothing runs";
	if (update->lba < zone->ext.start || update->lba - zone->ext.start >= zone->ext.wp)
		return "a sector was written in place where its zone has none";
	if (*slc_tag_of(ftl, update->ppa) != update_tag(ftl->updates, update))
		return "an SLC sector does not know the LBA that was written in place there";
	if (tsu_read_now(ftl->tsu, update->ppa, 1, NULL, 0, &oob) != NAND_OK && oob.kind == HZ_OOB_ERASED)
		return NULL; /* lost, which who reads it is told */
	if (oob.kind != HZ_OOB_UPDATE || oob.lpa != update->lba || oob.generation != zone->ext.generation ||
	    oob.sequence != update->sequence)
		return "the OOB record of a sector written in place names another one";
	return update_find(ftl->updates, update->lba) == update ? NULL : "a sector was written in place and cannot be found";
}

static const char *check_zone_updates(struct ftl *ftl, const struct zone *zone, uint64_t *used)
{
	uint32_t listed = 0;

	for (uint32_t i = zone->updates.first; i != UPDATE_NONE; i = ftl->updates->update[i].after, listed++) {
		const char *error = check_update(ftl, zone, &ftl->updates->update[i]);

		if (error)
			return error;
	}
	*used += listed;
	if (zone->updates.writing || zone->updates.recording || zone->updates.folding)
		return "a zone folds what was written in place though nothing runs";
	return listed == zone->updates.listed && listed == zone->updates.copies ? NULL
										: "a zone's count of sectors written in place is wrong";
}

const char *updates_check(struct ftl *ftl)
{
	const char *error = NULL;
	uint64_t used = 0;

	for (uint32_t z = 0; !error && z < ftl->zone_count; z++)
		error = check_zone_updates(ftl, &ftl->zones[z], &used);
	if (error)
		return error;
	return used == lt_load(&ftl->updates->used) ? NULL : "the budget of sectors written in place is wrong";
}
