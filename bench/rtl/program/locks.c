/* The lock benchmark, on libthread's own kinds: each hart thinks, takes the lock, works, gives it back. A work is a change of the guarded
 * lines, or a look-up in them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenes.h"

#include "kinds.h"
#include "lt/arena.h"

enum { HEAP_BYTES = 1 << 16, MOST_LINES = 16 };

static struct lt_lock lock;
static struct line guarded[MOST_LINES];
static LT_OWN_LINE uint64_t protected_sum;
static LT_OWN_LINE lt_word entered, left, torn;
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

/* lt_lock_read and lt_lock_read_end. */
static __attribute__((noinline)) void acquire_to_read(struct lt_lock *l, struct lt_lock_node *node)
{
	const struct lt_reader_ops *readers = l->ops->readers;

	if (!readers)
		acquire(l, node);
	else if (!readers->enter(l, node))
		readers->wait(l, node);
}

static __attribute__((noinline)) void release_of_reader(struct lt_lock *l, struct lt_lock_node *node)
{
	const struct lt_reader_ops *readers = l->ops->readers;

	if (readers)
		readers->release(l, node);
	else
		release(l, node);
}

/* lt_lock_run under kind `combine`. */
static __attribute__((noinline)) void run(struct lt_lock *l, lt_lock_section *section, uint64_t a, uint64_t b, uint64_t c)
{
	struct lt_lock_node node = {.section = section, .argument = {a, b, c}};

	if (!lt_mcs_enter(l, &node)) {
		lt_mcs_wait(l, &node);
		if (lt_combine_was_run(&node))
			return;
	}
	lt_combine_release(l, &node, lt_combine_run(&node));
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
	uint64_t think, spread, section, lines; /* turns of spend(), and number of lines that a section writes besides its sum, or reads */
	uint64_t looks;                         /* of 16 works */
};

static inline void change(uint64_t lines, uint64_t turns)
{
	protected_sum++;
	for (uint64_t i = 0; i < lines; i++)
		guarded[i].word[0]++;
	spend(turns);
}

static void change_section(const uint64_t *argument) { change(argument[0], argument[1]); }

static inline uint64_t word_of(uint64_t line) { return *(const volatile uint64_t *)guarded[line].word; }

/* Do all lines that belong together have the same word? */
static inline bool look_up(uint64_t lines, uint64_t turns)
{
	uint64_t first = word_of(0), differ = 0;

	for (uint64_t i = 1; i < lines; i++)
		differ |= word_of(i) ^ first;
	spend(turns);
	return differ == 0;
}

static void look_up_section(const uint64_t *argument) { *(bool *)(uintptr_t)argument[2] = look_up(argument[0], argument[1]); }

static bool look_up_locked(const struct work *work)
{
	struct lt_lock_node node;
	bool same;

	acquire_to_read(&lock, &node);
	same = look_up(work->lines, work->section);
	release_of_reader(&lock, &node);
	return same;
}

/* lt_lock_look and lt_lock_looked of kind `seq`; locked if a writer came in between. */
static bool look_up_unlocked(const struct work *work)
{
	uint64_t sequence = lt_load(&lock.serving);
	bool same;

	if (sequence & 1)
		return look_up_locked(work);
	same = look_up(work->lines, work->section);
	return lt_load_last(&lock.serving) == sequence ? same : look_up_locked(work);
}

static bool look_up_combined(const struct work *work)
{
	bool same = false;

	run(&lock, look_up_section, work->lines, work->section, (uintptr_t)&same);
	return same;
}

static void operate_by_looking(const struct work *work)
{
	bool same = lock.kind == LT_LOCK_SEQ       ? look_up_unlocked(work)
		    : lock.kind == LT_LOCK_COMBINE ? look_up_combined(work)
						   : look_up_locked(work);

	if (!same)
		lt_add(&torn, 1);
}

static void operate_by_changing(const struct work *work)
{
	struct lt_lock_node node;

	if (lock.kind == LT_LOCK_COMBINE) {
		run(&lock, change_section, work->lines, work->section, 0);
		return;
	}
	acquire(&lock, &node);
	change(work->lines, work->section);
	release(&lock, &node);
}

/* Returns whether it was a change. */
static bool operate(const struct work *work, uint64_t *random)
{
	uint64_t drawn = next_random(random);
	bool looks = drawn >> 60 < work->looks;

	spend(work->think - work->spread + drawn % (2 * work->spread + 1));
	if (looks)
		operate_by_looking(work);
	else
		operate_by_changing(work);
	return !looks;
}

static void operate_until_end(unsigned hart, uint64_t begin, uint64_t end)
{
	const struct work work = {BLOCK->of_scene[1], BLOCK->of_scene[2], BLOCK->of_scene[3], BLOCK->of_scene[4], BLOCK->of_scene[8]};
	uint64_t random = (BLOCK->of_scene[7] + hart + 1) * 0x9e3779b97f4a7c15ull | 1, sections = 0, changes = 0, all = 0, now;

	do {
		changes += operate(&work, &random);
		now = cycles_of_lap(all);
		sections += now >= begin && now < end;
		all++;
	} while (now < end);
	of[hart].sections = sections;
	lt_add(&entered, changes);
}

/* [0] kind, [1] think, [2] spread, [3] section, [4] lines, [5] cycles before counting begins, [6]
 * cycles of counting, [7] seed, [8] how many of 16 works look up. Reports whether mutual
 * exclusion held, and each hart's works completed while counting. */
void scene_lock(unsigned hart, unsigned harts)
{
	uint64_t begin;

	if (hart == 0)
		make_lock((enum lt_lock_kind)BLOCK->of_scene[0], harts);
	begin = begin_together(harts) + BLOCK->of_scene[5];
	operate_until_end(hart, begin, begin + BLOCK->of_scene[6]);
	if (lt_add(&left, 1) + 1 < harts)
		machine_rest();
	tell(protected_sum == lt_load(&entered) && lt_load(&torn) == 0);
	for (unsigned h = 0; h < harts; h++)
		tell(of[h].sections);
	machine_end(BLOCK, 0);
}
