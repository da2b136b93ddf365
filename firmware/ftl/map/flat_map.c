/* Flat map: the whole table in RAM, rebuilt at mount.
 *
 * Of a sequential zone only entries of placed or staged sectors are looked up, so the table need not be cleared. Nor does mount write
 * the entries of placed sectors: there may be 2^28 of them, and they follow from the zone's address. They are made a table page at a
 * time (HZ_MAP_PAGE_ENTRIES of them), at the first read or change of one. The zone's lock protects the pages still to be made. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/arena.h"
#include "map/l2p.h"
#include "map/l2p_internal.h"
#include "places/places.h"
#include "places/trims.h"
#include "slc/slc.h"

#define PAIR_STEP (1ull << 32 | 1) /* the next address, in both halves */

static uint32_t *entry_of(struct l2p *l2p, const struct zone *zone, uint32_t offset)
{
	return &l2p->entry[(uint64_t)zone->index * zone->ftl->capacity + offset];
}

/* Address of a zone found at mount, while entries of it are still to be made. */
struct flat_zone {
	uint32_t pages; /* to be made */
	uint32_t superblock, patch, placed;
};

enum { PAGE_BITS = 64 };

static uint32_t flat_pages(uint32_t sectors) { return (sectors + HZ_MAP_PAGE_ENTRIES - 1) / HZ_MAP_PAGE_ENTRIES; }
static uint32_t flat_words(const struct ftl *ftl) { return (flat_pages(ftl->capacity) + PAGE_BITS - 1) / PAGE_BITS; }

/* The interfaces of a map whose look-ups do not always lock. */
struct flat_interfaces {
	struct l2p_ops ops;
	struct l2p_staged_ops staged;
	struct l2p_conv_ops conv;
};
static void flat_choose_lookups(struct ftl *ftl, struct arena *arena);

static void flat_init(struct ftl *ftl, struct arena *arena)
{
	uint64_t conventional = (uint64_t)ftl->capacity * ftl->shape.conventional_zones;
	struct l2p *l2p = ftl->l2p;

	l2p->entry = arena_alloc_raw_table(arena, (size_t)ftl->capacity * l2p->zones, sizeof(*l2p->entry), "mapping table");
	memset(l2p->entry, 0xff, conventional * sizeof(*l2p->entry));
	l2p->found = arena_alloc(arena, l2p->zones, sizeof(*l2p->found), "zones found at mount");
	l2p->unmade = arena_alloc(arena, (size_t)l2p->zones * flat_words(ftl), sizeof(*l2p->unmade), "zones found at mount");
	flat_choose_lookups(ftl, arena);
}

/* --- deferred entries --- */

/* Entries of consecutive sectors: two at a time. */
static void fill_run(uint32_t *entry, uint32_t count, ppa_t ppa)
{
	uint64_t pair, *pairs;

	for (; count && (uintptr_t)entry % sizeof(pair); count--)
		*entry++ = ppa++;
	pair = (uint64_t)(ppa + 1) << 32 | ppa;
	for (pairs = (uint64_t *)entry; count >= 8; count -= 8, ppa += 8, pairs += 4, pair += 8 * PAIR_STEP) {
		pairs[0] = pair;
		pairs[1] = pair + 2 * PAIR_STEP;
		pairs[2] = pair + 4 * PAIR_STEP;
		pairs[3] = pair + 6 * PAIR_STEP;
	}
	for (entry = (uint32_t *)pairs; count; count--)
		*entry++ = ppa++;
}

static uint64_t *unmade_word(const struct ftl *ftl, const struct zone *zone, uint32_t page)
{
	return &ftl->l2p->unmade[zone->index * flat_words(ftl) + page / PAGE_BITS];
}

static bool is_unmade(const struct ftl *ftl, const struct zone *zone, uint32_t page)
{
	return *unmade_word(ftl, zone, page) >> page % PAGE_BITS & 1;
}

static void make_page(struct ftl *ftl, const struct zone *zone, uint32_t page)
{
	struct flat_zone *found = &ftl->l2p->found[zone->index];
	uint32_t from = page * HZ_MAP_PAGE_ENTRIES, to = min_u32(from + HZ_MAP_PAGE_ENTRIES, found->placed);
	uint32_t split = min_u32(to, zone->body > from ? zone->body : from);
	struct lt_lock *lock = l2p_lock_of(ftl, zone);
	struct lt_lock_node node;

	*unmade_word(ftl, zone, page) &= ~(1ull << page % PAGE_BITS);
	found->pages--;
	lt_lock_acquire(lock, &node);
	if (from < split)
		fill_run(entry_of(ftl->l2p, zone, from), split - from, ppa_make(ftl->map, found->superblock, from));
	if (split < to)
		fill_run(entry_of(ftl->l2p, zone, split), to - split, ppa_make(ftl->map, found->patch, split - zone->body));
	lt_lock_release(lock, &node);
}

/* … of [offset, offset + count), which is not empty. noinline: reads of made entries save no registers. */
static __attribute__((noinline)) void make_pages(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count)
{
	for (uint32_t page = offset / HZ_MAP_PAGE_ENTRIES; page < flat_pages(offset + count); page++)
		if (is_unmade(ftl, zone, page))
			make_page(ftl, zone, page);
}

static void flat_want(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count)
{
	if (ftl->l2p->found[zone->index].pages)
		make_pages(ftl, zone, offset, count);
}

/* --- look-ups and changes --- */

static inline void copy_addresses(const uint32_t *entry, uint32_t count, uint32_t *address)
{
	for (uint32_t i = 0; i < count; i++)
		address[i] = entry[i] & L2P_ADDRESS_MASK;
}

static inline void read_locked(struct lt_lock *lock, const uint32_t *entry, uint32_t count, uint32_t *place)
{
	struct lt_lock_node node;

	lt_lock_read(lock, &node);
	copy_addresses(entry, count, place);
	lt_lock_read_end(lock, &node);
}

/* Under the lock only if a writer is, or comes, inside. */
static void read_by_look(struct lt_lock *lock, const uint32_t *entry, uint32_t count, uint32_t *place)
{
	struct lt_lock_node node;
	bool whole = lt_lock_look(lock, &node);

	if (whole) {
		for (uint32_t i = 0; i < count; i++)
			place[i] = lt_glance(&entry[i]) & L2P_ADDRESS_MASK;
		whole = lt_lock_looked(lock, &node);
	}
	if (!whole)
		read_locked(lock, entry, count, place);
}

/* argument: first entry, output, number. */
static void look_up_section(const uint64_t *argument)
{
	copy_addresses((const uint32_t *)(uintptr_t)argument[0], (uint32_t)argument[2], (uint32_t *)(uintptr_t)argument[1]);
}

static uint32_t flat_read_combined(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset,
				   uint32_t count, ppa_t *ppa)
{
	(void)req;
	flat_want(self->ftl, zone, offset, count);
	lt_lock_run(l2p_lock_of(self->ftl, zone), look_up_section, (uintptr_t)entry_of(self->ftl->l2p, zone, offset), (uintptr_t)ppa, count,
		    0);
	return count;
}

static uint32_t flat_read(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset, uint32_t count,
			  ppa_t *ppa)
{
	uint32_t *entry = entry_of(self->ftl->l2p, zone, offset);
	struct lt_lock *lock = l2p_lock_of(self->ftl, zone);

	(void)req;
	flat_want(self->ftl, zone, offset, count);
	read_locked(lock, entry, count, ppa);
	return count;
}

static uint32_t flat_read_by_look(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset,
				  uint32_t count, ppa_t *ppa)
{
	(void)req;
	flat_want(self->ftl, zone, offset, count);
	read_by_look(l2p_lock_of(self->ftl, zone), entry_of(self->ftl->l2p, zone, offset), count, ppa);
	return count;
}

/* The zone's lock is held by whoever reads or changes entries of a sequential zone: they need no other one. */
static uint32_t flat_read_unlocked(struct ftl_worker *self, struct ftl_request *req, const struct zone *zone, uint32_t offset,
				   uint32_t count, ppa_t *ppa)
{
	const uint32_t *entry = entry_of(self->ftl->l2p, zone, offset);

	(void)req;
	flat_want(self->ftl, zone, offset, count);
	copy_addresses(entry, count, ppa);
	return count;
}

/* argument: first entry, number, first value, step. */
static void replace_section(const uint64_t *argument)
{
	uint32_t *entry = (uint32_t *)(uintptr_t)argument[0];

	for (uint32_t i = 0; i < argument[1]; i++)
		entry[i] = (uint32_t)(argument[2] + i * argument[3]);
}

static __attribute__((noinline)) void replace_combined(struct lt_lock *lock, uint32_t *entry, uint32_t count, uint32_t value, uint32_t step)
{
	for (uint32_t part; count; entry += part, value += part * step, count -= part) {
		part = count < L2P_PIECE ? count : L2P_PIECE;
		lt_lock_run(lock, replace_section, (uintptr_t)entry, part, value, step);
	}
}

/* In pieces, so that the lock is never held for long: the callers own the zone. */
static void replace_run(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, uint32_t value, uint32_t step)
{
	struct lt_lock *lock = l2p_lock_of(ftl, zone);

	if (lt_lock_combines(lock)) {
		replace_combined(lock, entry_of(ftl->l2p, zone, offset), count, value, step);
		return;
	}
	while (count) {
		uint32_t *entry = entry_of(ftl->l2p, zone, offset);
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

static void flat_stage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	replace_run(self->ftl, zone, offset, count, ppa, 1);
}

static void flat_map_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa, bool staged)
{
	(void)staged; /* the entry is simply replaced */
	replace_run(self->ftl, zone, offset, count, ppa, 1);
}

static void flat_unstage_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count)
{
	replace_run(self->ftl, zone, offset, count, UINT32_MAX, 0);
}

static uint32_t flat_staged_peek(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	return *entry_of(ftl->l2p, zone, offset) & L2P_ADDRESS_MASK;
}

static void flat_remap_run(struct ftl_worker *self, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa)
{
	flat_want(self->ftl, zone, offset, count);
	replace_run(self->ftl, zone, offset, count, ppa, 1);
}

/* Every row was remapped when it had been moved. */
static void flat_moved(struct ftl_worker *self, const struct zone *zone)
{
	(void)self;
	(void)zone;
}

static void flat_unmap(struct ftl_worker *self, const struct zone *zone, uint32_t count)
{
	self->ftl->l2p->found[zone->index].pages = 0;
	memset(unmade_word(self->ftl, zone, 0), 0, flat_words(self->ftl) * sizeof(uint64_t));
	replace_run(self->ftl, zone, 0, count, UINT32_MAX, 0);
}

static bool flat_room(struct ftl_worker *self, struct zone *zone)
{
	(void)self;
	(void)zone;
	return true;
}

/* Mount finds everything again from the OOB. */
static bool flat_settled(struct ftl_worker *self, struct ftl_request *req)
{
	(void)self;
	(void)req;
	return true;
}

/* A table page left behind by a device with the map in flash. */
static void flat_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa)
{
	(void)ftl;
	(void)oob;
	(void)ppa;
}

static void flat_mounted(struct ftl *ftl, const struct zone *zone)
{
	uint32_t pages = flat_pages(zone->placed);

	ftl->l2p->found[zone->index] = (struct flat_zone){ pages, zone->superblock, zone->patch, zone->placed };
	for (uint32_t page = 0; page < pages; page++)
		*unmade_word(ftl, zone, page) |= 1ull << page % PAGE_BITS;
	for (uint32_t o = zone->placed; o < zone->landed; o++)
		*entry_of(ftl->l2p, zone, o) = zone_staged(zone, o);
}

static const char *flat_check_entry(struct ftl *ftl, const struct zone *zone, uint32_t offset)
{
	uint32_t address = *entry_of(ftl->l2p, zone, offset) & L2P_ADDRESS_MASK;

	if (offset < zone->placed)
		return address == zone_place(zone, offset) ? NULL : "a placed sector is not at its reserved place";
	if (address != L2P_UNMAPPED && (!slc_holds(ftl->map, address) || *slc_tag_of(ftl, address) != zone->start + offset))
		return "a sector that is neither placed nor staged is mapped";
	return NULL;
}

static const char *flat_check(struct ftl *ftl, const struct zone *zone)
{
	const char *error = NULL;

	if (!zone || zone->index < ftl->shape.conventional_zones) /* conv_check compares mappings of conventional zones */
		return NULL;
	if (ftl->l2p->found[zone->index].pages && ftl->l2p->found[zone->index].placed > zone->placed)
		return "a zone has less than mount has found";
	for (uint32_t o = 0; !error && o < zone_on_flash(zone); o++)
		if (o >= zone->placed || !is_unmade(ftl, zone, o / HZ_MAP_PAGE_ENTRIES) || o >= ftl->l2p->found[zone->index].placed)
			error = flat_check_entry(ftl, zone, o);
	return error;
}

/* --- conventional zones --- */

static const struct zone *zone_of_lba(struct ftl *ftl, uint64_t lba, uint32_t **entry)
{
	const struct zone *zone = zone_at(ftl, lba);

	*entry = entry_of(ftl->l2p, zone, (uint32_t)(lba - zone->start));
	return zone;
}

/* Lock held. unlocked: others read the entry without it. */
static inline void replace_place(struct ftl *ftl, uint32_t *entry, uint32_t place, bool unlocked)
{
	uint32_t old = *entry & L2P_ADDRESS_MASK;

	if (unlocked)
		lt_store32(entry, place);
	else
		lt_put(entry, place);
	if (old == L2P_UNMAPPED)
		return;
	if (place != L2P_UNMAPPED)
		place_replaced(ftl, old, place);
	place_invalidate(ftl, old, UINT64_MAX);
}

static inline __attribute__((always_inline)) void map_places(struct ftl *ftl, uint64_t lba, uint32_t *entry, uint32_t count, uint32_t to,
							     struct hz_oob *oob, bool unlocked)
{
	uint64_t sequence;

	trims_written(ftl, lba, count);
	sequence = sequence_take(ftl, count);
	for (uint32_t i = 0; i < count; i++) {
		oob[i].sequence = sequence + i;
		replace_place(ftl, &entry[i], to + i, unlocked);
	}
}

static inline __attribute__((always_inline)) void conv_map(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to,
							   struct hz_oob *oob, bool unlocked)
{
	struct ftl *ftl = self->ftl;
	uint32_t *entry;
	struct lt_lock *lock = l2p_lock_of(ftl, zone_of_lba(ftl, lba, &entry));
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	map_places(ftl, lba, entry, count, to, oob, unlocked);
	lt_lock_release(lock, &node);
}

static void flat_conv_map(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob)
{
	conv_map(self, lba, count, to, oob, false);
}

static void flat_conv_map_unlocked(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob)
{
	conv_map(self, lba, count, to, oob, true);
}

static inline __attribute__((always_inline)) bool conv_move(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to,
							    struct hz_oob *oob, bool unlocked)
{
	struct ftl *ftl = self->ftl;
	uint32_t *entry;
	struct lt_lock *lock = l2p_lock_of(ftl, zone_of_lba(ftl, lba, &entry));
	struct lt_lock_node node;
	bool here;

	lt_lock_acquire(lock, &node);
	here = (*entry & L2P_ADDRESS_MASK) == from;
	if (here) {
		oob->sequence = sequence_take(ftl, 1);
		replace_place(ftl, entry, to, unlocked);
	}
	lt_lock_release(lock, &node);
	return here;
}

/* argument: FTL, LBA, number and first place, OOB records. */
static void map_section(const uint64_t *argument)
{
	struct ftl *ftl = (struct ftl *)(uintptr_t)argument[0];
	uint64_t lba = argument[1];
	uint32_t *entry, count = (uint32_t)(argument[2] >> 32), to = (uint32_t)argument[2];

	zone_of_lba(ftl, lba, &entry);
	map_places(ftl, lba, entry, count, to, (struct hz_oob *)(uintptr_t)argument[3], false);
}

static void flat_conv_map_combined(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob)
{
	struct lt_lock *lock = l2p_lock_of(self->ftl, zone_at(self->ftl, lba));

	lt_lock_run(lock, map_section, (uintptr_t)self->ftl, lba, (uint64_t)count << 32 | to, (uintptr_t)oob);
}

static bool flat_conv_move(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob)
{
	return conv_move(self, lba, from, to, oob, false);
}

static bool flat_conv_move_unlocked(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob)
{
	return conv_move(self, lba, from, to, oob, true);
}

static bool flat_conv_admits(struct ftl_worker *self, struct ftl_request *req)
{
	(void)self;
	(void)req;
	return true;
}

/* An unmapped LBA was never written, or its trim is set already. */
static inline __attribute__((always_inline)) uint32_t conv_unmap(struct ftl_worker *self, uint64_t lba, uint32_t count, bool unlocked)
{
	struct ftl *ftl = self->ftl;
	uint32_t *entry, unmapped = 0;
	struct lt_lock *lock = l2p_lock_of(ftl, zone_of_lba(ftl, lba, &entry));
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	for (uint32_t i = 0; i < count; i++) {
		if ((entry[i] & L2P_ADDRESS_MASK) == L2P_UNMAPPED)
			continue;
		replace_place(ftl, &entry[i], L2P_UNMAPPED, unlocked);
		trims_set(ftl, lba + i, 1);
		unmapped++;
	}
	lt_lock_release(lock, &node);
	return unmapped;
}

static uint32_t flat_conv_unmap(struct ftl_worker *self, uint64_t lba, uint32_t count) { return conv_unmap(self, lba, count, false); }

static uint32_t flat_conv_unmap_unlocked(struct ftl_worker *self, uint64_t lba, uint32_t count)
{
	return conv_unmap(self, lba, count, true);
}

static uint32_t flat_conv_read(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place)
{
	uint32_t *entry;
	struct lt_lock *lock = l2p_lock_of(self->ftl, zone_of_lba(self->ftl, lba, &entry));

	(void)req;
	read_locked(lock, entry, count, place);
	return count;
}

static uint32_t flat_conv_read_by_look(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place)
{
	uint32_t *entry;
	struct lt_lock *lock = l2p_lock_of(self->ftl, zone_of_lba(self->ftl, lba, &entry));

	(void)req;
	read_by_look(lock, entry, count, place);
	return count;
}

static uint32_t flat_conv_read_combined(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place)
{
	uint32_t *entry;
	struct lt_lock *lock = l2p_lock_of(self->ftl, zone_of_lba(self->ftl, lba, &entry));

	(void)req;
	lt_lock_run(lock, look_up_section, (uintptr_t)entry, (uintptr_t)place, count, 0);
	return count;
}

/* Each entry for itself: a reader compares each place with the reverse map, and the device promises no more than single sectors. */
static uint32_t flat_conv_read_unlocked(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place)
{
	uint32_t *entry;

	(void)req;
	zone_of_lba(self->ftl, lba, &entry);
	for (uint32_t i = 0; i < count; i++)
		place[i] = lt_load32(&entry[i]) & L2P_ADDRESS_MASK;
	return count;
}

static uint32_t flat_conv_hint(struct ftl *ftl, uint64_t lba)
{
	uint32_t *entry, place;
	struct lt_lock *lock = l2p_lock_of(ftl, zone_of_lba(ftl, lba, &entry));

	read_locked(lock, entry, 1, &place);
	return place;
}

static uint32_t flat_conv_hint_by_look(struct ftl *ftl, uint64_t lba)
{
	uint32_t *entry, place;
	struct lt_lock *lock = l2p_lock_of(ftl, zone_of_lba(ftl, lba, &entry));

	read_by_look(lock, entry, 1, &place);
	return place;
}

static uint32_t flat_conv_hint_unlocked(struct ftl *ftl, uint64_t lba)
{
	uint32_t *entry;

	zone_of_lba(ftl, lba, &entry);
	return lt_load32(entry) & L2P_ADDRESS_MASK;
}

static uint32_t flat_conv_peek(struct ftl *ftl, uint64_t lba)
{
	uint32_t *entry;

	zone_of_lba(ftl, lba, &entry);
	return *entry & L2P_ADDRESS_MASK;
}

static uint32_t flat_conv_mapped(struct ftl *ftl, const struct zone *zone, uint32_t *offset, struct l2p_sector *sector)
{
	uint32_t *entry, mapped = 0;

	zone_of_lba(ftl, zone->start, &entry);
	while (!mapped && *offset < ftl->capacity)
		for (uint32_t end = min_u32(ftl->capacity, *offset + HZ_MAP_PAGE_ENTRIES); *offset < end; ++*offset)
			if ((entry[*offset] & L2P_ADDRESS_MASK) != L2P_UNMAPPED)
				sector[mapped++] = (struct l2p_sector){ (uint32_t)zone->start + *offset,
									entry[*offset] & L2P_ADDRESS_MASK };
	return mapped;
}

static void flat_conv_preset(struct ftl *ftl, uint64_t lba, uint32_t place)
{
	uint32_t *entry;

	zone_of_lba(ftl, lba, &entry);
	*entry = place;
}

static const uint32_t *flat_conv_entry(struct ftl *ftl, uint64_t lba)
{
	uint32_t *entry;

	zone_of_lba(ftl, lba, &entry);
	return entry;
}

static uint64_t flat_scan_begin(struct ftl *ftl, struct arena *arena)
{
	(void)ftl;
	(void)arena;
	return 0;
}

static const char *flat_scan_end(struct ftl *ftl)
{
	(void)ftl;
	return NULL;
}

static uint64_t flat_stale(struct ftl *ftl)
{
	(void)ftl;
	return 0;
}

/* Nothing to replay: flat_mounted brings mount's findings into the table. */
static void flat_replay(struct ftl *ftl) { (void)ftl; }

static uint32_t flat_conv_blank(struct ftl *ftl, uint64_t lba)
{
	(void)ftl, (void)lba;
	return 0;
}

const struct l2p_ops l2p_flat = {
	.init = flat_init,
	.read = flat_read,
	.map_run = flat_map_run,
	.remap_run = flat_remap_run,
	.moved = flat_moved,
	.unmap = flat_unmap,
	.room = flat_room,
	.settled = flat_settled,
	.found = flat_found,
	.replay = flat_replay,
	.knows = l2p_knows_nothing,
	.mounted = flat_mounted,
	.check = flat_check,
};

const struct l2p_staged_ops l2p_flat_staged = {
	.read = flat_read,
	.peek = flat_staged_peek,
	.stage_run = flat_stage_run,
	.unstage_run = flat_unstage_run,
};

const struct l2p_conv_ops l2p_flat_conv = {
	.map = flat_conv_map,
	.move = flat_conv_move,
	.admits = flat_conv_admits,
	.unmap = flat_conv_unmap,
	.read = flat_conv_read,
	.hint = flat_conv_hint,
	.peek = flat_conv_peek,
	.mapped = flat_conv_mapped,
	.preset = flat_conv_preset,
	.entry = flat_conv_entry,
	.blank = flat_conv_blank,
	.scan_begin = flat_scan_begin,
	.scan_end = flat_scan_end,
	.stale = flat_stale,
};

static void flat_choose_lookups(struct ftl *ftl, struct arena *arena)
{
	bool unlocked = ftl->cfg->l2p_lookups == HZ_LOOKUPS_UNLOCKED, combined = !unlocked && lt_lock_combines(&ftl->l2p->shard[0]);
	struct l2p *l2p = ftl->l2p;
	struct flat_interfaces *chosen;

	if (!unlocked && !combined && !lt_lock_has_looks(&l2p->shard[0]))
		return;
	chosen = arena_alloc(arena, 1, sizeof(*chosen), "map");
	*chosen = (struct flat_interfaces){ l2p_flat, l2p_flat_staged, l2p_flat_conv };
	chosen->ops.read = chosen->staged.read = unlocked ? flat_read_unlocked : combined ? flat_read_combined : flat_read_by_look;
	chosen->conv.read = unlocked ? flat_conv_read_unlocked : combined ? flat_conv_read_combined : flat_conv_read_by_look;
	if (combined)
		chosen->conv.map = flat_conv_map_combined;
	else
		chosen->conv.hint = flat_conv_hint_by_look;
	if (unlocked) {
		chosen->conv.map = flat_conv_map_unlocked;
		chosen->conv.move = flat_conv_move_unlocked;
		chosen->conv.unmap = flat_conv_unmap_unlocked;
		chosen->conv.hint = flat_conv_hint_unlocked;
	}
	l2p->conv = &chosen->conv;
	if (l2p->sectors) /* sequential zones have no entries here */
		return;
	l2p->ops = &chosen->ops;
	l2p->staged = &chosen->staged;
}
