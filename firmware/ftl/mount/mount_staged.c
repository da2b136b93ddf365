/* Mount: staged sectors, and with them the write pointer and state of each zone. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount_internal.h"

#include "buffer/buffer.h"
#include "buffer/staged.h"
#include "map/l2p.h"
#include "lt/arena.h"
#include "slc/slc.h"
#include "tsu/tsu_dump.h"
#include "tsu/tsu_mount.h"
#include "zone/zone.h"
#include "zone/zrwa.h"

/* --- copies in SLC --- */

static bool fenced(const struct zone_record *record, uint32_t offset, uint64_t sequence)
{
	return offset >= record->fence_offset && sequence <= record->fence_sequence;
}

/* True if this copy is better than the one at `present`. The collector leaves equal copies, and one of them may be lost. */
static bool better(struct mount *mount, const struct hz_oob *oob, ppa_t present)
{
	struct hz_oob other;

	if (present == PPA_NONE)
		return true;
	tsu_read_now(mount->ftl->tsu, present, 1, NULL, 0, &other);
	if (other.sequence == oob->sequence)
		return other.flags & HZ_OOB_LOST;
	return other.sequence < oob->sequence;
}

/* Written in place: folded copies, and copies of an earlier generation, are dead. */
static void note_update(struct mount *mount, const struct hz_oob *oob, ppa_t ppa)
{
	struct ftl *ftl = mount->ftl;
	struct zone *zone;

	if (oob->lpa >= ftl->shape.namespace_sectors || is_conventional(ftl, oob->lpa))
		return;
	zone = zone_at(ftl, oob->lpa);
	if (mount_alive(mount, zone, oob) && oob->sequence >= ftl->table->record[zone->index].folded)
		mount->too_many_updates |= !updates_found(ftl, zone, oob, ppa);
}

/* True: there is no list for its zone now. */
static bool note_staged(struct mount *mount, const struct hz_oob *oob, ppa_t ppa)
{
	struct ftl *ftl = mount->ftl;
	struct zone *zone = zone_at(ftl, oob->lpa);
	uint32_t offset = (uint32_t)(oob->lpa - zone->start), index = zone->index;
	const struct zone_record *record = &ftl->table->record[index];
	ppa_t *present;

	if (mount->settled[index] || !mount_alive(mount, zone, oob) || offset < zone->placed || mount->padded[index] ||
	    offset >= zone->capacity || record->state == ZONE_RECORD_FINISHED || fenced(record, offset, oob->sequence))
		return false;
	if (mount->beyond[index] <= offset)
		mount->beyond[index] = offset + 1;
	if (offset - zone->placed >= ftl->ring_sectors || (mount->clean && offset >= record->wp))
		return false;
	if (!staged_list(&mount->lists, zone))
		return true;
	present = staged_candidate(zone, offset);
	if (better(mount, oob, *present))
		*present = ppa;
	return false;
}

static bool visit_staged(struct mount *mount, const struct hz_oob *oob, ppa_t ppa)
{
	bool later = oob->kind == HZ_OOB_DATA && mount_in_zones(mount->ftl, oob->lpa) && note_staged(mount, oob, ppa);

	if (oob->kind == HZ_OOB_UPDATE && !mount->revisits)
		note_update(mount, oob, ppa);
	mount->unlisted |= later;
	return later || oob->kind == HZ_OOB_WINDOW;
}

/* Of a zone's random write area, when write pointers are known: older copies have been committed. */
static bool visit_window(struct mount *mount, const struct hz_oob *oob, ppa_t ppa)
{
	struct ftl *ftl = mount->ftl;
	struct zone *zone;

	if (oob->kind != HZ_OOB_WINDOW || oob->lpa >= ftl->shape.namespace_sectors || is_conventional(ftl, oob->lpa))
		return false;
	zone = zone_at(ftl, oob->lpa);
	if (mount_alive(mount, zone, oob) && zone->state != NVME_ZS_FULL && zone->state != NVME_ZS_OFFLINE &&
	    oob->lpa - zone->start >= zone->wp)
		mount->no_windows |= !ftl->cfg->zrwa_count || !updates_found(ftl, zone, oob, ppa);
	return false;
}

/* --- data kept by capacitors in a killed run --- */

static void list_kept(struct mount *mount, struct nand *media, uint32_t place)
{
	struct hz_oob oob;

	mount->kept_next[place] = KEPT_NONE;
	if (!media->ops->kept(media, place, &oob) || !mount_in_zones(mount->ftl, oob.lpa))
		return;
	if (mount_alive(mount, zone_at(mount->ftl, oob.lpa), &oob)) {
		uint32_t *first = &mount->kept_first[zone_at(mount->ftl, oob.lpa)->index];

		mount->kept_next[place] = *first;
		*first = place;
	}
}

/* True for zones with data that can be continued. */
static bool goes_on(const struct mount *mount, const struct zone *zone)
{
	return mount->kept_first[zone->index] != KEPT_NONE && !mount->padded[zone->index] &&
	       mount->ftl->table->record[zone->index].state == ZONE_RECORD_OPEN;
}

/* Looking costs no time: in a controller the capacitors would have done it. */
static void find_kept(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;
	struct nand *media = tsu_dump_media(ftl->tsu);

	if (!ftl->dump)
		return;
	mount->kept_first = arena_borrow_raw(mount->arena, ftl->all_zones, sizeof(uint32_t), "kept sectors");
	mount->kept_next = arena_borrow_raw(mount->arena, media->kept_places, sizeof(uint32_t), "kept sectors");
	mount->kept_at = arena_borrow_raw(mount->arena, ftl->ring_sectors, sizeof(uint32_t), "kept sectors");
	clock_freeze();
	memset(mount->kept_first, 0xff, ftl->all_zones * sizeof(uint32_t));
	for (uint32_t place = 0; place < media->kept_places && !mount->clean; place++)
		list_kept(mount, media, place);
	clock_thaw();
}

/* Places of the zone's kept sectors, by offset from `placed`. */
static void gather_kept(struct mount *mount, const struct zone *zone)
{
	struct ftl *ftl = mount->ftl;
	struct nand *media = tsu_dump_media(ftl->tsu);
	struct hz_oob oob;

	memset(mount->kept_at, 0xff, ftl->ring_sectors * sizeof(uint32_t));
	for (uint32_t place = mount->kept_first[zone->index]; place != KEPT_NONE; place = mount->kept_next[place])
		if (media->ops->kept(media, place, &oob) && oob.lpa - zone->start - zone->placed < ftl->ring_sectors)
			mount->kept_at[oob.lpa - zone->start - zone->placed] = place;
}

/* Number of sectors from `at` on, at most one program, that are kept and not staged. */
static uint32_t kept_run(const struct mount *mount, struct zone *zone, uint32_t at)
{
	uint32_t count = 0, unit = mount->ftl->slc->unit_sectors, end = zone->placed + mount->ftl->ring_sectors;

	while (count < unit && at + count < end && *staged_candidate(zone, at + count) == PPA_NONE &&
	       mount->kept_at[at + count - zone->placed] != KEPT_NONE)
		count++;
	return count;
}

/* Program kept sectors that continue the zone to SLC now. Sectors without room there are lost. */
static void bring_kept(struct mount *mount, struct zone *zone)
{
	uint32_t at = zone->placed, end = zone->placed + mount->ftl->ring_sectors, count;

	gather_kept(mount, zone);
	slc_belated_begin(mount->ftl);
	while (at < end) {
		ppa_t ppa = *staged_candidate(zone, at);

		count = ppa == PPA_NONE ? kept_run(mount, zone, at) : 1;
		if (!count)
			break;
		if (ppa == PPA_NONE)
			ppa = dump_belated(mount->ftl, zone, at, count, &mount->kept_at[at - zone->placed]);
		for (uint32_t i = 0; i < count; i++)
			*staged_candidate(zone, at + i) = ppa == PPA_NONE ? PPA_NONE : ppa + i;
		at += count;
		if (ppa == PPA_NONE && mount->ftl->table->record[zone->index].wp < at)
			mount->ftl->table->record[zone->index].wp = at;
	}
	slc_belated_end(mount->ftl);
	if (mount->beyond[zone->index] < at)
		mount->beyond[zone->index] = at;
}

/* --- write pointers and states --- */

static uint8_t state_of(const struct mount *mount, const struct zone *zone)
{
	uint32_t record = mount->ftl->table->record[zone->index].state;

	if (record == ZONE_RECORD_OFFLINE)
		return NVME_ZS_OFFLINE;
	if (record == ZONE_RECORD_READ_ONLY || zone_failed(zone))
		return NVME_ZS_READ_ONLY;
	if (record == ZONE_RECORD_FINISHED || mount->padded[zone->index] || zone->wp == zone->capacity)
		return NVME_ZS_FULL;
	return zone->wp ? NVME_ZS_CLOSED : NVME_ZS_EMPTY;
}

/* Copies that continue the placed sectors: up to the first gap, or the end in the zone's record. Returns the end. Those beyond are dead. */
static uint32_t settle_staged(struct mount *mount, struct zone *zone, uint32_t recorded)
{
	struct ftl *ftl = mount->ftl;
	uint32_t most = zone->placed + ftl->ring_sectors, end = zone->placed, to = min_u32(recorded, most);

	if (!zone->staged_ppa)
		return to > end ? to : end;
	while (end < most && (*staged_candidate(zone, end) != PPA_NONE || end < to)) {
		if (*staged_candidate(zone, end) != PPA_NONE)
			slc_validate(ftl, *staged_candidate(zone, end), 1, (uint32_t)(zone->start + end));
		end++;
	}
	for (uint32_t o = end; o < most; o++)
		*staged_candidate(zone, o) = PPA_NONE;
	return end;
}

/* Nothing more may be written to the zone. It becomes READ ONLY, if it is not OFFLINE, in its next record too. */
static void close_for_good(struct mount *mount, struct zone *zone)
{
	struct zone_record *record = &mount->ftl->table->record[zone->index];

	zone_become(zone, ZONE_FAILED);
	if (record->state < ZONE_RECORD_READ_ONLY || mount->doubted[zone->index])
		zone_changed(zone);
	if (record->state < ZONE_RECORD_READ_ONLY)
		record->state = ZONE_RECORD_READ_ONLY;
	mount->ftl->damage.read_only_zones += record->state == ZONE_RECORD_READ_ONLY && !zone_is_backing(zone);
}

static void note_first(struct ftl_damage *damage, uint64_t lba)
{
	if (!(damage->lost_sectors + damage->records) || lba < damage->first_lba)
		damage->first_lba = lba;
}

/* Its record cannot be true. */
static void note_doubted(struct mount *mount, struct zone *zone)
{
	note_first(&mount->ftl->damage, zone->start);
	mount->ftl->damage.records++;
	close_for_good(mount, zone);
}

/* Sectors of the zone without a place: nothing can come after them. */
static void note_lost(struct mount *mount, struct zone *zone, uint32_t end)
{
	struct ftl *ftl = mount->ftl;
	uint32_t lost = zone->wp - end, first = end;

	for (uint32_t o = end; o-- > zone->placed;)
		if (zone_staged(zone, o) == PPA_NONE) {
			lost++;
			first = o;
		}
	if (!lost)
		return;
	mount->explained += lost;
	if (!zone_failed(zone))
		close_for_good(mount, zone);
	note_first(&ftl->damage, zone->start + first);
	ftl->damage.lost_sectors += lost;
}

/* Found in its padding to be FULL, after a power cut in its finish: its next record says so. */
static void note_finished(struct mount *mount, const struct zone *zone)
{
	struct zone_record *record = &mount->ftl->table->record[zone->index];

	if (zone->state != NVME_ZS_FULL || zone->wp == zone->capacity || record->state == ZONE_RECORD_FINISHED)
		return;
	record->state = ZONE_RECORD_FINISHED;
	record->finish = zone->wp;
}

/* Whole units dumped to SLC at a power cut. */
static void note_kept(struct zone *zone, uint32_t end)
{
	uint32_t whole = end == zone->capacity ? end : end - end % zone->ftl->flush_sectors;

	if (!zone->ftl->dump || zone_is_backing(zone) || whole <= zone->placed ||
	    (zone->state != NVME_ZS_CLOSED && zone->state != NVME_ZS_FULL))
		return;
	zone->dumped = whole;
	lt_add(&zone->ftl->dumped_zones, 1);
}

/* Known end of the zone: copies behind a gap were acknowledged, if the gap is a lost sector and not a torn one. */
static uint32_t wp_known(struct mount *mount, const struct zone *zone)
{
	uint32_t recorded = mount->ftl->table->record[zone->index].wp, beyond = mount->beyond[zone->index];

	return !mount->clean && mount->slc_lost && zone->staged_ppa && beyond > recorded ? beyond : recorded;
}

static void settle_zone(struct mount *mount, struct zone *zone)
{
	struct ftl *ftl = mount->ftl;
	uint32_t recorded, end;

	if (ftl->dump && goes_on(mount, zone) && staged_list(&mount->lists, zone))
		bring_kept(mount, zone);
	recorded = wp_known(mount, zone);
	end = settle_staged(mount, zone, recorded);
	zone->record.fence = mount->beyond[zone->index] > end;
	zone->updates.folded = ftl->table->record[zone->index].folded;
	zone->wp = end > recorded ? end : recorded;
	zone->landed = zone->resident = zone->staged = zone->record.wp_at_mount = end;
	zone->staged_from = zone->placed;
	zone->landed_slot = end % ftl->ring_sectors;
	l2p_mounted(ftl, zone);
	if (mount->doubted[zone->index])
		note_doubted(mount, zone);
	note_lost(mount, zone, end);
	zone->state = state_of(mount, zone);
	note_finished(mount, zone);
	if (zone->state == NVME_ZS_READ_ONLY || zone->state == NVME_ZS_OFFLINE)
		l2p_unstage_run(&ftl->workers[0], zone, end, 0);
	note_kept(zone, end);
	if ((zone->state == NVME_ZS_CLOSED || zone->dumped > zone->placed) &&
	    (mount->hole[zone->index] || (zone_in_patch(zone) ? zone->bad_patch : zone->bad_superblock)))
		zone_become(zone, ZONE_BROKEN);
	ftl->budget->active += !zone_is_backing(zone) && zone_is_active(zone->state);
	mount->settled[zone->index] = true;
}

static void settle_listed(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;

	for (uint32_t z = 0; z < ftl->all_zones; z++)
		if (ftl->zones[z].staged_ppa)
			settle_zone(mount, &ftl->zones[z]);
	staged_lists_return(ftl, &mount->lists);
}

/* Zones without staged sectors. When all is in SLC no sector is kept any more. */
static void settle_kept(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;

	for (uint32_t z = 0; ftl->dump && z < ftl->zone_count; z++)
		if (!mount->settled[z] && goes_on(mount, &ftl->zones[z])) {
			settle_zone(mount, &ftl->zones[z]);
			staged_lists_return(ftl, &mount->lists);
		}
}

/* Few zones have something staged. If they are more than there are lists, the pages with data of the others are visited again. */
const char *mount_find_staged(struct mount *mount)
{
	find_kept(mount);
	do {
		mount->unlisted = false;
		mount_visit_again(mount, visit_staged);
		settle_listed(mount);
		mount->revisits = true;
	} while (mount->unlisted);
	settle_kept(mount);
	return mount->too_many_updates
		       ? "The NAND image has more sectors written in place than zones.in_place allows; use the device that it was made with."
		       : NULL;
}

const char *mount_settle_zones(struct mount *mount)
{
	struct ftl *ftl = mount->ftl;

	for (uint32_t z = 0; z < ftl->all_zones; z++)
		if (!mount->settled[z])
			settle_zone(mount, &ftl->zones[z]);
	mount_visit_again(mount, visit_window);
	updates_mounted(ftl);
	if (mount->no_windows || !zrwas_mounted(ftl))
		return "The NAND image has sectors in random write areas that zrwa.count and zrwa.size do not allow; use the device that it was made with.";
	if (!mount->clean && mount->slc_lost > mount->explained)
		ftl->damage.unknown_sectors += mount->slc_lost - mount->explained;
	for (uint32_t i = 0; i < ftl->table->pages * ZONE_TABLE_COPIES; i++) {
		ppa_t ppa = ftl->table->page[i / ZONE_TABLE_COPIES].ppa[i % ZONE_TABLE_COPIES];

		if (ppa != PPA_NONE)
			slc_validate(ftl, ppa, 1, slc_table_tag(i));
	}
	lt_store(&ftl->sequence, ftl->mount_sequence + 1);
	return NULL;
}
