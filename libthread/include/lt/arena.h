/* Boot-time bump allocator: every structure is carved once from one region; nothing is ever freed, nothing is allocated later.
 *
 * It can keep a ledger: owner, name and size of each allocation, and the kind of memory that a controller would use. The allocator
 * itself writes the ledger, so nothing is missing. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_ARENA_H
#define LT_ARENA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Uses of memory in a controller. */
enum arena_use {
	ARENA_STATE, /* state, lists and caches, touched by every access */
	ARENA_TABLE, /* whole tables */
	ARENA_DATA,  /* data on their way: of no use to anybody while the device mounts */
	ARENA_MODEL, /* nothing: it exists only because the device is emulated, or to measure it */
	ARENA_LOAN,  /* mount, before the rest is in use (arena_borrow) */
	ARENA_USES
};

/* All allocations of one owner with one name. */
struct arena_line {
	const char *owner, *what;
	size_t bytes; /* as requested; alignment is in no line */
	enum arena_use use;
};
enum { ARENA_LINES = 192 };
struct arena_ledger {
	uint32_t count;
	struct arena_line line[ARENA_LINES];
};

struct arena {
	uint8_t *base;
	size_t bytes, used;
	size_t apart;                /* guard bytes behind each piece, checked by a host program's sanitizer; 0 on a device */
	size_t lent;                 /* bytes at the end that are lent */
	size_t blank;                /* bytes from the start that are zero until handed out: no part of them was ever lent and returned */
	const char *owner;           /* owner of the present allocations, for the ledger */
	struct arena_ledger *ledger; /* NULL: none */
};

/* Of this memory, with nothing in it. */
static inline struct arena arena_of(void *base, size_t bytes, size_t apart)
{
	struct arena arena = { (uint8_t *)base, bytes, 0, apart, 0, 0, NULL, NULL };

	return arena;
}

/* Of zeroed memory: allocations are not cleared again, and unused memory is never touched. */
static inline struct arena arena_of_blank(void *base, size_t bytes)
{
	struct arena arena = arena_of(base, bytes, 0);

	arena.blank = bytes;
	return arena;
}

/* Zeroed memory, aligned to a cache line. On shortage lt_fail reports the caller's `what` and both sizes. State. */
void *arena_alloc(struct arena *arena, size_t count, size_t bytes, const char *what);
/* The same for tables, and for data. */
void *arena_alloc_table(struct arena *arena, size_t count, size_t bytes, const char *what);
void *arena_alloc_data(struct arena *arena, size_t count, size_t bytes, const char *what);
/* … without the zeros, for memory that is written before it is read: clearing costs the harts time unless memory is blank. Data, and a
 * table. */
void *arena_alloc_raw(struct arena *arena, size_t count, size_t bytes, const char *what);
void *arena_alloc_raw_table(struct arena *arena, size_t count, size_t bytes, const char *what);
/* The same for memory that no controller would have. */
void *arena_alloc_model(struct arena *arena, size_t count, size_t bytes, const char *what);
/* That many bytes of the last allocation are no controller's: counters inside a structure. */
void arena_part_is_model(struct arena *arena, size_t bytes, const char *what);
/* Until the next arena_return_all: from the other end; and without the zeros. */
void *arena_borrow(struct arena *arena, size_t count, size_t bytes, const char *what);
void *arena_borrow_raw(struct arena *arena, size_t count, size_t bytes, const char *what);
void arena_return_all(struct arena *arena);

#ifdef __cplusplus
}
#endif
#endif
