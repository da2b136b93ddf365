/* Writes in place: their sectors, writing, and folding. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/update.h"

#include "lt/arena.h"
#include "map/l2p.h"
#include "request/host_data.h"
#include "request/io.h"
#include "slc_log_size.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"
#include "zone/zone.h"
#include "zone/zrwa.h"

/* Sectors written in place, and their addresses. */

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
	struct updates *updates = zone->ftl->updates;
	struct lt_lock_node node;

	lt_lock_acquire(&updates->lock, &node);
	zone->updates.to_look = zone->updates.listed;
	lt_lock_release(&updates->lock, &node);
}

/* Remaining entries go to the end of the list. */
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

void updates_end_range(struct ftl_worker *self, struct zone *zone, uint64_t lba, uint32_t count)
{
	struct updates *updates = self->ftl->updates;
	struct lt_lock_node node;

	lt_lock_acquire(&updates->lock, &node);
	for (uint32_t i = 0; i < count; i++) {
		struct update *update = update_find(updates, (uint32_t)lba + i);

		if (!update)
			continue;
		slc_invalidate(self, &update->ppa, 1);
		update->ppa = PPA_NONE; /* the collector may be moving it */
		update_unlist(updates, &zone->updates, update);
		update_free(updates, update);
		zone->updates.copies--;
	}
	lt_lock_release(&updates->lock, &node);
}

uint32_t updates_end(struct ftl *ftl, uint64_t lba, uint32_t count)
{
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->updates->lock, &node);
	while (count && updates_peek(ftl, lba + count - 1) == PPA_NONE)
		count--;
	lt_lock_release(&ftl->updates->lock, &node);
	return count;
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

/* The collector leaves equal copies, and one of them may be lost. */
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
		if (zone->state == NVME_ZS_OFFLINE || (!ftl->cfg->zrwa_count && update->lba - zone->start >= zone->wp)) {
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
	updates->budget = (uint32_t)hz_copied_sectors(ftl->cfg);
	updates->bits = 1;
	updates->free = UPDATE_NONE;
	for (uint32_t z = 0; z < ftl->all_zones; z++)
		ftl->zones[z].updates.first = ftl->zones[z].updates.last = UPDATE_NONE;
	if (!updates->budget)
		return;
	entries_make(updates, arena);
	update_folder_make(ftl, arena);
	slc_own(ftl->slc, SLC_OWNS_UPDATES,
		(struct slc_owner){ .first = slc_update_tag(0),
				    .last = slc_update_tag(updates->budget - 1),
				    .moved = update_moved,
				    .lies_at = update_lies_at });
}

/* Before the write pointer, or in the zone's window. */
static bool is_in_reach(const struct zone *zone, uint64_t at)
{
	return zone->zrwa ? at - zrwa_begin(zone) < zone->ftl->cfg->zrwa_sectors : at < zone->wp;
}

static const char *check_update(struct ftl *ftl, const struct zone *zone, const struct update *update)
{
	struct hz_oob oob;

	if (update->pending || update->ppa == PPA_NONE)
		return "a sector is being written in place though nothing runs";
	if (update->lba < zone->start || !is_in_reach(zone, update->lba - zone->start))
		return "a sector was written in place where its zone has none";
	if (*slc_tag_of(ftl, update->ppa) != update_tag(ftl->updates, update))
		return "an SLC sector does not know the LBA that was written in place there";
	if (tsu_read_now(ftl->tsu, update->ppa, 1, NULL, 0, &oob) != NAND_OK && oob.kind == HZ_OOB_ERASED)
		return NULL; /* lost: a read of it fails */
	if (oob.kind != (zone->zrwa ? HZ_OOB_WINDOW : HZ_OOB_UPDATE) || oob.lpa != update->lba || oob.generation != zone->generation ||
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

/* Folding of sectors written in place. */

void update_fold_begin(struct zone *zone)
{
	if (!zone->updates.copies || zone->zrwa)
		return;
	zone->updates.folds++;
	zone->updates.folding = lt_load(&zone->ftl->sequence);
}

void update_fold_cancel(struct zone *zone) { zone->updates.folding = 0; }

void update_fold_moved(struct ftl_worker *self, struct zone *zone)
{
	if (!zone->updates.folding)
		return;
	zone->updates.folded = zone->updates.folding;
	zone->updates.folding = 0;
	zone->updates.recording = true;
	updates_drop_begin(zone);
	zone_table_fold(self, zone);
}

/* A lost table notifies no zone: the copies stay. */
void update_fold_go_on(struct ftl_worker *self, struct zone *zone)
{
	uint32_t before = zone->updates.copies;

	if (!zone_table_settled(zone))
		return;
	zone->updates.recording = !zone_table_lost(self->ftl) && !updates_drop(self, zone, zone->updates.folded);
	self->counters.folded_updates += before - zone->updates.copies;
	self->counters.update_folds += !zone->updates.recording && !zone_table_lost(self->ftl);
	if (zone->updates.recording)
		zone_kick(self, zone);
}

void update_forget_begin(struct zone *zone)
{
	zone->updates.recording = false;
	updates_drop_begin(zone);
}

bool update_forget(struct ftl_worker *self, struct zone *zone)
{
	if (updates_drop(self, zone, UINT64_MAX))
		return true;
	zone_kick(self, zone);
	return false;
}

/* The way of a write in place. */

enum update_step { UPDATE_NEW, UPDATE_WRITES };
enum update_verdict { UPDATE_ACCEPTED, UPDATE_REFUSED, UPDATE_PARKED, UPDATE_ORDINARY };

/* --- admission --- */

static uint16_t update_status(const struct zone *zone, uint32_t end)
{
	if (zone->state == NVME_ZS_READ_ONLY)
		return NVME_ZONE_READ_ONLY;
	if (zone->state == NVME_ZS_OFFLINE)
		return NVME_ZONE_OFFLINE;
	return end <= zone->wp ? NVME_SUCCESS : NVME_ZONE_INVALID_WRITE;
}

/* Replaced sectors go to flash first: then the request is dispatched again. */
static void wait_for_base(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t end)
{
	io_of(req)->target = end;
	if (zone->flush_to < end)
		zone->flush_to = end;
	io_push(&zone->durable, req);
	zone_pump(self, zone);
}

/* Zone lock held, in turn. */
static enum update_verdict update_admitted(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	uint32_t at = (uint32_t)(req->lba - zone->start);

	if (at >= zone->wp)
		return UPDATE_ORDINARY; /* and it takes the turn along */
	zone_turn_ends(zone, req);
	*status = update_status(zone, at + req->sectors);
	if (*status)
		return UPDATE_REFUSED;
	if (zone_durable(zone) < at + req->sectors) {
		wait_for_base(self, zone, req, at + req->sectors);
		return UPDATE_PARKED;
	}
	if (!updates_promise(self->ftl, zone, req->lba, req->sectors)) {
		self->counters.in_place_refusals++;
		update_fold_some(self, zone);
		*status = NVME_HZ_IN_PLACE_BUDGET;
		return UPDATE_REFUSED;
	}
	zone->updates.writing++;
	io_of(req)->end = req->sectors;
	io_of(req)->step = UPDATE_WRITES;
	return UPDATE_ACCEPTED;
}

void updates_window(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors)
{
	struct ftl_io *io = io_of(req);

	if (!updates_promise(self->ftl, zone, req->lba + io->done, sectors))
		lt_fail("ftl: a window has more sectors than the table of copies");
	zone->updates.writing++;
	req->op = FTL_UPDATE;
	req->status = NVME_SUCCESS;
	io->end = io->done + sectors;
	io->step = UPDATE_WRITES;
}

static enum update_verdict update_try(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status)
{
	enum update_verdict verdict = UPDATE_PARKED;
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (zone_admits(zone, req))
		verdict = update_admitted(self, zone, req, status);
	lt_lock_release(&zone->lock, &node);
	return verdict;
}

/* --- programs --- */

static void piece_programmed(struct slc_write *write);

static void piece_number(struct ftl *ftl, struct update_piece *piece)
{
	uint64_t sequence = sequence_take(ftl, piece->count);

	piece->folds = piece->zone->updates.folds;
	for (uint32_t i = 0; i < piece->count; i++)
		piece->write.oob[i].sequence = sequence + i;
}

static void piece_fill(struct ftl *ftl, struct update_piece *piece, uint32_t at)
{
	const struct ftl_request *req = piece->req;
	uint8_t kind = piece->zone->zrwa ? HZ_OOB_WINDOW : HZ_OOB_UPDATE;

	clock_freeze();
	for (uint32_t i = 0; i < ftl->cfg->slc_program_sectors; i++) {
		piece->write.oob[i] = (struct hz_oob){ .kind = HZ_OOB_PAD };
		if (i >= piece->count)
			continue;
		if (req->sgl.bytes)
			sgl_read(&req->sgl, (at + i) * HZ_SECTOR_BYTES, piece->write.memory[i], HZ_SECTOR_BYTES);
		else
			memset(piece->write.memory[i], 0, HZ_SECTOR_BYTES);
		if (ftl->cfg->protection != HZ_PROTECTION_NONE)
			protect_land(req, at + i, piece->write.memory[i]);
		piece->write.oob[i] = (struct hz_oob){ .lpa = piece->lba + i, .generation = piece->zone->generation, .kind = kind };
	}
	clock_thaw();
}

/* Zone lock held. */
static void update_piece_start(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct update_piece *piece = self->updates->free;
	struct ftl_io *io = io_of(req);
	uint64_t landed_ns = 0;

	self->updates->free = piece->next;
	piece->req = req;
	piece->zone = zone;
	piece->lba = (uint32_t)req->lba + io->done;
	piece->count = min_u32(io->end - io->done, self->ftl->cfg->slc_program_sectors);
	piece_fill(self->ftl, piece, io->done);
	piece_number(self->ftl, piece);
	if (req->sgl.bytes) /* Write Zeroes, in a window, brings none */
		landed_ns = answer_crossed(&self->ftl->links->to_device, req, clock_now_ns(), piece->count);
	req->ready_ns = landed_ns > req->ready_ns ? landed_ns : req->ready_ns;
	piece->write.txn.owner = &self->thread;
	piece->write.txn.not_before_ns = landed_ns;
	piece->write.stream = SLC_STAGE;
	piece->write.cause = HZ_CAUSE_SLC;
	piece->write.done = piece_programmed;
	io->done += piece->count;
	io->pending++;
	slc_write(self, &piece->write);
}

/* The request has nothing in flight in the zone any more. Zone lock held, or no concurrent access. */
static void update_leave(struct ftl_worker *self, struct zone *zone)
{
	zone->updates.writing--;
	if (self->ftl->cfg->in_place_sectors && updates_scarce(self->ftl->updates))
		update_fold_some(self, zone);
	if (zone->op.code)
		zone_pump(self, zone);
}

static void update_end(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	update_leave(self, zone);
	lt_lock_release(&zone->lock, &node);
	if (io_of(req)->end < req->sectors && !req->status) {
		io_of(req)->step = UPDATE_NEW;
		zrwa_write_run(self, req);
		return;
	}
	self->counters.host_write_sectors += host_sectors(req, req->sectors);
	self->counters.in_place_sectors += self->ftl->cfg->in_place_sectors ? req->sectors : 0;
	io_complete(req, req->status);
}

void update_go_on(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	while (io->done < io->end && self->updates->free)
		update_piece_start(self, zone, req);
	lt_lock_release(&zone->lock, &node);
	if (io->done < io->end) {
		io->queued = 1;
		io_push(&self->updates->waiting, req);
	} else if (!io->pending) {
		update_end(self, zone, req);
	}
}

void update_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = zone_at(self->ftl, req->lba);
	enum update_verdict verdict = UPDATE_ACCEPTED;
	uint16_t status = NVME_SUCCESS;

	io_of(req)->queued = 0;
	if (io_of(req)->step == UPDATE_NEW && self->ftl->cfg->zrwa_count) {
		zrwa_write_run(self, req);
		return;
	}
	if (is_conventional(self->ftl, req->lba))
		verdict = UPDATE_ORDINARY;
	else if (io_of(req)->step == UPDATE_NEW)
		verdict = update_try(self, zone, req, &status);
	switch (verdict) {
	case UPDATE_ACCEPTED: update_go_on(self, zone, req); break;
	case UPDATE_ORDINARY: io_become(self, req, FTL_WRITE); break;
	case UPDATE_REFUSED: io_complete(req, status); break;
	default: break;
	}
}

void update_cancel(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = zone_at(self->ftl, req->lba);
	struct ftl_io *io = io_of(req);
	struct lt_lock_node node;

	io->queued = 0;
	if (io->pending)
		return; /* piece_programmed comes back */
	if (io->step == UPDATE_WRITES) {
		lt_lock_acquire(&zone->lock, &node);
		updates_unpromise(self->ftl, zone, req->lba + io->done, io->end - io->done);
		update_leave(self, zone);
		lt_lock_release(&zone->lock, &node);
	}
	io_complete(req, NVME_ABORT_REQUESTED);
}

/* False: it is programmed once more, since a fold that began meanwhile has not taken it along. Zone lock held. */
static bool piece_settle(struct ftl_worker *self, struct update_piece *piece)
{
	struct zone *zone = piece->zone;

	if (piece->write.ppa == PPA_NONE) {
		updates_unpromise(self->ftl, zone, piece->lba, piece->count);
		piece->req->status = NVME_WRITE_FAULT;
		return true;
	}
	if (piece->folds != zone->updates.folds) {
		piece_number(self->ftl, piece);
		slc_write(self, &piece->write);
		return false;
	}
	updates_put(self, zone, piece->lba, piece->count, piece->write.ppa, piece->write.oob[0].sequence);
	return true;
}

/* Its last program has ended, and nothing else will run it. */
static void update_returns(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	if (io_cancelled(self, req))
		update_cancel(self, req);
	else
		update_end(self, zone, req);
}

static void piece_programmed(struct slc_write *write)
{
	struct update_piece *piece = (struct update_piece *)((char *)write - offsetof(struct update_piece, write));
	struct ftl_worker *self = worker_of(&write->txn);
	struct ftl_request *req = piece->req, *next;
	struct lt_lock_node node;
	bool settled;

	lt_lock_acquire(&piece->zone->lock, &node);
	settled = piece_settle(self, piece);
	lt_lock_release(&piece->zone->lock, &node);
	if (!settled)
		return;
	piece->next = self->updates->free;
	self->updates->free = piece;
	if (--io_of(req)->pending == 0 && !io_of(req)->queued)
		update_returns(self, piece->zone, req);
	next = io_pop(&self->updates->waiting);
	if (next)
		io_resume(next);
}

static void piece_init(struct ftl *ftl, struct arena *arena, struct update_piece *piece)
{
	uint32_t unit = ftl->cfg->slc_program_sectors, bytes = hz_sector_memory(ftl->cfg);
	uint8_t *data = arena_alloc_data(arena, unit, bytes, "data of writes in place");

	piece->write.memory = arena_alloc(arena, unit, sizeof(uint8_t *), "writes in place");
	piece->write.oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "writes in place");
	for (uint32_t i = 0; i < unit; i++)
		piece->write.memory[i] = data + (size_t)i * bytes;
}

void update_pool_init(struct ftl_worker *worker, struct arena *arena)
{
	struct update_pool *pool = arena_alloc(arena, 1, sizeof(*pool), "writes in place");
	struct update_piece *piece;

	worker->updates = pool;
	if (!worker->ftl->updates->budget)
		return;
	piece = arena_alloc(arena, UPDATE_PIECES, sizeof(*piece), "writes in place");
	for (uint32_t i = 0; i < UPDATE_PIECES; i++) {
		piece_init(worker->ftl, arena, &piece[i]);
		piece[i].next = pool->free;
		pool->free = &piece[i];
	}
}
