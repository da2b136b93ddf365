/* Mount and whole-state check of the page space. Every sector of a backing zone names its LBA in its OOB record; of several places of an
 * LBA the one with the highest sequence number is its own, since sequence numbers are taken when the map changes. Where the map is in
 * flash, only the sectors are looked at that its copies may not know (l2p_checkpoint.h). A stream goes on in the zone that it was
 * filling: the OOB records name it. */
#include "base/context.h"
#include "conventional/page_space.h"

/* --- mount --- */

/* False: a sector is lost; its record may be known or, if not, is of kind ERASED. */
static bool read_records(const struct zone *zone, uint32_t offset, uint32_t count, struct hz_oob *oob)
{
	ppa_t ppa = zone_where(zone, offset);

	if (ppa != PPA_NONE)
		return tsu_read_now(zone->ftl->tsu, ppa, count, NULL, 0, oob) == NAND_OK;
	oob->kind = HZ_OOB_ERASED;
	return false;
}

/* Does anything lie there? What a table page names may have been erased since. */
static struct zone *zone_of_place(struct ftl *ftl, uint32_t place)
{
	struct zone *zone = page_zone_of(ftl, place);

	return zone < ftl->zones + ftl->all_zones && page_offset_of(ftl, place) < zone->wp ? zone : NULL;
}

/* Is what lies there a sector of the same LBA, and newer? What the scan does not get to is older; what it has not got to yet will be
 * compared then. */
static bool newer_at(struct ftl *ftl, uint32_t place, const struct hz_oob *oob)
{
	const struct zone *zone = zone_of_place(ftl, place);
	struct hz_oob other;

	if (!zone || page_offset_of(ftl, place) < zone->page->scanned || page_offset_of(ftl, place) >= zone->landed)
		return false;
	read_records(zone, page_offset_of(ftl, place), 1, &other);
	return other.kind == HZ_OOB_DATA && other.host_lba == oob->host_lba && other.sequence > oob->sequence;
}

static void found(struct zone *zone, uint32_t offset, const struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	uint32_t present, place = page_place(zone->page, offset);

	if (oob->host_lba >= ftl->page.end)
		return;
	present = l2p_page_peek(ftl, oob->host_lba);
	if (present != place && (present == L2P_UNMAPPED || !newer_at(ftl, present, oob)))
		l2p_page_preset(ftl, oob->host_lba, place);
}

/* The start of what one read brings that ends at `end`: a program unit, or a staged sector. */
static uint32_t piece_start(const struct zone *zone, uint32_t end)
{
	uint32_t part = end > zone->placed ? 1 : end % zone->ftl->unit_sectors;

	return end - (part ? part : zone->ftl->unit_sectors);
}

/* A sector with a record. False: it is older than `since`. */
static bool see(struct zone *zone, uint64_t since, uint32_t offset, const struct hz_oob *oob)
{
	if (lt_load(&zone->page->filled) < oob->sequence)
		lt_store(&zone->page->filled, oob->sequence);
	zone->stream = oob->stream;
	if (oob->sequence < since)
		return false;
	found(zone, offset, oob);
	return true;
}

/* From the end of the zone down to the first sector with a number below `since`: numbers ascend. False: a record is lost, and `since`
 * is no help: the sector may be newer, unless it is said to be complete. With `since` 0 nobody knows any more what it was. */
static bool scan_zone(struct zone *zone, uint64_t since, bool complete, struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	uint64_t lost = zone->wp - zone->landed;
	bool more = true;

	for (uint32_t end = zone->landed, at; more && end; end = at) {
		at = piece_start(zone, end);
		zone->page->scanned = at;
		read_records(zone, at, end - at, oob);
		for (uint32_t i = end - at; i--;)
			if (oob[i].kind == HZ_OOB_DATA)
				more = see(zone, since, at + i, &oob[i]);
			else
				lost++;
	}
	if (!since)
		ftl->damage.unknown_sectors += lost;
	return !lost || !since || complete;
}

/* What the map says becomes valid. False: it cannot be, a place holds nothing or is named twice. */
static bool settle_places(struct ftl *ftl)
{
	for (uint64_t lba = 0; lba < ftl->page.end; lba++) {
		uint32_t place = page_lba_exists(ftl, lba) ? l2p_page_peek(ftl, lba) : L2P_UNMAPPED;
		struct zone *zone;

		if (place == L2P_UNMAPPED)
			continue;
		zone = zone_of_place(ftl, place);
		if (!zone || page_space_valid(ftl, place))
			return false;
		page_mark_valid(zone, page_offset_of(ftl, place), 1);
		zone->page->lba[page_offset_of(ftl, place)] = (uint32_t)lba;
	}
	return true;
}

static bool scan(struct ftl *ftl, uint64_t since, bool complete, struct hz_oob *unit)
{
	for (uint32_t i = 0; i < ftl->page.zones; i++)
		ftl->page.zone[i].scanned = ftl->page.capacity;
	for (uint32_t i = 0; i < ftl->page.zones; i++)
		if (!scan_zone(&ftl->zones[ftl->zone_count + i], since, complete, unit))
			return false;
	return settle_places(ftl);
}

static void forget_all(struct ftl *ftl)
{
	for (uint64_t lba = 0; lba < ftl->page.end; lba++)
		if (page_lba_exists(ftl, lba))
			l2p_page_preset(ftl, lba, L2P_UNMAPPED);
	for (uint32_t i = 0; i < ftl->page.zones; i++)
		page_forget(ftl, &ftl->page.zone[i]);
}

/* A stream that the configuration no longer has leaves its zone as it is. */
static bool goes_on(const struct page_space *page, const struct zone *zone)
{
	if (zone->state != NVME_ZS_CLOSED || zone->stream >= PAGE_STREAMS || lt_load(&page->current[zone->stream]))
		return false;
	return zone->stream != PAGE_HOT || zone->ftl->cfg->conventional_streams > 1;
}

static void sort_zone(struct page_space *page, struct zone *zone, uint32_t number)
{
	struct page_zone *info = &page->zone[number];

	lt_store(&info->reset_sequence, zone->ftl->table.record[zone->index].reset_sequence);
	lt_store(&info->durable, zone->wp);
	if (zone->state == NVME_ZS_EMPTY) {
		page_list_erased(page, number);
	} else if (zone->state == NVME_ZS_READ_ONLY || zone->state == NVME_ZS_OFFLINE) {
		lt_store(&info->state, PAGE_LOST);
	} else if (goes_on(page, zone)) {
		lt_store(&info->state, PAGE_OPEN);
		lt_store(&info->stream, zone->stream);
		lt_store(&page->current[zone->stream], number + 1);
	} else {
		lt_store(&info->state, PAGE_SEALED);
		if (zone->superblock != SUPERBLOCK_NONE)
			lt_store(&info->erases, superblock_erases(zone->ftl, zone->superblock));
	}
}

void page_mount(struct ftl *ftl, struct hz_oob *unit, uint64_t since, bool complete)
{
	struct page_space *page = &ftl->page;

	if (!since || !scan(ftl, since, complete, unit)) {
		if (since)
			forget_all(ftl);
		scan(ftl, 0, false, unit);
	}
	for (uint32_t i = 0; i < page->zones; i++)
		sort_zone(page, &ftl->zones[ftl->zone_count + i], i);
}

/* --- check --- */

static const char *check_place(struct ftl *ftl, uint64_t lba, uint32_t place)
{
	const struct zone *zone = page_zone_of(ftl, place);
	uint32_t offset = page_offset_of(ftl, place);
	struct hz_oob oob;

	if (zone >= ftl->zones + ftl->all_zones || offset >= (zone->failed ? zone->wp : zone->landed))
		return "a conventional sector is mapped to a place that holds nothing";
	if (zone->page->lba[offset] != lba)
		return "a place does not know the conventional sector that is mapped to it";
	if (!page_space_valid(ftl, place))
		return "a conventional sector is mapped to an invalid place";
	if (offset >= zone_durable(zone))
		return NULL;
	if (!read_records(zone, offset, 1, &oob) && oob.kind == HZ_OOB_ERASED)
		return NULL; /* lost */
	if (oob.kind != HZ_OOB_DATA || oob.lpa != zone->start + offset || oob.host_lba != lba)
		return "the OOB record of a conventional sector names another LBA";
	return NULL;
}

static const char *check_zone(struct ftl *ftl, uint32_t number, uint64_t *valid)
{
	const struct zone *zone = &ftl->zones[ftl->zone_count + number];
	const struct page_zone *info = &ftl->page.zone[number];
	uint64_t state = lt_load(&info->state), bits = 0;

	for (uint32_t o = 0; o < ftl->page.capacity; o++)
		bits += page_space_valid(ftl, page_place(zone->page, o));
	*valid += bits;
	if (bits != lt_load(&info->valid))
		return "a backing zone's count of valid sectors is wrong";
	if ((state == PAGE_ERASED) != (zone->state == NVME_ZS_EMPTY) && state != PAGE_OPEN)
		return "an erased backing zone is not EMPTY, or an EMPTY one not in the list";
	if (state == PAGE_ERASED && (bits || lt_load(&info->stream) != PAGE_NO_STREAM))
		return "an erased backing zone holds valid sectors or belongs to a stream";
	if (state == PAGE_SEALED && (zone->buffer || zone_durable(zone) != zone->landed))
		return "a sealed backing zone is not durable";
	return state == PAGE_COLLECTING ? "a backing zone is being collected though nothing runs" : NULL;
}

static const char *check_lists(struct ftl *ftl)
{
	const struct page_space *page = &ftl->page;
	uint32_t erased = 0;

	for (uint32_t i = 0; i < page->zones; i++)
		erased += lt_load(&page->zone[i].state) == PAGE_ERASED;
	if (erased != lt_load(&page->free))
		return "the list of erased backing zones is wrong";
	if (page->waiting.head)
		return "a write waits for an erased backing zone though nothing runs";
	return lt_load(&page->gc.busy) ? "the page collector is busy though nothing runs" : NULL;
}

/* Is no durable sector that is dead newer than what the map names? That is what a scan of everything would find. */
static const char *check_newest(struct ftl *ftl, const struct zone *zone)
{
	for (uint32_t o = 0; o < zone_durable(zone); o++) {
		struct hz_oob oob, other;
		uint32_t place;

		if (page_space_valid(ftl, page_place(zone->page, o)))
			continue; /* named by the map, or about to be found obsolete */
		read_records(zone, o, 1, &oob);
		if (oob.kind != HZ_OOB_DATA || oob.host_lba >= ftl->page.end)
			continue;
		place = l2p_page_peek(ftl, oob.host_lba);
		if (place == L2P_UNMAPPED)
			return "a conventional sector is on flash but not mapped";
		if (page_offset_of(ftl, place) >= zone_durable(page_zone_of(ftl, place)))
			continue;
		read_records(page_zone_of(ftl, place), page_offset_of(ftl, place), 1, &other);
		if (other.kind == HZ_OOB_DATA && (other.host_lba != oob.host_lba || other.sequence < oob.sequence))
			return "a conventional sector is mapped to a place that is not the newest";
	}
	return NULL;
}

/* Every mapped LBA has a valid place that names it, and there are as many valid places as mapped LBAs: no two share one. */
const char *page_check(struct ftl *ftl)
{
	const char *error = ftl->page.zones ? check_lists(ftl) : NULL;
	uint64_t mapped = 0, valid = 0;

	for (uint64_t lba = 0; !error && lba < ftl->page.end; lba++) {
		uint32_t place = page_lba_exists(ftl, lba) ? l2p_page_peek(ftl, lba) : L2P_UNMAPPED;

		if (place == L2P_UNMAPPED)
			continue;
		mapped++;
		error = check_place(ftl, lba, place);
	}
	for (uint32_t i = 0; !error && i < ftl->page.zones; i++)
		error = check_zone(ftl, i, &valid);
	for (uint32_t i = 0; !error && i < ftl->page.zones; i++)
		error = check_newest(ftl, &ftl->zones[ftl->zone_count + i]);
	if (!error && valid != mapped + (ftl->page.zones ? l2p_page_stale(ftl) : 0))
		error = "there are more or fewer valid places than mapped conventional sectors";
	return error;
}
