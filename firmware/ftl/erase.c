/* Erasing of user data: FTL_ERASE, step by step. A step looks again after a while until it has been done. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/superblock.h"
#include "conventional/conventional.h"
#include "ftl_internal.h"
#include "map/l2p.h"
#include "slc/slc.h"
#include "tsu/tsu_image.h"
#include "zone/tables.h"
#include "zone/zone.h"

/* Of a step. */
enum erase_verdict { ERASE_NEXT, ERASE_LATER, ERASE_RUNS /* it comes back by itself */, ERASE_FAILED };

static void erase_look(struct lt_timer *timer)
{
	struct clean_mark *mark = (struct clean_mark *)timer;

	erase_run(io_of(mark->req)->worker, mark->req);
}

/* --- zones that no reset can empty --- */

static bool is_dead(const struct zone *zone)
{
	return zone->state == NVME_ZS_OFFLINE || (zone_is_backing(zone) && (zone->state == NVME_ZS_READ_ONLY || zone_failed(zone)));
}

/* Its data are dead at the next mount, too, once this record is on flash. */
static void forget(struct ftl_worker *self, struct zone *zone)
{
	struct zone_record record;

	l2p_unmap(self, zone, zone->landed);
	zone_dump_is_placed(zone);
	zone->generation++;
	zone->wp = zone->landed = zone->placed = zone->staged = zone->staged_from = zone->resident = 0;
	zone->landed_slot = zone->flush_to = zone->program_to = zone->guarded = 0;
	if (zone_is_backing(zone))
		lt_store(&zone->places->reset_sequence, lt_load(&self->ftl->sequence) - 1);
	record = zone_table_record(zone, zone->generation, zone_is_backing(zone) ? ZONE_RECORD_READ_ONLY : ZONE_RECORD_OFFLINE);
	record.superblock = record.patch = SUPERBLOCK_NONE;
	zone->record.fence = false;
	zone_table_commit(self, zone, &record);
}

static void give_up(struct ftl_worker *self, uint32_t *place, bool *bad)
{
	uint32_t superblock = *place;

	*place = SUPERBLOCK_NONE;
	if (superblock != SUPERBLOCK_NONE && *bad)
		superblock_retire(self, superblock);
	else if (superblock != SUPERBLOCK_NONE)
		superblock_release(self, superblock, NULL);
	*bad = false;
}

/* False: something of it is under way, or its record is. Zone lock held. */
static bool bury(struct ftl_worker *self, struct zone *zone)
{
	bool empty = zone->superblock == SUPERBLOCK_NONE && zone->patch == SUPERBLOCK_NONE && !zone->landed;

	if (!is_dead(zone) || (empty && zone_table_settled(zone)))
		return true;
	if (zone->buffer || !zone_quiet(zone) || zone->move.old != SUPERBLOCK_NONE || !readers_gone(zone))
		return false;
	if (zone->wp || zone->landed)
		forget(self, zone);
	if (!zone_table_settled(zone))
		return false;
	if (zone_table_lost(self->ftl))
		return true; /* the next step fails */
	give_up(self, &zone->superblock, &zone->bad_superblock);
	give_up(self, &zone->patch, &zone->bad_patch);
	return true;
}

static enum erase_verdict bury_zones(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;
	bool all = true;

	(void)req;
	for (uint32_t z = ftl->shape.conventional_zones; z < ftl->all_zones; z++) {
		struct lt_lock_node node;

		lt_lock_acquire(&ftl->zones[z].lock, &node);
		all &= bury(self, &ftl->zones[z]);
		lt_lock_release(&ftl->zones[z].lock, &node);
	}
	if (zone_table_lost(ftl))
		return ERASE_FAILED;
	return all ? ERASE_NEXT : ERASE_LATER;
}

/* A map in flash counts dead sectors of backing zones when its log ends in its tables. */
static enum erase_verdict begin_map(struct ftl_worker *self, struct ftl_request *req)
{
	(void)req;
	if (!ftl_is_quiet(self->ftl))
		return ERASE_LATER;
	l2p_checkpoint_now(self);
	return ERASE_NEXT;
}

static enum erase_verdict await_quiet(struct ftl_worker *self, struct ftl_request *req)
{
	(void)req;
	return ftl_is_quiet(self->ftl) ? ERASE_NEXT : ERASE_LATER;
}

static enum erase_verdict reset_backing(struct ftl_worker *self, struct ftl_request *req)
{
	return conv_purge(self, &io_of(req)->cursor) ? ERASE_NEXT : ERASE_LATER;
}

/* --- the SLC log --- */

/* Staged copies of zones that went OFFLINE are still valid there. Superblocks opened from now on have tables only. */
static enum erase_verdict begin_log(struct ftl_worker *self, struct ftl_request *req)
{
	ppa_t at = 0;

	while (slc_sweep(self, 0, HZ_MAX_LBAS - 1, &at))
		;
	io_of(req)->epoch = sequence_take(self->ftl, 1);
	return ERASE_NEXT;
}

static enum erase_verdict collect_log(struct ftl_worker *self, struct ftl_request *req)
{
	switch (slc_purge(self, io_of(req)->epoch)) {
	case SLC_PURGED: return ERASE_NEXT;
	case SLC_PURGE_FAILED: return ERASE_FAILED;
	default: return ERASE_LATER;
	}
}

/* --- retired superblocks --- */

static bool is_in_log(const struct ftl *ftl, uint32_t number) { return number < ftl->slc->blocks; }

/* Not in use: is it retired? Tables are in the log only. */
static enum erase_verdict look_at_superblock(struct ftl *ftl, uint32_t number, bool *retired)
{
	struct lt_lock_node node;
	uint8_t state;

	if (is_in_log(ftl, number)) {
		lt_lock_acquire(&ftl->slc->lock, &node);
		*retired = ftl->slc->block[number].state == SLC_BAD;
		lt_lock_release(&ftl->slc->lock, &node);
		return ERASE_NEXT;
	}
	state = superblock_state(ftl, number);
	*retired = state == SB_BAD;
	if (state == SB_USED)
		return ERASE_FAILED;
	return state == SB_FREE || state == SB_BAD ? ERASE_NEXT : ERASE_LATER;
}

static void block_erased(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);

	if (txn->status != NAND_POWER_OFF)
		erase_run(self, self->ftl->clean_mark->req);
}

/* The next good block of it with data. False: there is none. */
static bool erase_retired(struct ftl_worker *self, struct ftl_request *req, uint32_t number)
{
	struct ftl *ftl = self->ftl;
	uint32_t unit = number < ftl->shape.slc_superblocks ? ftl->cfg->slc_program_sectors : ftl->unit_sectors;

	for (uint32_t *plane = &io_of(req)->done; *plane < flash_blocks_of(ftl->map, number); ++*plane) {
		ppa_t ppa = flash_block_of(ftl->map, number, *plane, unit);

		if (!tsu_holds_data(ftl->tsu, ppa))
			continue;
		ftl->clean_mark->erase = (struct tsu_txn){
			.owner = &self->thread, .done = block_erased, .op = TSU_ERASE, .cause = HZ_CAUSE_HOST, .ppa = ppa
		};
		tsu_submit(ftl->tsu, &ftl->clean_mark->erase);
		return true;
	}
	return false;
}

static enum erase_verdict erase_superblocks(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;
	struct ftl_io *io = io_of(req);

	superblocks_kick(self); /* a mount leaves its dirty ones for the next one that wants them */
	for (; io->cursor < ftl->shape.slc_superblocks + ftl->shape.normal_superblocks; io->cursor++, io->done = 0) {
		bool retired;
		enum erase_verdict verdict = look_at_superblock(ftl, io->cursor, &retired);

		if (verdict != ERASE_NEXT)
			return verdict;
		if (retired && erase_retired(self, req, io->cursor))
			return ERASE_RUNS;
	}
	return ERASE_NEXT;
}

/* --- step by step --- */

typedef enum erase_verdict erase_step_fn(struct ftl_worker *self, struct ftl_request *req);
static erase_step_fn *const steps[] = { begin_map,   await_quiet, bury_zones,  reset_backing,    bury_zones,
					await_quiet, begin_log,   collect_log, erase_superblocks };

void erase_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);
	enum erase_verdict verdict = ERASE_NEXT;

	self->ftl->clean_mark->req = req;
	while (io->step < sizeof(steps) / sizeof(steps[0]) && (verdict = steps[io->step](self, req)) == ERASE_NEXT) {
		io->step++;
		io->cursor = io->done = 0;
	}
	if (verdict == ERASE_LATER)
		lt_timer_arm(&self->ftl->clean_mark->timer, clock_now_ns() + ftl_look_ns(self->ftl), erase_look);
	else if (verdict != ERASE_RUNS)
		io_complete(req, verdict == ERASE_FAILED ? NVME_WRITE_FAULT : NVME_SUCCESS);
}
