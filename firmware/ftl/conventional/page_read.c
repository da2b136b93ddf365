/* Reads of the page space: map → place → backing zone, and there like any read of a zone: write buffer, SLC or normal flash.
 *
 * Between the look into the map and the backing zone's lock a place may go to another sector: collected, erased, written again. Nothing is
 * pinned against that. Under the lock the reverse map tells whether the place still holds the LBA; if not, the map is asked again,
 * and since the zone is collected once per such failure, that ends. Once flash reads are under way, the zone's reader count keeps them
 * from an erase. */
#include "base/context.h"
#include "conventional/page_space.h"
#include "zone/read.h"

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
	const uint32_t *reverse = &zone->page->lba[offset];
	uint32_t same = 0;

	if (zone->op || offset + count > (zone->failed ? zone->wp : zone->landed))
		return 0; /* what a failed zone has lost still lies there */
	while (same < count && reverse[same] == (uint32_t)lba + same)
		same++;
	return same;
}

enum verdict { GOES_ON, ASK_AGAIN, PARKED };

static enum verdict read_places(struct ftl_worker *self, struct ftl_request *req, uint32_t place, uint32_t count)
{
	struct zone *zone = page_zone_of(self->ftl, place);
	uint32_t offset = page_offset_of(self->ftl, place), same;
	enum verdict verdict = GOES_ON;
	struct tsu_txn *list = NULL;
	struct lt_lock_node node;
	bool waits, dry = false;

	lt_lock_acquire(&zone->lock, &node);
	waits = zone->old_superblock != SUPERBLOCK_NONE;
	same = waits ? 0 : still_there(zone, offset, req->lba + io_of(req)->done, count);
	if (waits) {
		io_of(req)->queued = 1;
		io_push(&zone->parked, req);
		verdict = PARKED;
	} else if (same) {
		dry = read_here(self, zone, req, offset, same, &list) != READ_THROUGH;
	} else {
		verdict = ASK_AGAIN;
	}
	lt_lock_release(&zone->lock, &node);
	if (list)
		tsu_submit_list(self->ftl->tsu, list);
	if (!dry)
		return verdict;
	read_wait(self, req);
	return PARKED;
}

bool page_read_some(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors)
{
	uint32_t place[LOOKUP_SECTORS], end = io_of(req)->done + sectors;

	while (io_of(req)->done < end) {
		uint32_t count = end - io_of(req)->done, from = io_of(req)->done, at = 0;
		enum verdict verdict = GOES_ON;

		count = l2p_page_read(self, req, req->lba + from, count < LOOKUP_SECTORS ? count : LOOKUP_SECTORS, place);
		if (!count) {
			io_of(req)->queued = 1;
			return false;
		}
		while (verdict == GOES_ON && (at = io_of(req)->done - from) < count) {
			uint32_t run = run_of(&place[at], count - at);

			if (place[at] == L2P_UNMAPPED)
				read_unmapped(self, req, run);
			else
				verdict = read_places(self, req, place[at], run);
		}
		if (verdict == PARKED)
			return false;
	}
	l2p_leave(self, req);
	return true;
}
