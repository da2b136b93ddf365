/* Boot-time bump allocator. */
#include "lt/arena.h"

#include <string.h>

#include "lt/arch.h"

void *arena_alloc(struct arena *arena, size_t count, size_t bytes, const char *what)
{
	size_t start = (arena->used + LT_CACHE_LINE - 1) & ~(size_t)(LT_CACHE_LINE - 1);
	size_t total = count * bytes;

	if (start > arena->bytes || total > arena->bytes - start)
		lt_fail(what);
	arena->used = start + total;
	return memset(arena->base + start, 0, total);
}
