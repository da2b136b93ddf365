/* For tests in C++, since they cannot read the firmware's own headers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "inside.h"

#include <string.h>

#include "block/superblock.h"
#include "buffer/staged.h"
#include "buffer/buffer_internal.h"
#include "conventional/conventional.h"
#include "map/l2p_internal.h"
#include "map/l2p.h"
#include "places/places.h"
#include "tsu/tsu_dump.h"
#include "tsu/tsu_mount.h"
#include "tsu/tsu_state.h"
#include "zone/zone.h"

uint32_t rig_place_of(struct ftl *ftl, uint32_t number, uint32_t offset) { return zone_where(&ftl->zones[number], offset); }

/* Combine a sector of the page of a plane; false: it cannot be read. */
static bool combine(struct ftl *ftl, ppa_t ppa, uint8_t *sum, struct hz_oob *oob)
{
	static uint8_t page[HZ_SECTOR_BYTES];
	uint8_t *memory[1] = {page};
	const struct sgl data = {memory, 0, HZ_SECTOR_BYTES};

	if (tsu_read_now(ftl->tsu, ppa, 1, &data, 0, oob) != NAND_OK)
		return false;
	for (uint32_t i = 0; i < HZ_SECTOR_BYTES; i++)
		sum[i] ^= page[i];
	return true;
}

/* Of a row that is full, or the last of a full zone. */
static const char *check_stripe(struct ftl *ftl, const struct zone *zone, uint32_t row, uint32_t plane, uint32_t sector, bool full)
{
	static uint8_t sum[HZ_SECTOR_BYTES];
	uint32_t planes = ftl->shape.superblock_planes, unit = ftl->unit_sectors;
	const struct flash_addr *column = &ftl->map->column[ftl->map->superblock[zone->superblock].column];
	uint32_t blank = UINT32_MAX;
	struct hz_oob oob;

	memset(sum, 0, sizeof(sum));
	for (uint32_t c = 0; c < planes; c++) {
		uint32_t offset = (row * planes + c) * unit + sector;

		if (column[c].plane != plane)
			continue;
		if (!combine(ftl, ppa_make(ftl->map, zone->superblock, offset), sum, &oob))
			return NULL;
		if (oob.kind == HZ_OOB_ERASED && offset < blank)
			blank = offset;
	}
	if (!combine(ftl,
		     ppa_make(ftl->map, flash_parity_of(ftl->map, zone->superblock),
			      (row * ftl->shape.parity_planes + plane) * unit + sector),
		     sum, &oob))
		return NULL;
	if (oob.kind == HZ_OOB_PARITY && blank >= zone->placed && blank < oob.sequence)
		return NULL; /* a power cut has kept the unit from its place, and nothing is rebuilt from the parity */
	if (oob.kind != HZ_OOB_PARITY)
		return full && oob.kind != HZ_OOB_PAD ? "a full row has no parity" : NULL;
	for (uint32_t i = 0; i < HZ_SECTOR_BYTES; i++)
		if (sum[i])
			return "parity is not that of its stripe";
	return oob.lpa == zone->start + row * ftl->superpage_sectors + plane * unit + sector && oob.generation == zone->generation
		       ? NULL
		       : "parity has the record of another row";
}

const char *rig_check_parity(struct ftl *ftl)
{
	static uint32_t times;
	uint32_t sector = times++ % ftl->unit_sectors;
	const char *wrong = NULL;

	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		const struct zone *zone = &ftl->zones[z];
		uint32_t rows = zone->placed / ftl->superpage_sectors +
				(zone->state == NVME_ZS_FULL && zone->placed % ftl->superpage_sectors);

		for (uint32_t row = 0; zone->superblock != SUPERBLOCK_NONE && row < rows; row++)
			for (uint32_t plane = 0; plane < ftl->shape.parity_planes && !wrong; plane++)
				wrong = check_stripe(ftl, zone, row, plane, sector, (row + 1) * ftl->superpage_sectors <= zone->placed);
	}
	return wrong;
}

uint8_t *rig_buffered(struct ftl *ftl, uint32_t number, uint32_t offset)
{
	const struct zone *zone = &ftl->zones[number];

	return zone->buffer->memory[zone_slot(zone, offset)];
}

uint64_t rig_reads_of(struct ftl *ftl, uint32_t worker) { return ftl->workers[worker].counters.host_read_sectors; }

uint8_t rig_condition(struct ftl *ftl, uint32_t zone) { return ftl->zones[zone].condition; }

HZ_STATIC_ASSERT(RIG_CONDITIONS == ZONE_CONDITIONS, "tests know every condition");

bool rig_can_become(uint8_t from, uint8_t to) { return zone_can_become(from, to); }

void rig_become(struct ftl *ftl, uint32_t zone, uint8_t condition) { zone_become(&ftl->zones[zone], condition); }

uint32_t rig_shard_of(struct ftl *ftl, uint32_t zone) { return ftl->zones[zone].map_shard; }

void rig_merge_map(struct ftl *ftl) { l2p_log_flush(&ftl->workers[0]); }

void rig_close_map_log(struct ftl *ftl) { lt_store(&ftl->l2p->log.closed, 1); }

uint64_t rig_map_log_used(struct ftl *ftl) { return lt_load(&ftl->l2p->log.used); }

void rig_waste_runs(struct ftl *ftl)
{
	for (uint32_t w = 0; w < ftl->l2p->runs.words; w++)
		lt_store(&ftl->l2p->runs.taken[w], UINT64_MAX);
}

uint32_t rig_unmade_pages(struct ftl *ftl, uint32_t zone)
{
	uint32_t words = (ftl->capacity + 65535) / 65536, unmade = 0;

	for (uint32_t w = 0; w < words; w++)
		unmade += (uint32_t)__builtin_popcountll(ftl->l2p->unmade[zone * words + w]);
	return unmade;
}

uint32_t rig_lists_held(struct ftl *ftl)
{
	uint32_t held = 0;

	for (uint32_t z = 0; z < ftl->l2p->zone_staged.zones; z++)
		held += ftl->l2p->zone_staged.of_zone[z] != ZONE_STAGED_NONE;
	return held;
}

void rig_waste_lists(struct ftl *ftl, bool waste) { ftl->l2p->zone_staged.words = waste ? 0 : 1; }

/* Moves a list to the front of another one. */
static void join_changes(struct l2p_changes *changes, uint32_t *to, uint32_t from)
{
	while (from != CHANGE_NONE) {
		uint32_t next = changes->record[from].next;

		changes->record[from].next = *to;
		*to = from;
		from = next;
	}
}

static void crowd_changes(struct l2p_changes *changes, uint32_t shards)
{
	for (uint32_t s = 0; s < shards && changes->count; s++) {
		uint32_t all = CHANGE_NONE;

		for (uint32_t i = 0; i < 1u << changes->page_bits; i++)
			join_changes(changes, &all, changes->of_page[s << changes->page_bits | i]);
		changes->of_page[s] = all;
	}
	changes->page_bits = 0;
}

static void join_nodes(struct l2p_cache *cache, uint32_t *to, uint32_t from)
{
	while (from != L2P_CACHE_NONE) {
		struct l2p_cached *node = &cache->node[from];
		uint32_t next = node->after;

		node->before = L2P_CACHE_NONE;
		node->after = *to;
		if (*to != L2P_CACHE_NONE)
			cache->node[*to].before = from;
		*to = from;
		from = next;
	}
}

static void crowd_cache(struct l2p_cache *cache)
{
	for (uint32_t s = 0; s < cache->shards; s++) {
		uint32_t all = L2P_CACHE_NONE;

		for (uint32_t i = 0; i < 1u << cache->group_bits; i++)
			join_nodes(cache, &all, cache->shard[s].group[i]);
		cache->shard[s].group[0] = all;
	}
	cache->group_bits = 0;
}

void rig_crowd_lists(struct ftl *ftl)
{
	crowd_changes(&ftl->l2p->changes, ftl->l2p->shards);
	crowd_cache(&ftl->l2p->cache);
}

void rig_dirty(struct ftl *ftl, uint32_t zone, uint32_t page)
{
	map_page_dirty(ftl, ftl->zones[zone].map_shard, (zone << ftl->l2p->table.zone_shift) + page);
}

void rig_dirty_begin(struct ftl *ftl) { l2p_dirty_begin(ftl); }

uint32_t rig_dirty_take(struct ftl *ftl, uint32_t pages)
{
	const struct l2p_table *table = &ftl->l2p->table;
	uint32_t page = l2p_dirty_next(ftl), zone = page >> table->zone_shift;

	if (page == UINT32_MAX)
		return page;
	map_page_state(table, page)->dirty = 0;
	return zone * pages + (page - (zone << table->zone_shift));
}

const char *rig_dirty_check(struct ftl *ftl) { return l2p_dirty_check(ftl); }

uint32_t rig_version(struct ftl *ftl, uint32_t page, uint64_t sequence)
{
	map_page_set_version(&ftl->l2p->table, page, sequence);
	return map_page_version(&ftl->l2p->table, page);
}

bool rig_sweep_has_passed(struct ftl *ftl, uint32_t zone, uint32_t ppa)
{
	const struct zone_op *op = &ftl->zones[zone].op;

	return op->cursor < op->end && ppa_superblock(ftl->map, op->swept) > ppa_superblock(ftl->map, ppa);
}

static struct watch {
	struct lt_event event;
	struct ftl *ftl;
	bool (*look)(void *arg);
	void *arg;
	uint32_t times;
} rig_watched;

static void watch_looks(struct lt_event *event)
{
	struct watch *watch = (struct watch *)((char *)event - offsetof(struct watch, event));

	clock_charge_ns(50);
	if (watch->look(watch->arg) && --watch->times)
		lt_post(&watch->ftl->workers[0].thread, event, watch_looks);
}

void rig_watch(struct ftl *ftl, bool (*look)(void *arg), void *arg, uint32_t times)
{
	rig_watched = (struct watch){.ftl = ftl, .look = look, .arg = arg, .times = times};
	lt_post(&ftl->workers[0].thread, &rig_watched.event, watch_looks);
}

void rig_collector_moved(struct ftl *ftl, uint32_t zone, uint32_t offset, uint32_t from, uint32_t to)
{
	uint32_t lba = (uint32_t)ftl->zones[zone].start + offset;

	slc_owner_of(ftl->slc, lba)->moved(&ftl->workers[0], lba, from, to);
}

uint32_t rig_map_line(struct ftl *ftl) { return l2p_cache_line(&ftl->l2p->cache); }

struct lt_lock *rig_map_lock(struct ftl *ftl, uint64_t lba) { return l2p_lock_of(ftl, zone_at(ftl, lba)); }

struct lt_lock *rig_zone_lock(struct ftl *ftl, uint32_t zone) { return &ftl->zones[zone].lock; }

void rig_lose_power(struct tsu *tsu)
{
	tsu_dump(tsu, clock_now_ns());
	tsu->nand->ops->power_off(tsu->nand);
}

static struct {
	struct l2p_conv_ops ops;
	const struct l2p_conv_ops *of_map;
	struct lt_lock *gate;
} gated;

static uint32_t look_up_and_wait(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place)
{
	uint32_t found = gated.of_map->read(self, req, lba, count, place);
	struct lt_lock_node node;

	lt_lock_acquire(gated.gate, &node);
	lt_lock_release(gated.gate, &node);
	return found;
}

void rig_wait_after_look_ups(struct ftl *ftl, struct lt_lock *gate)
{
	gated.of_map = ftl->l2p->conv;
	gated.gate = gate;
	gated.ops = *ftl->l2p->conv;
	gated.ops.read = look_up_and_wait;
	ftl->l2p->conv = &gated.ops;
}

uint64_t rig_backing_resets(struct ftl *ftl) { return lt_load(&ftl->places->resets); }

uint32_t rig_conventional_place(struct ftl *ftl, uint64_t lba) { return l2p_conv_peek(ftl, lba); }

uint64_t rig_erased_zones(const struct ftl *ftl) { return lt_load(&ftl->conventional->free); }

bool rig_return_copy(struct ftl *ftl)
{
	struct zone *zone = ftl->conventional->gc->leaving;

	if (zone)
		lt_store(&zone->places->returned, 1);
	return zone;
}

uint32_t rig_zones_with_returned_copies(const struct ftl *ftl)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++)
		count += (uint32_t)lt_load(&ftl->places->zone[i].returned);
	return count;
}

uint32_t rig_conventional_hint(struct ftl *ftl, uint64_t lba) { return l2p_conv_hint(ftl, lba); }

void rig_lose_table(struct ftl *ftl) { lt_store(&ftl->table->lost, 1); }

uint32_t rig_left_partly_written(struct ftl *ftl)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < ftl->shape.backing_zones; i++)
		left += backing_zone(ftl, i)->state == NVME_ZS_CLOSED && lt_load(&ftl->conventional->backing[i].frontier) == FRONTIER_NONE;
	return left;
}

uint32_t *rig_reverse(struct ftl *ftl, uint32_t place) { return &zone_of_place(ftl, place)->places->lba[place_offset(ftl, place)]; }

lt_word *rig_validity(struct ftl *ftl, uint32_t place, uint64_t *bit)
{
	*bit = 1ull << place_offset(ftl, place) % PLACE_BITS;
	return &zone_of_place(ftl, place)->places->bits[place_offset(ftl, place) / PLACE_BITS];
}

lt_word *rig_valid_places(struct ftl *ftl, uint32_t place) { return &zone_of_place(ftl, place)->places->valid; }

static uint32_t empty_members(const void *ops, size_t bytes)
{
	uint32_t empty = 0;

	for (size_t at = 0; at < bytes; at += sizeof(uintptr_t)) {
		uintptr_t member;

		memcpy(&member, (const char *)ops + at, sizeof(member));
		empty += !member;
	}
	return empty;
}

uint32_t rig_empty_map_members(void)
{
	return empty_members(&l2p_flat, sizeof(l2p_flat)) + empty_members(&l2p_cached, sizeof(l2p_cached)) +
	       empty_members(&l2p_zone, sizeof(l2p_zone)) + empty_members(&l2p_flat_staged, sizeof(l2p_flat_staged)) +
	       empty_members(&l2p_cached_staged, sizeof(l2p_cached_staged)) + empty_members(&l2p_flat_conv, sizeof(l2p_flat_conv)) +
	       empty_members(&l2p_cached_conv, sizeof(l2p_cached_conv));
}
