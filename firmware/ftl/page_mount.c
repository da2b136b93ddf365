/* Mount and whole-state check of the page space. Every sector of a backing zone names its LBA in its OOB record; of several places of an
 * LBA the one with the highest sequence number is its own, since sequence numbers are taken when the map changes. A stream goes on in
 * the zone that it was filling: the OOB records name it. */
#include "context.h"
#include "page_space.h"

/* --- mount --- */

static ppa_t address_of(const struct zone *zone, uint32_t offset)
{
	return offset < zone->placed ? ppa_make(zone->ftl->map, zone->superblock, offset) : staged_at(zone, offset);
}

static uint64_t sequence_at(struct ftl *ftl, uint32_t place)
{
	struct hz_oob oob;

	tsu_read_now(ftl->tsu, address_of(page_zone_of(ftl, place), page_offset_of(ftl, place)), 1, NULL, 0, &oob);
	return oob.sequence;
}

static void found(struct zone *zone, uint32_t offset, const struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	struct page_zone *info = zone->page;
	uint32_t present;

	if (oob->kind != HZ_OOB_DATA || oob->host_lba >= ftl->page.end)
		return;
	info->lba[offset] = oob->host_lba;
	if (lt_load(&info->filled) < oob->sequence)
		lt_store(&info->filled, oob->sequence);
	present = l2p_page_peek(ftl, oob->host_lba);
	if (present == L2P_UNMAPPED || sequence_at(ftl, present) < oob->sequence)
		l2p_page_preset(ftl, oob->host_lba, page_place(zone->page, offset));
}

/* A unit that cannot be read any more holds nothing. */
static void scan_zone(struct zone *zone, struct hz_oob *oob)
{
	struct ftl *ftl = zone->ftl;
	uint32_t part;

	for (uint32_t at = 0; at < zone->wp; at += part) {
		part = at < zone->placed ? ftl->unit_sectors : 1;
		if (part > zone->wp - at)
			part = zone->wp - at;
		tsu_read_now(ftl->tsu, address_of(zone, at), part, NULL, 0, oob);
		for (uint32_t i = 0; i < part; i++)
			found(zone, at + i, &oob[i]);
		if (!at)
			zone->stream = oob->stream;
	}
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

void page_mount(struct ftl *ftl, struct hz_oob *unit)
{
	struct page_space *page = &ftl->page;

	for (uint32_t i = 0; i < page->zones; i++)
		scan_zone(&ftl->zones[ftl->zone_count + i], unit);
	for (uint64_t lba = 0; lba < page->end; lba++) {
		uint32_t place = page_lba_exists(ftl, lba) ? l2p_page_peek(ftl, lba) : L2P_UNMAPPED;

		if (place != L2P_UNMAPPED)
			page_mark_valid(page_zone_of(ftl, place), page_offset_of(ftl, place), 1);
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

	if (zone >= ftl->zones + ftl->all_zones || offset >= zone->landed)
		return "a conventional sector is mapped to a place that holds nothing";
	if (zone->page->lba[offset] != lba)
		return "a place does not know the conventional sector that is mapped to it";
	if (!page_space_valid(ftl, place))
		return "a conventional sector is mapped to an invalid place";
	if (offset >= zone_durable(zone))
		return NULL;
	tsu_read_now(ftl->tsu, address_of(zone, offset), 1, NULL, 0, &oob);
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
	if (!error && valid != mapped + (ftl->page.zones ? l2p_page_stale(ftl) : 0))
		error = "there are more or fewer valid places than mapped conventional sectors";
	return error;
}
