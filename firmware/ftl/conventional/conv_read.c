/* Reads of conventional zones: map → place → backing zone, and there like any read of a zone: write buffer, SLC or normal flash.
 *
 * Between the look into the map and the backing zone's lock a place may go to another sector: collected, erased, written again. Nothing is
 * pinned against that. Under the lock the reverse map tells whether the place still holds the LBA; if not, the map is asked again,
 * and since the zone is collected once per such failure, that ends. Once flash reads are under way, the zone's reader count keeps them
 * from an erase. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conv_read.h"

#include "l2p/l2p.h"
#include "places/places.h"
#include "zone/read.h"
#include "zone/zone.h"

enum { LOOKUP_SECTORS = 32 };

/* Places from the front that follow one another. */
static uint32_t run_of(const uint32_t *place, uint32_t count)
{
	uint32_t run = 1;

	while (run < count && place[run] == (place[0] == L2P_UNMAPPED ? L2P_UNMAPPED : place[0] + run))
		run++;
	return run;
}

/* Sectors from the front that still lie at the places; zone lock held. */
static uint32_t still_there(const struct zone *zone, uint32_t offset, uint64_t lba, uint32_t count)
{
	const uint32_t *reverse = &zone->ext.places->lba[offset];
	uint32_t same = 0;

	if (zone->op.code || offset + count > (zone->ext.failed ? zone->ext.wp : zone->ext.landed))
		return 0; /* what a failed zone has lost still lies there */
	while (same < count && reverse[same] == (uint32_t)lba + same)
		same++;
	return same;
}

enum conv_verdict { CONV_GOES_ON, CONV_ASK_AGAIN, CONV_PARKED };

static enum conv_verdict read_places(struct ftl_worker *self, struct ftl_request *req, uint32_t place, uint32_t count)
{
	struct zone *zone = zone_of(place_extent(self->ftl, place));
	uint32_t offset = place_offset(self->ftl, place), same;
	enum conv_verdict verdict = CONV_GOES_ON;
	struct tsu_txn *list = NULL;
	struct lt_lock_node node;
	bool waits, dry = false;

	count = min_u32(count, zone->ext.capacity - offset); /* by number, the next zone's first place may follow its last */
	lt_lock_acquire(&zone->ext.lock, &node);
	waits = zone->move.old != SUPERBLOCK_NONE;
	same = waits ? 0 : still_there(zone, offset, req->lba + io_of(req)->done, count);
	if (waits) {
		io_of(req)->queued = 1;
		io_wait(&zone->parked_reads, req, HZ_LOGICAL_ZONE, zone->ext.index);
		verdict = CONV_PARKED;
	} else if (same) {
		lt_tell_had(HZ_LOGICAL_ZONE);
		dry = read_here(self, zone, req, offset, same, &list) != READ_THROUGH;
	} else {
		verdict = CONV_ASK_AGAIN;
	}
	lt_lock_release(&zone->ext.lock, &node);
	if (list)
		tsu_submit_list(self->ftl->tsu, list);
	if (!dry)
		return verdict;
	read_wait(self, req);
	return CONV_PARKED;
}

static bool read_mapped(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors)
{
	uint32_t place[LOOKUP_SECTORS], end = io_of(req)->done + sectors;

	while (io_of(req)->done < end) {
		uint32_t count = end - io_of(req)->done, from = io_of(req)->done, at = 0;
		enum conv_verdict verdict = CONV_GOES_ON;

		count = l2p_conv_read(self, req, req->lba + from, count < LOOKUP_SECTORS ? count : LOOKUP_SECTORS, place);
		if (!count) {
			io_of(req)->queued = 1;
			return false;
		}
		while (verdict == CONV_GOES_ON && (at = io_of(req)->done - from) < count) {
			uint32_t run = run_of(&place[at], count - at);

			if (place[at] == L2P_UNMAPPED)
				read_unmapped(self, req, run);
			else
				verdict = read_places(self, req, place[at], run);
		}
		if (verdict == CONV_PARKED)
			return false;
	}
	l2p_leave(self, req);
	return true;
}

bool conv_read(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors)
{
	uint64_t lba = req->lba + io_of(req)->done, offset = lba - extent_at(self->ftl, lba)->start;
	uint32_t capacity = self->ftl->capacity;

	if (offset < capacity)
		return read_mapped(self, req, sectors < capacity - offset ? sectors : (uint32_t)(capacity - offset));
	read_unmapped(self, req, sectors);
	return true;
}
