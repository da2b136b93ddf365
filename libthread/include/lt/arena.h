/* Boot-time bump allocator: every structure is carved once from one region; nothing is ever freed, nothing is allocated
 * later. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_ARENA_H
#define LT_ARENA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct arena {
	uint8_t *base;
	size_t bytes, used;
	size_t apart; /* bytes left behind each piece that nobody may touch, which a host program's sanitizer checks; 0 on a device */
};

/* Zeroed memory, aligned to a cache line. Too little left: lt_fail names the caller's `what` and both sizes. */
void *arena_alloc(struct arena *arena, size_t count, size_t bytes, const char *what);
/* The same without the zeros, which take the harts' time: for what is written before it is read. */
void *arena_alloc_raw(struct arena *arena, size_t count, size_t bytes, const char *what);

#ifdef __cplusplus
}
#endif
#endif
