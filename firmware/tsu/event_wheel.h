/* Pending device-time events of one TSU thread: exact to the nanosecond, constant work per event for any number pending.
 *
 * * A hierarchical timing wheel (Varghese and Lauck, 1987) with 64 slots a level. A node is at the level of the highest 6-bit digit in
 * which its time differs from the wheel's, and moves down at most once per level; a single node in the earliest slot leaves directly.
 * Each slot knows its earliest time, so the next deadline is known exactly without walking a slot. Equal times come out in the order
 * they went in. One hart only; no cancel. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_EVENT_WHEEL_H
#define TSU_EVENT_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WHEEL_BITS = 6,
	WHEEL_SLOTS = 1 << WHEEL_BITS,
	WHEEL_LEVELS = (64 + WHEEL_BITS - 1) / WHEEL_BITS,
	WHEEL_TOP = (WHEEL_LEVELS - 1) * WHEEL_SLOTS, /* first slot of the highest level, which has the bits left over */
	WHEEL_ALL_SLOTS = WHEEL_TOP + (1 << (64 - (WHEEL_LEVELS - 1) * WHEEL_BITS))
};

struct wheel_node {
	struct wheel_node *next;
	uint64_t at_ns;
	void (*fire)(struct wheel_node *node);
};

struct wheel_slot {
	struct wheel_node *head, *tail;
	uint64_t earliest_ns;
};
struct event_wheel {
	uint64_t now_ns;  /* time of the last node taken out */
	uint64_t next_ns; /* time of the earliest node, while there is one */
	uint64_t steps;   /* nodes placed, for the proof of constant work */
	uint32_t levels;  /* bit per non-empty level */
	uint64_t filled[WHEEL_LEVELS];
	struct wheel_slot slot[WHEEL_ALL_SLOTS]; /* level by level */
};

/* A time before now_ns is kept in the node but comes out next. A node may be in one wheel once. */
void wheel_add(struct event_wheel *wheel, struct wheel_node *node, uint64_t at_ns);
/* The same before the harts run, with the clock going. */
void wheel_add_early(struct event_wheel *wheel, struct wheel_node *node, uint64_t at_ns);
/* Time of the earliest node, UINT64_MAX if there is none. */
static inline uint64_t wheel_next_ns(const struct event_wheel *wheel) { return wheel->levels ? wheel->next_ns : UINT64_MAX; }
/* Take out the earliest node; there must be one. */
struct wheel_node *wheel_take_first(struct event_wheel *wheel);
/* The same if it is due at now_ns, else NULL. */
static inline struct wheel_node *wheel_take(struct event_wheel *wheel, uint64_t now_ns)
{
	return wheel->levels && wheel->next_ns <= now_ns ? wheel_take_first(wheel) : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
