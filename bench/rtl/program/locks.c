/* The lock benchmark, on libthread's own kinds: each hart thinks, takes the lock, works, gives it back. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenes.h"

#include "kinds.h"
#include "lt/arena.h"

enum { HEAP_BYTES = 1 << 16, MOST_LINES = 16 };

static struct lt_lock lock;
static struct line guarded[MOST_LINES];
static LT_OWN_LINE uint64_t protected_sum;
static LT_OWN_LINE lt_word entered, left;
static uint8_t heap[HEAP_BYTES] __attribute__((aligned(64)));
static struct {
	LT_OWN_LINE uint64_t sections, instructions;
} of[MOST_HARTS];

static const struct lt_lock_ops *const ops_of_kind[LT_LOCK_KINDS] = {
#define LT_LOCK_KIND(constant, name, ...) &lt_##name##_ops,
#include "lt/lock_kinds.def"
};

/* lt_lock_acquire and lt_lock_release without statistics. */
static __attribute__((noinline)) void acquire(struct lt_lock *l, struct lt_lock_node *node)
{
	l = l->at;
	if (!l->ops->enter(l, node))
		l->ops->wait(l, node);
}

static __attribute__((noinline)) void release(struct lt_lock *l, struct lt_lock_node *node)
{
	l = l->at;
	l->ops->release(l, node);
}

static void make_lock(enum lt_lock_kind kind, unsigned harts)
{
	struct arena arena = arena_of(heap, sizeof(heap), 0);

	lt_clh_harts_init(&arena, harts);
	lt_cohort_harts_init(harts, 0);
	lock.at = &lock;
	lock.kind = (uint8_t)kind;
	lock.ops = ops_of_kind[kind];
	if (lock.ops->init)
		lock.ops->init(&lock, &arena);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

struct work {
	uint64_t think, spread, section, lines; /* turns of spend(), and number of lines that a section writes besides its sum */
};

static void operate(const struct work *work, uint64_t *random)
{
	struct lt_lock_node node;

	spend(work->think - work->spread + next_random(random) % (2 * work->spread + 1));
	acquire(&lock, &node);
	protected_sum++;
	for (uint64_t i = 0; i < work->lines; i++)
		guarded[i].word[0]++;
	spend(work->section);
	release(&lock, &node);
}

static void operate_until_end(unsigned hart, uint64_t begin, uint64_t end)
{
	const struct work work = {BLOCK->of_scene[1], BLOCK->of_scene[2], BLOCK->of_scene[3], BLOCK->of_scene[4]};
	uint64_t random = (BLOCK->of_scene[7] + hart + 1) * 0x9e3779b97f4a7c15ull | 1, sections = 0, all = 0, now;

	do {
		operate(&work, &random);
		now = cycles_of_lap(all);
		sections += now >= begin && now < end;
		all++;
	} while (now < end);
	of[hart].sections = sections;
	lt_add(&entered, all);
}

/* [0] kind, [1] think, [2] spread, [3] section, [4] lines, [5] cycles before counting begins, [6]
 * cycles of counting, [7] seed. Reports whether mutual exclusion held, and each hart's sections
 * completed while counting. */
void scene_lock(unsigned hart, unsigned harts)
{
	uint64_t begin;

	if (hart == 0)
		make_lock((enum lt_lock_kind)BLOCK->of_scene[0], harts);
	begin = begin_together(harts) + BLOCK->of_scene[5];
	operate_until_end(hart, begin, begin + BLOCK->of_scene[6]);
	if (lt_add(&left, 1) + 1 < harts)
		machine_rest();
	tell(protected_sum == lt_load(&entered));
	for (unsigned h = 0; h < harts; h++)
		tell(of[h].sections);
	machine_end(BLOCK, 0);
}
