/* Race check: compares every access with the latest ones of the same word by other harts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "race.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "guest/symbol.h"

enum { MAX_RACES = 256 };

struct race {
	uint64_t address, pc[2];
	uint8_t hart[2], access[2];
};

static struct vc_vector clocks[VC_MAX_HARTS];   /* each hart's knowledge of the others */
static struct vc_vector acquired[VC_MAX_HARTS]; /* read without acquire: known after the next fence */
static struct vc_vector released[VC_MAX_HARTS]; /* known at the last fence: passed on by a write without release */
static struct race races[MAX_RACES];
static unsigned race_count;

static uint32_t *own_epoch(const struct vc_hart *h)
{
	uint32_t *epoch = &clocks[h->index].at[h->index];

	if (!*epoch)
		*epoch = 1;
	return epoch;
}

void vc_race_read_from(struct vc_hart *h, uint64_t address, bool acquire)
{
	vc_vector_join(acquire ? &clocks[h->index] : &acquired[h->index], vc_vector_of(address));
}

void vc_race_write_to(struct vc_hart *h, uint64_t address, bool release)
{
	uint32_t *epoch = own_epoch(h);

	vc_vector_join(vc_vector_of(address), release ? &clocks[h->index] : &released[h->index]);
	if (release)
		++*epoch;
}

void vc_race_fence(struct vc_hart *h)
{
	uint32_t *epoch = own_epoch(h);

	vc_vector_join(&clocks[h->index], &acquired[h->index]);
	released[h->index] = clocks[h->index];
	++*epoch;
}

static const char *access_name(unsigned access)
{
	static const char *const names[] = { "load", "store", "atomic load", "atomic store" };

	return names[access & 3];
}

static void describe(const struct race *race, char *text, size_t bytes)
{
	char first[160], second[160], word[160];

	snprintf(text, bytes, "hart %u %s at %s, then hart %u %s at %s, of %s", race->hart[0], access_name(race->access[0]),
		 vc_symbol(race->pc[0], first, sizeof(first)), race->hart[1], access_name(race->access[1]),
		 vc_symbol(race->pc[1], second, sizeof(second)), vc_symbol(race->address, word, sizeof(word)));
}

/* One report for a pair of instructions, for all harts and words. */
static void found(const struct race *race)
{
	char text[600];

	for (unsigned i = 0; i < race_count; i++)
		if (!memcmp(races[i].pc, race->pc, sizeof(race->pc)))
			return;
	if (race_count == MAX_RACES)
		return;
	races[race_count++] = *race;
	describe(race, text, sizeof(text));
	vc_say("RACE: %s", text);
}

static bool conflicts(const struct vc_cell *cell, const struct vc_cell *now)
{
	return cell->epoch && cell->hart != now->hart && (cell->bytes & now->bytes) && ((cell->access | now->access) & VC_RACE_STORE) &&
	       !(cell->access & now->access & VC_RACE_ATOMIC);
}

/* The cell to overwrite: one superseded by the new access, else a free one, else one ordered before
 * it (a third hart may not know it), else round robin. */
static struct vc_cell *victim(struct vc_cell *cells, const struct vc_cell *now)
{
	for (unsigned i = 0; i < VC_SHADOW_CELLS; i++)
		if (cells[i].epoch && cells[i].hart == now->hart && (cells[i].bytes & ~now->bytes) == 0 &&
		    (cells[i].access == now->access || now->access == VC_RACE_STORE))
			return &cells[i];
	for (unsigned i = 0; i < VC_SHADOW_CELLS; i++)
		if (!cells[i].epoch)
			return &cells[i];
	for (unsigned i = 0; i < VC_SHADOW_CELLS; i++)
		if (cells[i].epoch <= clocks[now->hart].at[cells[i].hart])
			return &cells[i];
	return &cells[now->epoch % VC_SHADOW_CELLS];
}

static void access_word(uint64_t word, const struct vc_cell *now)
{
	struct vc_cell *cells = vc_shadow_of(word);

	for (unsigned i = 0; i < VC_SHADOW_CELLS; i++) {
		const struct vc_cell *cell = &cells[i];

		if (conflicts(cell, now) && cell->epoch > clocks[now->hart].at[cell->hart])
			found(&(struct race){ word, { cell->pc, now->pc }, { cell->hart, now->hart }, { cell->access, now->access } });
	}
	*victim(cells, now) = *now;
}

void vc_race_access(struct vc_hart *h, uint64_t pc, uint64_t address, unsigned bytes, unsigned access)
{
	struct vc_cell now = { .epoch = *own_epoch(h), .hart = (uint8_t)h->index, .access = (uint8_t)access, .pc = pc };

	while (bytes) {
		unsigned offset = address & 7, here = bytes < 8 - offset ? bytes : 8 - offset;

		now.bytes = (uint8_t)(((1u << here) - 1) << offset);
		access_word(address - offset, &now);
		address += here;
		bytes -= here;
	}
}

unsigned vc_race_count(void) { return race_count; }

void vc_race_write_json(FILE *out)
{
	char text[600];

	for (unsigned i = 0; i < race_count; i++) {
		describe(&races[i], text, sizeof(text));
		fprintf(out, "%s\n    \"%s\"", i ? "," : "", text);
	}
}

/* Shadow pages: a table from guest page to its cells. */

enum { PAGE_SHIFT = 12, CELLS_PER_PAGE = (1 << PAGE_SHIFT) / 8 * VC_SHADOW_CELLS };

struct page {
	uint64_t tag; /* guest page number plus 1 */
	struct vc_cell *cells;
};

static struct vc_table pages = { .entry_bytes = sizeof(struct page) };

struct vc_cell *vc_shadow_of(uint64_t address)
{
	struct page *page = vc_table_at(&pages, (address >> PAGE_SHIFT) + 1);

	if (!page->cells) {
		page->cells = calloc(CELLS_PER_PAGE, sizeof(*page->cells));
		if (!page->cells)
			abort();
	}
	return &page->cells[(address >> 3 & ((1 << PAGE_SHIFT) / 8 - 1)) * VC_SHADOW_CELLS];
}

/* Vector clocks of words used for synchronisation. */

struct entry {
	uint64_t tag; /* address >> 3, plus 1 */
	struct vc_vector clock;
};

static struct vc_table words = { .entry_bytes = sizeof(struct entry) };

struct vc_vector *vc_vector_of(uint64_t address) { return &((struct entry *)vc_table_at(&words, (address >> 3) + 1))->clock; }
