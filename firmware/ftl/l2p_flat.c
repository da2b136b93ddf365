/* Flat map: the whole table in RAM, rebuilt at mount. */
#include "context.h"

static uint32_t *entry_of(struct l2p *l2p, const struct zone *zone, uint32_t offset)
{
	return &l2p->entry[(uint64_t)zone->index * l2p->capacity + offset];
}

/* One shard per zone when shards == zones, else a few; shards is a power of two or the zone count. */
static struct lt_lock *shard_of(struct ftl *ftl, const struct zone *zone)
{
	struct l2p *l2p = &ftl->l2p;

	return &l2p->shard[l2p->shards == ftl->zone_count ? zone->index : zone->index & (l2p->shards - 1)];
}

void l2p_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p *l2p = &ftl->l2p;
	uint32_t shards = ftl->cfg->lock_shards[HZ_LC_L2P];
	uint64_t entries;

	l2p->capacity = (uint32_t)ftl->shape.zone_capacity_sectors;
	entries = (uint64_t)l2p->capacity * ftl->zone_count;
	l2p->entry = arena_alloc(arena, entries, sizeof(*l2p->entry), "mapping table");
	memset(l2p->entry, 0xff, entries * sizeof(*l2p->entry));
	while (shards & (shards - 1))
		shards &= shards - 1;
	l2p->shards = shards && shards < ftl->zone_count ? shards : ftl->zone_count;
	l2p->shard = arena_alloc(arena, l2p->shards, sizeof(*l2p->shard), "mapping table locks");
	for (uint32_t i = 0; i < l2p->shards; i++)
		lt_lock_init(&l2p->shard[i], HZ_LC_L2P, i);
}

void l2p_read(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t *ppa)
{
	uint32_t *entry = entry_of(&ftl->l2p, zone, offset);
	struct lt_lock *lock = shard_of(ftl, zone);
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	for (uint32_t i = 0; i < count; i++)
		ppa[i] = entry[i] & L2P_ADDRESS_MASK;
	lt_lock_release(lock, &node);
}

/* A piece at a time, so that the lock is never held for long: the callers own the zone. */
static void replace_run(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, uint32_t value, uint32_t step)
{
	struct lt_lock *lock = shard_of(ftl, zone);

	while (count) {
		uint32_t *entry = entry_of(&ftl->l2p, zone, offset);
		uint32_t part = count < L2P_PIECE ? count : L2P_PIECE;
		struct lt_lock_node node;

		lt_lock_acquire(lock, &node);
		for (uint32_t i = 0; i < part; i++, value += step)
			entry[i] = value;
		lt_lock_release(lock, &node);
		offset += part;
		count -= part;
	}
}

void l2p_map_run(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	replace_run(ftl, zone, offset, count, ppa, 1);
}

void l2p_unmap(struct ftl *ftl, const struct zone *zone, uint32_t count)
{
	replace_run(ftl, zone, 0, count, UINT32_MAX, 0);
}

ppa_t l2p_peek(const struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return ftl->l2p.entry[(uint64_t)zone->index * ftl->l2p.capacity + offset] & L2P_ADDRESS_MASK;
}

void l2p_preset(struct ftl *ftl, const struct zone *zone, uint32_t offset, ppa_t ppa)
{
	*entry_of(&ftl->l2p, zone, offset) = ppa;
}

/* --- conventional zones --- */

static const struct zone *zone_of_lba(struct ftl *ftl, uint64_t lba, uint32_t **entry)
{
	const struct zone *zone = zone_at(ftl, lba);

	*entry = entry_of(&ftl->l2p, zone, (uint32_t)(lba - zone->start));
	return zone;
}

/* Lock held. */
static void replace_place(struct ftl *ftl, uint32_t *entry, uint32_t place)
{
	uint32_t old = *entry & L2P_ADDRESS_MASK;

	*entry = place;
	if (old != L2P_UNMAPPED)
		page_space_invalidate(ftl, old, UINT64_MAX);
}

void l2p_page_map(struct ftl *ftl, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob)
{
	uint32_t *entry;
	struct lt_lock *lock = shard_of(ftl, zone_of_lba(ftl, lba, &entry));
	struct lt_lock_node node;
	uint64_t sequence;

	lt_lock_acquire(lock, &node);
	sequence = sequence_take(ftl, count);
	for (uint32_t i = 0; i < count; i++) {
		oob[i].sequence = sequence + i;
		replace_place(ftl, &entry[i], to + i);
	}
	lt_lock_release(lock, &node);
}

bool l2p_page_move(struct ftl *ftl, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob)
{
	uint32_t *entry;
	struct lt_lock *lock = shard_of(ftl, zone_of_lba(ftl, lba, &entry));
	struct lt_lock_node node;
	bool here;

	lt_lock_acquire(lock, &node);
	here = (*entry & L2P_ADDRESS_MASK) == from;
	if (here) {
		oob->sequence = sequence_take(ftl, 1);
		replace_place(ftl, entry, to);
	}
	lt_lock_release(lock, &node);
	return here;
}

uint32_t l2p_page_read(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place)
{
	uint32_t *entry;
	struct lt_lock *lock = shard_of(self->ftl, zone_of_lba(self->ftl, lba, &entry));
	struct lt_lock_node node;

	(void)req;
	lt_lock_acquire(lock, &node);
	for (uint32_t i = 0; i < count; i++)
		place[i] = entry[i] & L2P_ADDRESS_MASK;
	lt_lock_release(lock, &node);
	return count;
}

uint32_t l2p_page_hint(struct ftl *ftl, uint64_t lba)
{
	uint32_t *entry, place;
	struct lt_lock *lock = shard_of(ftl, zone_of_lba(ftl, lba, &entry));
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	place = *entry & L2P_ADDRESS_MASK;
	lt_lock_release(lock, &node);
	return place;
}

uint32_t l2p_page_peek(struct ftl *ftl, uint64_t lba)
{
	uint32_t *entry;

	zone_of_lba(ftl, lba, &entry);
	return *entry & L2P_ADDRESS_MASK;
}

void l2p_page_preset(struct ftl *ftl, uint64_t lba, uint32_t place)
{
	uint32_t *entry;

	zone_of_lba(ftl, lba, &entry);
	*entry = place;
}
