/* Hierarchical timing wheel. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/event_wheel.h"

#include "base.h"
#include "lt/bits.h"

/* Late nodes are placed as if due now. */
static uint64_t place_ns(const struct event_wheel *wheel, const struct wheel_node *node)
{
	return node->at_ns > wheel->now_ns ? node->at_ns : wheel->now_ns;
}

static void wheel_place(struct event_wheel *wheel, struct wheel_node *node)
{
	uint64_t at = place_ns(wheel, node), differs = at ^ wheel->now_ns;
	unsigned level = 0, digit;
	struct wheel_slot *slot;

	while (differs >>= WHEEL_BITS)
		level++;
	digit = at >> (level * WHEEL_BITS) & (WHEEL_SLOTS - 1);
	slot = &wheel->slot[level * WHEEL_SLOTS + digit];
	node->next = NULL;
	if (!slot->head) {
		slot->head = node;
		slot->earliest_ns = at;
		wheel->filled[level] |= 1ull << digit;
		wheel->levels |= 1u << level;
	} else {
		slot->tail->next = node;
		if (at < slot->earliest_ns)
			slot->earliest_ns = at;
	}
	slot->tail = node;
	wheel->steps++;
}

static inline __attribute__((always_inline)) void add(struct event_wheel *wheel, struct wheel_node *node, uint64_t at_ns)
{
	uint64_t at;

	node->at_ns = at_ns;
	at = place_ns(wheel, node);
	if (!wheel->levels || at < wheel->next_ns)
		wheel->next_ns = at;
	wheel_place(wheel, node);
}

HZ_FROZEN void wheel_add(struct event_wheel *wheel, struct wheel_node *node, uint64_t at_ns) { add(wheel, node, at_ns); }
void wheel_add_early(struct event_wheel *wheel, struct wheel_node *node, uint64_t at_ns) { add(wheel, node, at_ns); }

/* Nodes of a lower level share more leading digits with now_ns, so they come before those of any higher level. */
static struct wheel_slot *earliest_slot(struct event_wheel *wheel, unsigned *level, unsigned *digit)
{
	*level = lt_lowest_bit(wheel->levels);
	*digit = lt_lowest_bit(wheel->filled[*level]);
	return &wheel->slot[*level * WHEEL_SLOTS + *digit];
}

static void empty_slot(struct event_wheel *wheel, struct wheel_slot *slot, unsigned level, unsigned digit)
{
	slot->head = slot->tail = NULL;
	wheel->filled[level] &= ~(1ull << digit);
	if (!wheel->filled[level])
		wheel->levels &= ~(1u << level);
}

/* Time has moved to the slot's earliest node, now at level 0; its neighbours move down at least one level. */
static void spread_slot(struct event_wheel *wheel, struct wheel_slot *slot, unsigned level, unsigned digit)
{
	struct wheel_node *node = slot->head;

	empty_slot(wheel, slot, level, digit);
	while (node) {
		struct wheel_node *next = node->next;

		wheel_place(wheel, node);
		node = next;
	}
}

HZ_FROZEN struct wheel_node *wheel_take_first(struct event_wheel *wheel)
{
	unsigned level, digit;
	struct wheel_slot *slot = earliest_slot(wheel, &level, &digit);
	struct wheel_node *node;

	wheel->now_ns = wheel->next_ns;
	if (level > 0 && slot->head->next) {
		spread_slot(wheel, slot, level, digit);
		slot = earliest_slot(wheel, &level, &digit);
	}
	node = slot->head;
	slot->head = node->next;
	if (!slot->head) {
		empty_slot(wheel, slot, level, digit);
		if (wheel->levels)
			wheel->next_ns = earliest_slot(wheel, &level, &digit)->earliest_ns;
	}
	return node;
}
