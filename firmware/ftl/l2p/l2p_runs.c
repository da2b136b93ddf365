/* Runs of staged sectors: taken, extended, cut. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_runs.h"

#include "l2p/l2p.h"
#include "l2p/l2p_bits.h"
#include "lt/arena.h"

static uint32_t run_take(struct l2p_runs *runs)
{
	uint32_t index = l2p_take_bit(runs->taken, runs->words);

	if (index != L2P_NO_BIT)
		lt_add(&runs->used, 1);
	return index;
}

static void run_give(struct l2p_runs *runs, uint32_t index)
{
	l2p_give_bit(runs->taken, index);
	lt_add(&runs->used, (uint64_t)-1);
}

bool l2p_runs_scarce(const struct ftl *ftl)
{
	const struct l2p_runs *runs = &ftl->l2p->runs;

	return lt_load(&runs->used) > runs->count - runs->count / 4;
}

ppa_t l2p_run_place(const struct l2p_run *run, uint32_t offset)
{
	return run->ppa == L2P_UNMAPPED ? run->ppa : run->ppa + (offset - run->offset);
}

static bool overlaps(const struct l2p_run *run, uint32_t offset, uint32_t count)
{
	return run->offset < offset + count && offset < run->offset + run->count;
}

const struct l2p_run *l2p_runs_next(const struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, uint32_t *at)
{
	const struct l2p_runs *runs = &ftl->l2p->runs;

	*at = *at == L2P_RUN_NONE ? runs->of_zone[ext->index] : runs->run[*at].next;
	while (*at != L2P_RUN_NONE && !overlaps(&runs->run[*at], offset, count))
		*at = runs->run[*at].next;
	return *at == L2P_RUN_NONE ? NULL : &runs->run[*at];
}

const struct l2p_run *l2p_run_at(const struct ftl *ftl, const struct extent *ext, uint32_t offset)
{
	uint32_t at = L2P_RUN_NONE;

	return l2p_runs_next(ftl, ext, offset, 1, &at);
}

static bool run_new(struct l2p_runs *runs, const struct extent *ext, struct l2p_run run)
{
	uint32_t index = run_take(runs);

	if (index == L2P_RUN_NONE)
		return false;
	run.next = runs->of_zone[ext->index];
	runs->run[index] = run;
	runs->of_zone[ext->index] = index;
	return true;
}

static bool continues(const struct l2p_run *run, uint32_t offset, ppa_t ppa)
{
	return run->offset + run->count == offset && (run->ppa == L2P_UNMAPPED ? ppa == L2P_UNMAPPED : run->ppa + run->count == ppa);
}

bool l2p_runs_add(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa)
{
	struct l2p_runs *runs = &ftl->l2p->runs;
	uint32_t at = runs->of_zone[ext->index];
	bool added = true;

	while (at != L2P_RUN_NONE && !continues(&runs->run[at], offset, ppa))
		at = runs->run[at].next;
	if (at != L2P_RUN_NONE)
		runs->run[at].count += count;
	else
		added = run_new(runs, ext, (struct l2p_run){ .offset = offset, .count = count, .ppa = ppa });
	if (added)
		l2p_log_add(ftl, count);
	return added;
}

/* Sectors of the run behind `end`, which become one of their own. */
static bool split_off(struct ftl *ftl, const struct extent *ext, const struct l2p_run *run, uint32_t end)
{
	struct l2p_run rest = { .offset = end, .count = run->offset + run->count - end, .ppa = l2p_run_place(run, end) };

	if (run_new(&ftl->l2p->runs, ext, rest))
		return true;
	l2p_log_remove(ftl, rest.count);
	return false;
}

bool l2p_runs_cut(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count)
{
	struct l2p_runs *runs = &ftl->l2p->runs;
	uint32_t *link = &runs->of_zone[ext->index];
	bool whole = true;

	while (*link != L2P_RUN_NONE) {
		uint32_t index = *link, end = offset + count;
		struct l2p_run *run = &runs->run[index];
		uint32_t run_end = run->offset + run->count;

		if (!overlaps(run, offset, count)) {
			link = &run->next;
		} else if (run->offset < offset) {
			if (run_end > end)
				whole &= split_off(ftl, ext, run, end);
			l2p_log_remove(ftl, min_u32(run_end, end) - offset);
			run->count = offset - run->offset;
			link = &run->next;
		} else if (run_end > end) {
			l2p_log_remove(ftl, end - run->offset);
			run->ppa = l2p_run_place(run, end);
			run->count = run_end - end;
			run->offset = end;
			link = &run->next;
		} else {
			l2p_log_remove(ftl, run->count);
			*link = run->next;
			run_give(runs, index);
		}
	}
	return whole;
}

/* Twice what the stages of one buffer need at most, and some for the collector. */
void l2p_runs_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p_runs *runs = &ftl->l2p->runs;

	runs->words = (2 * ftl->flush_sectors + L2P_WORD_BITS - 1) / L2P_WORD_BITS + 1;
	runs->count = runs->words * L2P_WORD_BITS;
	runs->run = arena_alloc(arena, runs->count, sizeof(*runs->run), "runs of staged sectors");
	runs->taken = arena_alloc(arena, runs->words, sizeof(*runs->taken), "runs of staged sectors");
	runs->of_zone = arena_alloc(arena, ftl->zone_count, sizeof(uint32_t), "runs of staged sectors");
	memset(runs->of_zone, 0xff, ftl->zone_count * sizeof(uint32_t));
}

const char *l2p_runs_check(const struct ftl *ftl, uint64_t *sectors)
{
	const struct l2p_runs *runs = &ftl->l2p->runs;
	uint64_t listed = 0;

	*sectors = 0;
	for (uint32_t z = 0; z < ftl->zone_count; z++)
		for (uint32_t i = runs->of_zone[z]; i != L2P_RUN_NONE; i = runs->run[i].next, listed++) {
			const struct l2p_run *run = &runs->run[i];

			*sectors += run->count;
			if (!run->count || run->offset < ftl->extent[z]->placed || run->offset + run->count > ftl->extent[z]->landed)
				return "a run of staged sectors reaches beyond what is staged";
			if (!(lt_load(&runs->taken[i / L2P_WORD_BITS]) >> i % L2P_WORD_BITS & 1))
				return "a run of staged sectors is in use and free";
		}
	return listed == lt_load(&runs->used) ? NULL : "a run of staged sectors was lost";
}
