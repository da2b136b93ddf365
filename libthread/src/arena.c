/* Boot-time bump allocator. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/arena.h"

#include <string.h>

#include "lt/arch.h"

struct message {
	char text[160];
	size_t used;
};

static void say(struct message *m, const char *text)
{
	while (*text && m->used + 1 < sizeof(m->text))
		m->text[m->used++] = *text++;
}

static void say_number(struct message *m, size_t n)
{
	char digits[24];
	unsigned at = sizeof(digits) - 1;

	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	say(m, digits + at);
}

static void fail(const struct arena *arena, size_t count, size_t bytes, const char *what)
{
	struct message m = { .used = 0 };

	say(&m, "out of memory for ");
	say(&m, what);
	say(&m, ": wanted ");
	say_number(&m, count);
	say(&m, " x ");
	say_number(&m, bytes);
	say(&m, " bytes, left ");
	say_number(&m, arena->bytes - arena->lent - arena->used);
	lt_fail(m.text);
}

/* --- ledger --- */

static struct arena_line *line_of_use(struct arena_ledger *ledger, const char *owner, const char *what, enum arena_use use)
{
	for (uint32_t i = ledger->count; i-- > 0;) {
		struct arena_line *line = &ledger->line[i];

		if (line->use == use && strcmp(line->what, what) == 0 && strcmp(line->owner, owner) == 0)
			return line;
	}
	if (ledger->count == ARENA_LINES)
		lt_fail("the ledger of memory has too few lines");
	ledger->line[ledger->count] = (struct arena_line){ owner, what, 0, use };
	return &ledger->line[ledger->count++];
}

/* Books take no device time. */
static void note(const struct arena *arena, size_t bytes, const char *what, enum arena_use use)
{
	if (!arena->ledger)
		return;
	clock_freeze();
	line_of_use(arena->ledger, arena->owner ? arena->owner : "", what, use)->bytes += bytes;
	clock_thaw();
}

void arena_part_is_model(struct arena *arena, size_t bytes, const char *what)
{
	note(arena, 0 - bytes, what, ARENA_STATE);
	note(arena, bytes, what, ARENA_MODEL);
}

/* --- memory --- */

static size_t total_of(const struct arena *arena, size_t count, size_t bytes, size_t skip, const char *what)
{
	size_t left = arena->bytes - arena->lent - arena->used, total;

	if (__builtin_mul_overflow(count, bytes, &total) || skip > left || total > left - skip || arena->apart > left - skip - total)
		fail(arena, count, bytes, what);
	return total;
}

/* Aligned by address, not by offset: a base of any alignment will do. */
static void *carve(struct arena *arena, size_t count, size_t bytes, const char *what, enum arena_use use)
{
	size_t skip = -(uintptr_t)(arena->base + arena->used) & (LT_CACHE_LINE - 1);
	size_t total = total_of(arena, count, bytes, skip, what);
	uint8_t *start = arena->base + arena->used + skip;

	arena->used += skip + total + arena->apart;
	lt_guard(start, total, arena->apart);
	note(arena, total, what, use);
	return start;
}

static void *zeroed(const struct arena *arena, uint8_t *start, size_t total)
{
	return start + total > arena->base + arena->blank ? memset(start, 0, total) : start;
}

static void *carve_zeroed(struct arena *arena, size_t count, size_t bytes, const char *what, enum arena_use use)
{
	return zeroed(arena, carve(arena, count, bytes, what, use), count * bytes);
}

void *arena_alloc(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	return carve_zeroed(arena, count, bytes, what, ARENA_STATE);
}

void *arena_alloc_table(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	return carve_zeroed(arena, count, bytes, what, ARENA_TABLE);
}

void *arena_alloc_data(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	return carve_zeroed(arena, count, bytes, what, ARENA_DATA);
}

static void *carve_raw(struct arena *arena, size_t count, size_t bytes, const char *what, enum arena_use use)
{
	void *start = carve(arena, count, bytes, what, use);

	lt_spoil(start, count * bytes);
	return start;
}

void *arena_alloc_raw(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	return carve_raw(arena, count, bytes, what, ARENA_DATA);
}

void *arena_alloc_raw_table(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	return carve_raw(arena, count, bytes, what, ARENA_TABLE);
}

void *arena_alloc_model(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	return carve_zeroed(arena, count, bytes, what, ARENA_MODEL);
}

static void *lend(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	size_t total = total_of(arena, count, bytes, 0, what);
	uintptr_t end = (uintptr_t)(arena->base + arena->bytes - arena->lent) - arena->apart;
	uint8_t *start = (uint8_t *)((end - total) & ~(uintptr_t)(LT_CACHE_LINE - 1));

	if (start < arena->base + arena->used)
		fail(arena, count, bytes, what);
	arena->lent = (size_t)(arena->base + arena->bytes - start);
	lt_guard(start, total, arena->apart);
	note(arena, total, what, ARENA_LOAN);
	return start;
}

void *arena_borrow_raw(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	void *start = lend(arena, count, bytes, what);

	lt_spoil(start, count * bytes);
	return start;
}

void *arena_borrow(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	return zeroed(arena, lend(arena, count, bytes, what), count * bytes);
}

void arena_return_all(struct arena *arena)
{
	size_t left = arena->bytes - arena->lent;

	lt_guard(arena->base + left, 0, arena->lent);
	arena->lent = 0;
	if (arena->blank > left)
		arena->blank = left;
}
