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
	say_number(&m, arena->bytes - arena->used);
	lt_fail(m.text);
}

/* Aligned by address, not by offset: a base of any alignment will do. */
void *arena_alloc_raw(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	size_t skip = -(uintptr_t)(arena->base + arena->used) & (LT_CACHE_LINE - 1);
	size_t left = arena->bytes - arena->used, total, apart = arena->apart;
	uint8_t *start;

	if (__builtin_mul_overflow(count, bytes, &total) || skip > left || total > left - skip || apart > left - skip - total)
		fail(arena, count, bytes, what);
	start = arena->base + arena->used + skip;
	arena->used += skip + total + apart;
	lt_guard(start, total, apart);
	return start;
}

void *arena_alloc(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	return memset(arena_alloc_raw(arena, count, bytes, what), 0, count * bytes);
}
