/* The bits of deallocated LBAs. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "places/trims.h"

#include "lt/arena.h"

static lt_word *trim_word(const struct ftl *ftl, uint64_t lba) { return &ftl->trims->bits[lba / TRIM_WORD_BITS]; }

/* Until the first deallocation the bits are not read: most of them are in untouched memory. */
bool trims_has(const struct ftl *ftl, uint64_t lba)
{
	return lt_load(&ftl->trims->used) && lt_load(trim_word(ftl, lba)) >> (lba % TRIM_WORD_BITS) & 1;
}

void trims_want_page(struct ftl *ftl, uint32_t page)
{
	if (!lt_swap(&ftl->trims->page[page].unsaved, 1))
		lt_add(&ftl->trims->unsaved, 1);
}

bool trims_take_page(struct ftl *ftl, uint32_t page)
{
	if (!lt_load(&ftl->trims->page[page].unsaved) || !lt_swap(&ftl->trims->page[page].unsaved, 0))
		return false;
	lt_add(&ftl->trims->unsaved, (uint64_t)-1);
	return true;
}

/* Of [lba, lba + count): how many share a word, and their bits in it. */
static uint32_t word_part(uint64_t lba, uint32_t count, uint64_t *bits)
{
	uint32_t at = lba % TRIM_WORD_BITS, part = min_u32(TRIM_WORD_BITS - at, count);

	*bits = (part == TRIM_WORD_BITS ? UINT64_MAX : (1ull << part) - 1) << at;
	return part;
}

/* Bits first: the taker of the page then sees them. */
void trims_set(struct ftl *ftl, uint64_t lba, uint32_t count)
{
	uint64_t bits;

	if (!lt_load(&ftl->trims->used))
		lt_store(&ftl->trims->used, 1);
	for (uint32_t part; count; lba += part, count -= part) {
		part = word_part(lba, count, &bits);
		lt_or(trim_word(ftl, lba), bits);
		trims_want_page(ftl, (uint32_t)(lba / HZ_TRIM_PAGE_LBAS));
	}
}

void trims_clear(struct ftl *ftl, uint64_t lba, uint32_t count)
{
	uint64_t bits;

	for (uint32_t part; count; lba += part, count -= part) {
		part = word_part(lba, count, &bits);
		if (lt_load(trim_word(ftl, lba)) & bits)
			lt_and(trim_word(ftl, lba), ~bits);
	}
}

static uint32_t words_from(const struct ftl *ftl, uint32_t page)
{
	uint64_t words = (ftl->conventional_end + TRIM_WORD_BITS - 1) / TRIM_WORD_BITS - (uint64_t)page * TRIM_PAGE_WORDS;

	return words < TRIM_PAGE_WORDS ? (uint32_t)words : TRIM_PAGE_WORDS;
}

void trims_store(const struct ftl *ftl, uint32_t page, uint64_t *image)
{
	memset(image, 0, HZ_SECTOR_BYTES);
	for (uint32_t i = 0; i < words_from(ftl, page); i++)
		image[i] = lt_load(&ftl->trims->bits[(size_t)page * TRIM_PAGE_WORDS + i]);
}

void trims_load(struct ftl *ftl, uint32_t page, const uint64_t *image)
{
	for (uint32_t i = 0; i < words_from(ftl, page); i++)
		lt_store(&ftl->trims->bits[(size_t)page * TRIM_PAGE_WORDS + i], image[i]);
	lt_store(&ftl->trims->used, 1);
}

void trims_forget(struct ftl *ftl, uint64_t lba)
{
	trims_clear(ftl, lba, 1);
	trims_want_page(ftl, (uint32_t)(lba / HZ_TRIM_PAGE_LBAS));
}

bool trims_dead(const struct ftl *ftl, uint64_t lba, uint64_t sequence)
{
	return trims_has(ftl, lba) && sequence < ftl->trims->page[lba / HZ_TRIM_PAGE_LBAS].sequence;
}

void trims_init(struct ftl *ftl, struct arena *arena)
{
	struct trims *trims = arena_alloc(arena, 1, sizeof(*trims), "deallocated LBAs");

	ftl->trims = trims;
	trims->bits = arena_alloc_table(arena, (ftl->conventional_end + TRIM_WORD_BITS - 1) / TRIM_WORD_BITS, sizeof(*trims->bits),
					"bits of deallocated LBAs");
	trims->page = arena_alloc(arena, ftl->shape.trim_pages, sizeof(*trims->page), "deallocated LBAs");
	for (uint32_t i = 0; i < ftl->shape.trim_pages; i++)
		trims->page[i].ppa = PPA_NONE;
}
