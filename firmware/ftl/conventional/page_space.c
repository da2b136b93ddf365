/* The page space's shared state: places, their validity, and construction. */
#include "conventional/page_space.h"

#include "base/context.h"

struct zone *page_zone_of(struct ftl *ftl, uint32_t place)
{
	return &ftl->zones[ftl->zone_count + ppa_superblock(ftl->map, place)];
}

uint32_t page_offset_of(const struct ftl *ftl, uint32_t place)
{
	return ppa_offset(ftl->map, place);
}

bool page_lba_exists(struct ftl *ftl, uint64_t lba)
{
	return lba - zone_at(ftl, lba)->start < ftl->page.capacity;
}

static lt_word *bits_of(struct ftl *ftl, uint32_t place, uint64_t *bit)
{
	uint32_t offset = page_offset_of(ftl, place);

	*bit = 1ull << (offset & (PAGE_VALID_BITS - 1));
	return &ftl->page.zone[ppa_superblock(ftl->map, place)].bits[offset / PAGE_VALID_BITS];
}

bool page_space_valid(struct ftl *ftl, uint32_t place)
{
	uint64_t bit;
	lt_word *word = bits_of(ftl, place, &bit);

	return lt_load(word) & bit;
}

/* The number of resets in the same word as the bit: a reset between the look at its time and the change makes the change fail. */
void page_space_invalidate(struct ftl *ftl, uint32_t place, uint64_t known)
{
	struct page_zone *info = &ftl->page.zone[ppa_superblock(ftl->map, place)];
	uint64_t bit, seen;
	lt_word *word = bits_of(ftl, place, &bit);

	do {
		seen = lt_load(word);
		if (!(seen & bit) || lt_load(&info->reset_sequence) > known)
			return;
	} while (!lt_cas(word, seen, seen & ~bit));
	lt_add(&info->valid, (uint64_t)-1);
}

void page_mark_valid(struct zone *zone, uint32_t offset, uint32_t count)
{
	struct page_zone *info = zone->page;

	lt_add(&info->valid, count);
	while (count) {
		uint32_t at = offset & (PAGE_VALID_BITS - 1), part = PAGE_VALID_BITS - at;

		if (part > count)
			part = count;
		lt_or(&info->bits[offset / PAGE_VALID_BITS], ((1ull << part) - 1) << at);
		offset += part;
		count -= part;
	}
}

void page_forget(struct ftl *ftl, struct page_zone *zone)
{
	for (uint32_t i = 0; i < ftl->page.capacity; i += PAGE_VALID_BITS)
		lt_store(&zone->bits[i / PAGE_VALID_BITS], 0);
	lt_store(&zone->valid, 0);
	memset(zone->lba, 0xff, ftl->page.capacity * sizeof(*zone->lba));
}

void page_list_erased(struct page_space *page, uint32_t number)
{
	uint32_t at = page->head + (uint32_t)lt_load(&page->free);

	page->erased[at < page->zones ? at : at - page->zones] = number;
	lt_add(&page->free, 1);
}

uint32_t page_take_erased(struct page_space *page)
{
	uint32_t number = page->erased[page->head];

	page->head = page->head + 1 == page->zones ? 0 : page->head + 1;
	lt_add(&page->free, (uint64_t)-1);
	return number;
}

static void zone_init(struct ftl *ftl, struct arena *arena, uint32_t number)
{
	struct page_zone *info = &ftl->page.zone[number];
	uint32_t words = (ftl->page.capacity + PAGE_VALID_BITS - 1) / PAGE_VALID_BITS;

	ftl->zones[ftl->zone_count + number].page = info;
	info->base = ppa_make(ftl->map, number, 0);
	lt_preset(&info->stream, PAGE_NO_STREAM);
	info->bits = arena_alloc(arena, words, sizeof(*info->bits), "validity of places");
	info->lba = arena_alloc(arena, ftl->page.capacity, sizeof(*info->lba), "reverse map");
	memset(info->lba, 0xff, ftl->page.capacity * sizeof(*info->lba));
}

void page_space_init(struct ftl *ftl, struct arena *arena)
{
	struct page_space *page = &ftl->page;
	const struct hz_shape *shape = &ftl->shape;

	page->zones = shape->backing_zones;
	page->capacity = (uint32_t)shape->zone_capacity_sectors;
	page->end = shape->conventional_zones * shape->zone_size_sectors;
	page->hot_age = shape->conventional_zones * shape->zone_capacity_sectors / 2;
	lt_preset(&page->clock, page->hot_age);
	if (!page->zones)
		return;
	lt_lock_init(&page->lock, HZ_LC_BLOCK, 2);
	for (unsigned s = 0; s < PAGE_STREAMS; s++)
		page->buffer[s] = ftl->cfg->write_buffers + s % ftl->cfg->conventional_buffers;
	page->zone = arena_alloc(arena, page->zones, sizeof(*page->zone), "backing zones");
	page->erased = arena_alloc(arena, page->zones, sizeof(*page->erased), "erased backing zones");
	for (uint32_t i = 0; i < page->zones; i++)
		zone_init(ftl, arena, i);
	page_gc_init(ftl, arena);
}
