/* The map: choice of the implementation by the config, its locks and shards, and pools of numbers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/l2p.h"

#include "lt/arena.h"
#include "lt/bits.h"
#include "map/l2p_internal.h"

static bool in_flash(const struct ftl *ftl) { return ftl->cfg->l2p_cache_bytes; }

static uint32_t power_of_two_up_to(uint32_t value)
{
	while (value & (value - 1))
		value &= value - 1;
	return value;
}

static bool of_zones(const struct ftl *ftl) { return ftl->cfg->l2p_kind == HZ_L2P_KIND_ZONE; }

/* Flat: one per zone. Cached: each shard has a cache of its own, so by default a small cache has few shards. */
static uint32_t shards_for(const struct ftl *ftl, uint32_t zones)
{
	uint32_t entries = ftl->cfg->l2p_cache_bytes / HZ_MAP_ENTRY_BYTES, usual = entries / L2P_CACHE_USUAL_SHARD;
	uint32_t wanted = ftl->cfg->l2p_shards ? ftl->cfg->l2p_shards : usual > L2P_CACHE_FEW_SHARDS ? usual : L2P_CACHE_FEW_SHARDS;

	if (!in_flash(ftl))
		return zones;
	wanted = min_u32(wanted, min_u32(HZ_MAX_L2P_SHARDS, entries / L2P_CACHE_SMALLEST_SHARD));
	return power_of_two_up_to(min_u32(wanted, zones));
}

static void choose(const struct ftl *ftl, struct l2p *l2p)
{
	const struct l2p_ops *sectors = in_flash(ftl) ? &l2p_cached : &l2p_flat;

	l2p->zones = hz_zones_of_sectors(ftl->cfg, &ftl->shape);
	if (l2p->zones)
		l2p->conv = in_flash(ftl) ? &l2p_cached_conv : &l2p_flat_conv;
	if (!of_zones(ftl)) {
		l2p->ops = sectors;
		l2p->staged = in_flash(ftl) ? &l2p_cached_staged : &l2p_flat_staged;
	} else if (l2p->zones) {
		l2p->ops = &l2p_both;
		l2p->sectors = sectors;
	} else {
		l2p->ops = &l2p_zone;
	}
}

void l2p_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p *l2p = arena_alloc(arena, 1, sizeof(*l2p), "map");

	ftl->l2p = l2p;
	choose(ftl, l2p);
	l2p->shards = shards_for(ftl, l2p->zones);
	l2p_shards_deal(ftl, l2p->shards);
	l2p->shard = arena_alloc(arena, l2p->shards, sizeof(*l2p->shard), "mapping table locks");
	for (uint32_t i = 0; i < l2p->shards; i++)
		lt_lock_init(&l2p->shard[i], HZ_LC_L2P, i);
	zone_staged_init(ftl, arena);
	l2p->ops->init(ftl, arena);
}

void l2p_map_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa, bool staged)
{
	if (!zone_is_backing(zone))
		self->ftl->l2p->ops->map_run(self, zone, offset, count, ppa, staged);
	else if (staged)
		zone_staged_placed(self->ftl, zone, offset + count);
}

static bool in_lists(const struct ftl *ftl, const struct zone *zone)
{
	return zone->index - ftl->l2p->zone_staged.first < ftl->l2p->zone_staged.zones;
}

uint32_t l2p_staged_read(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
			 ppa_t *ppa)
{
	if (!in_lists(self->ftl, zone))
		return self->ftl->l2p->staged->read(self, req, zone, offset, count, ppa);
	zone_staged_read(self->ftl, zone, offset, count, ppa);
	return count;
}

uint32_t l2p_staged_peek(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return in_lists(ftl, zone) ? zone_staged_at(ftl, zone, offset) : ftl->l2p->staged->peek(ftl, zone, offset);
}

void l2p_stage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	if (in_lists(self->ftl, zone))
		zone_staged_put(self->ftl, zone, offset, count, ppa);
	else
		self->ftl->l2p->staged->stage_run(self, zone, offset, count, ppa);
}

void l2p_unstage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count)
{
	if (in_lists(self->ftl, zone))
		zone_staged_give(self->ftl, zone); /* it can be written no more */
	else
		self->ftl->l2p->staged->unstage_run(self, zone, offset, count);
}

void l2p_remap_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	self->ftl->l2p->ops->remap_run(self, zone, offset, count, ppa);
}

void l2p_moved(struct ftl_worker *self, const struct zone *zone) { self->ftl->l2p->ops->moved(self, zone); }

void l2p_unmap(struct ftl_worker *self, const struct zone *zone, uint32_t count)
{
	if (zone_is_backing(zone))
		zone_staged_give(self->ftl, zone);
	else
		self->ftl->l2p->ops->unmap(self, zone, count);
}

bool l2p_room(struct ftl_worker *self, struct zone *zone) { return self->ftl->l2p->ops->room(self, zone); }

bool l2p_settled(struct ftl_worker *self, struct ftl_request *req) { return self->ftl->l2p->ops->settled(self, req); }

void l2p_replay(struct ftl *ftl) { ftl->l2p->ops->replay(ftl); }

bool l2p_knows_nothing(const struct ftl *ftl, const struct zone *zone, uint32_t superblock, uint64_t sequence)
{
	(void)ftl, (void)zone, (void)superblock, (void)sequence;
	return false;
}

bool l2p_knows(const struct ftl *ftl, const struct zone *zone, uint32_t superblock, uint64_t sequence)
{
	return ftl->l2p->ops->knows(ftl, zone, superblock, sequence);
}

void l2p_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa) { ftl->l2p->ops->found(ftl, oob, ppa); }

void l2p_mounted(struct ftl *ftl, const struct zone *zone)
{
	if (in_lists(ftl, zone))
		zone_staged_mounted(ftl, zone);
	if (!zone_is_backing(zone))
		ftl->l2p->ops->mounted(ftl, zone);
}

const char *l2p_check(struct ftl *ftl, const struct zone *zone)
{
	const char *error = !zone || in_lists(ftl, zone) ? zone_staged_check(ftl, zone) : NULL;

	return error || (zone && zone_is_backing(zone)) ? error : ftl->l2p->ops->check(ftl, zone);
}

/* --- conventional zones --- */

void l2p_conv_map(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob)
{
	self->ftl->l2p->conv->map(self, lba, count, to, oob);
}

bool l2p_conv_move(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob)
{
	return self->ftl->l2p->conv->move(self, lba, from, to, oob);
}

bool l2p_conv_admits(struct ftl_worker *self, struct ftl_request *req) { return self->ftl->l2p->conv->admits(self, req); }

uint32_t l2p_conv_unmap(struct ftl_worker *self, uint64_t lba, uint32_t count) { return self->ftl->l2p->conv->unmap(self, lba, count); }

uint32_t l2p_conv_read(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place)
{
	return self->ftl->l2p->conv->read(self, req, lba, count, place);
}

uint32_t l2p_conv_hint(struct ftl *ftl, uint64_t lba) { return ftl->l2p->conv->hint(ftl, lba); }

uint32_t l2p_conv_peek(struct ftl *ftl, uint64_t lba) { return ftl->l2p->conv->peek(ftl, lba); }

uint32_t l2p_conv_mapped(struct ftl *ftl, const struct zone *zone, uint32_t *offset, struct l2p_sector *sector)
{
	return ftl->l2p->conv->mapped(ftl, zone, offset, sector);
}

void l2p_conv_preset(struct ftl *ftl, uint64_t lba, uint32_t place) { ftl->l2p->conv->preset(ftl, lba, place); }

uint32_t l2p_conv_run(struct ftl *ftl, uint64_t lba, uint32_t most, uint32_t *place)
{
	uint32_t run = ftl->l2p->conv->blank(ftl, lba), next, step;
	const uint32_t *entry;

	*place = L2P_UNMAPPED;
	if (run)
		return min_u32(run, most);
	most = min_u32(most, HZ_MAP_PAGE_ENTRIES - ((uint32_t)(lba - zone_at(ftl, lba)->start) & (HZ_MAP_PAGE_ENTRIES - 1)));
	entry = ftl->l2p->conv->entry(ftl, lba);
	*place = next = *entry & L2P_ADDRESS_MASK;
	step = next != L2P_UNMAPPED;
	while (run < most && (entry[run] & L2P_ADDRESS_MASK) == next) {
		run++;
		next += step;
	}
	return run;
}

uint64_t l2p_conv_scan_begin(struct ftl *ftl, struct arena *arena) { return ftl->l2p->conv->scan_begin(ftl, arena); }

const char *l2p_conv_scan_end(struct ftl *ftl) { return ftl->l2p->conv->scan_end(ftl); }

uint64_t l2p_conv_stale(struct ftl *ftl) { return ftl->l2p->conv->stale(ftl); }

/* Shard of the map for a zone. */

/* Knuth, TAOCP 3, 6.4: multiplying by 2^32 times the golden ratio spreads zones at regular distances, as of several host threads; the
 * highest bits of the product are the best. */
static uint32_t spread(uint32_t zone, uint32_t shards) { return (uint32_t)((uint64_t)(zone * 0x9e3779b1u) * shards >> 32); }

/* One shard per zone, or a few. Zones without entries of sectors use none. */
void l2p_shards_deal(struct ftl *ftl, uint32_t shards)
{
	for (uint32_t z = 0; z < ftl->all_zones; z++)
		ftl->zones[z].map_shard = shards == ftl->l2p->zones ? z : spread(z, shards);
}

/* A pool of numbers, as bits of shared words. */

uint32_t l2p_take_bit(lt_word *taken, uint32_t words)
{
	for (uint32_t w = 0; w < words; w++) {
		uint64_t seen = lt_load(&taken[w]);

		while (~seen) {
			unsigned bit = lt_lowest_bit(~seen);

			if (lt_cas(&taken[w], seen, seen | 1ull << bit))
				return w * L2P_WORD_BITS + bit;
			seen = lt_load(&taken[w]);
		}
	}
	return L2P_NO_BIT;
}

void l2p_give_bit(lt_word *taken, uint32_t number) { lt_and(&taken[number / L2P_WORD_BITS], ~(1ull << number % L2P_WORD_BITS)); }
