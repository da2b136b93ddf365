/* CLH queue lock (Craig; Landin and Hagersten, 1993): each waiter spins on its predecessor's cell, and keeps that cell afterwards.
 *
 * A cell outlives its acquisition, so it cannot lie on the caller's stack: each hart owns one spare cell (it can wait for one lock at a
 * time), and puts it into the lock's queue in exchange for its predecessor's. The queue's tail has the cell's use count in the unused
 * bits of the address, so that lt_lock_try cannot mistake a reused cell for the old one (ABA). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

struct lt_clh_cell {
	LT_OWN_LINE lt_word busy; /* 1 until its user has released the lock */
	uint64_t uses;            /* by its present owner only */
};

static struct {
	LT_OWN_LINE struct lt_clh_cell *cell;
} spare[HZ_MAX_HARTS];

#define ADDRESS_MASK (((1ull << 48) - 1) & ~(uint64_t)(LT_CACHE_LINE - 1))

static struct lt_clh_cell *cell_of(uint64_t tail) { return (struct lt_clh_cell *)(uintptr_t)(tail & ADDRESS_MASK); }

/* 22 bits of use count: 16 above the address, 6 below. */
static uint64_t tail_of(struct lt_clh_cell *cell)
{
	return (uintptr_t)cell | (cell->uses << 48) | ((cell->uses >> 16) & (LT_CACHE_LINE - 1));
}

void lt_clh_harts_init(struct arena *arena, unsigned harts)
{
	for (unsigned i = 0; i < harts; i++)
		spare[i].cell = arena_alloc(arena, 1, sizeof(struct lt_clh_cell), "clh cell of a hart");
}

static void clh_init(struct lt_lock *lock, struct arena *arena)
{
	lt_preset(&lock->word, tail_of(arena_alloc(arena, 1, sizeof(struct lt_clh_cell), "clh cell of a lock")));
}

static struct lt_clh_cell *my_cell(void)
{
	struct lt_clh_cell *cell = spare[lt_hart_id()].cell;

	cell->uses++;
	lt_preset(&cell->busy, 1);
	return cell;
}

/* The predecessor has released: its cell has no other reader any more, it is this hart's spare from now on. */
static void take_over(struct lt_lock_node *node, struct lt_clh_cell *mine, struct lt_clh_cell *predecessor)
{
	spare[lt_hart_id()].cell = predecessor;
	node->value = (uintptr_t)mine;
}

static bool clh_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	struct lt_clh_cell *mine = my_cell();

	node->value = lt_swap(&lock->word, tail_of(mine));
	if (lt_load(&cell_of(node->value)->busy))
		return false;
	take_over(node, mine, cell_of(node->value));
	return true;
}

static void clh_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	struct lt_clh_cell *predecessor = cell_of(node->value);

	(void)lock;
	lt_spin_until_not(&predecessor->busy, 1);
	take_over(node, spare[lt_hart_id()].cell, predecessor);
}

static bool clh_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	uint64_t tail = lt_load(&lock->word);
	struct lt_clh_cell *mine;

	if (lt_load(&cell_of(tail)->busy))
		return false;
	mine = my_cell();
	if (!lt_cas(&lock->word, tail, tail_of(mine)))
		return false;
	take_over(node, mine, cell_of(tail));
	return true;
}

static void clh_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	(void)lock;
	lt_store(&cell_of(node->value)->busy, 0);
}

const struct lt_lock_ops lt_clh_ops = { clh_init, clh_enter, clh_wait, clh_try, clh_release, NULL };
