/* Runs patterns of flash operations on a TSU: as one list, or each plane's one after the other. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "patterns/flash_patterns.h"

/* A pattern whose operations come at several times counts from so long after it was submitted: from then on the way to the TSU is behind
 * all of them, on harts whose instructions take time too. */
#define PATTERN_LEAD_NS 1000000

struct pattern_job {
	struct tsu_txn txn;
	struct flash_patterns *patterns;
	struct hz_flashbench_group *group; /* NULL: an erase before the pattern */
	uint32_t plane, left;              /* left: of a loop, still to come behind this one */
};

static const struct lt_thread pattern_owner = { "patterns", 0 };

static uint32_t planes_of(const struct hz_flashbench_group *group) { return group->channels * group->dies * group->planes; }

/* Number over the device of the i-th plane of a group. */
static uint32_t plane_at(const struct flash_patterns *patterns, const struct hz_flashbench_group *group, uint32_t i)
{
	const struct hz_device_config *cfg = &patterns->block->cfg;
	uint32_t plane = i % group->planes, die = i / group->planes % group->dies, channel = i / group->planes / group->dies;

	return (channel * cfg->chips_per_channel * cfg->dies_per_chip + die) * cfg->planes_per_die + plane;
}

static ppa_t pattern_place(const struct flash_patterns *patterns, uint32_t plane, uint32_t block, uint32_t sector)
{
	const struct hz_shape *shape = &patterns->map->shape;
	uint32_t unit = block < patterns->map->slc_superblocks ? patterns->block->cfg.slc_program_sectors : shape->unit_sectors;

	return ppa_make(patterns->map, block, (sector / unit * shape->planes + plane) * unit + sector % unit);
}

static uint64_t came_ns(const struct tsu_txn *txn) { return txn->not_before_ns > txn->submit_ns ? txn->not_before_ns : txn->submit_ns; }

static void note_pattern_end(struct flash_patterns *patterns, const struct pattern_job *job)
{
	struct hz_flashbench_group *group = job->group;
	uint64_t took_ns = job->txn.end_ns - came_ns(&job->txn), end_ns = job->txn.end_ns - patterns->begin_ns;

	group->failed += job->txn.status != NAND_OK;
	if (group->done++ == 0 || took_ns < group->least_ns)
		group->least_ns = took_ns;
	if (took_ns > group->most_ns)
		group->most_ns = took_ns;
	group->together_ns += took_ns;
	if (end_ns > group->end_ns)
		group->end_ns = end_ns;
}

static void begin_pattern(struct flash_patterns *patterns);
static void submit_pattern(struct flash_patterns *patterns);
static void pattern_job_done(struct tsu_txn *txn);

static void after_last(struct flash_patterns *patterns)
{
	if (patterns->preparing) {
		submit_pattern(patterns);
	} else if (patterns->now == patterns->last) {
		patterns->finished(patterns);
	} else {
		patterns->now++;
		begin_pattern(patterns);
	}
}

static void submit_next(struct pattern_job *job)
{
	const struct hz_flashbench_group *group = job->group;
	uint32_t i = group->count - job->left;

	job->left--;
	job->txn.next = NULL;
	job->txn.not_before_ns = 0;
	job->txn.ppa = pattern_place(job->patterns, job->plane, group->block, group->first + i * group->step);
	tsu_submit(job->patterns->tsu, &job->txn);
}

static void pattern_job_done(struct tsu_txn *txn)
{
	struct pattern_job *job = (struct pattern_job *)txn;
	struct flash_patterns *patterns = job->patterns;

	patterns->block->transactions++;
	if (job->group)
		note_pattern_end(patterns, job);
	if (job->left)
		submit_next(job);
	else if (--patterns->under_way == 0)
		after_last(patterns);
}

static struct pattern_job *make_job(struct flash_patterns *patterns, uint32_t op, uint32_t plane, uint32_t block, uint32_t sector,
				    uint32_t sectors)
{
	struct pattern_job *job = &patterns->jobs[patterns->under_way++];

	*job = (struct pattern_job){ .patterns = patterns,
				     .plane = plane,
				     .txn = { .owner = (struct lt_thread *)(uintptr_t)&pattern_owner,
					      .done = pattern_job_done,
					      .next = &job[1].txn,
					      .op = (uint8_t)op,
					      .sectors = (uint16_t)sectors,
					      .oob = op == TSU_PROGRAM ? patterns->oob : NULL,
					      .ppa = pattern_place(patterns, plane, block, sector) } };
	return job;
}

static void submit_jobs(struct flash_patterns *patterns)
{
	patterns->jobs[patterns->under_way - 1].txn.next = NULL;
	tsu_submit_list(patterns->tsu, &patterns->jobs[0].txn);
}

/* By number first: the dies come in turn, and the planes of a die side by side. */
static void make_group(struct flash_patterns *patterns, struct hz_flashbench_group *group, uint64_t base_ns)
{
	uint32_t rounds = patterns->now->loop ? 1 : group->count;

	for (uint32_t i = 0; i < rounds; i++)
		for (uint32_t plane = 0; plane < planes_of(group); plane++) {
			struct pattern_job *job = make_job(patterns, group->op, plane_at(patterns, group, plane), group->block,
							   group->first + i * group->step, group->sectors);

			job->group = group;
			job->txn.not_before_ns = base_ns ? base_ns + group->after_ns : 0;
			job->left = group->count - rounds;
		}
}

static void submit_pattern(struct flash_patterns *patterns)
{
	struct hz_flashbench_group *group = patterns->now->group;
	uint64_t later_ns = 0, base_ns = 0;

	patterns->preparing = false;
	for (unsigned i = 0; i < HZ_FLASHBENCH_GROUPS; i++)
		later_ns |= group[i].after_ns;
	if (later_ns)
		base_ns = clock_now_ns() + PATTERN_LEAD_NS;
	for (unsigned i = 0; i < HZ_FLASHBENCH_GROUPS; i++)
		make_group(patterns, &group[i], base_ns);
	submit_jobs(patterns);
	patterns->begin_ns = base_ns ? base_ns : patterns->jobs[0].txn.submit_ns; /* nothing comes back before this handler has ended */
}

/* Erases what the pattern programs. */
static void begin_pattern(struct flash_patterns *patterns)
{
	for (unsigned i = 0; i < HZ_FLASHBENCH_GROUPS && patterns->now->fresh; i++) {
		struct hz_flashbench_group *group = &patterns->now->group[i];

		for (uint32_t plane = 0; group->op == HZ_FLASHBENCH_PROGRAM && plane < planes_of(group); plane++)
			make_job(patterns, TSU_ERASE, plane_at(patterns, group, plane), group->block, 0, 0);
	}
	patterns->preparing = patterns->under_way != 0;
	if (patterns->preparing)
		submit_jobs(patterns);
	else
		submit_pattern(patterns);
}

static void on_pattern_start(struct lt_event *event)
{
	begin_pattern((struct flash_patterns *)((char *)event - offsetof(struct flash_patterns, start)));
}

void flash_patterns_run(struct flash_patterns *patterns, uint32_t first, uint32_t last, void (*finished)(struct flash_patterns *patterns))
{
	patterns->now = &patterns->block->pattern[first];
	patterns->last = &patterns->block->pattern[last];
	patterns->finished = finished;
	lt_post(&pattern_owner, &patterns->start, on_pattern_start);
}

static uint32_t most_jobs(const struct hz_flashbench *block)
{
	uint32_t most = 0;

	for (uint64_t i = 0; i < block->patterns; i++) {
		const struct hz_flashbench_group *group = block->pattern[i].group;
		uint32_t jobs = 0;

		for (unsigned g = 0; g < HZ_FLASHBENCH_GROUPS; g++)
			jobs += planes_of(&group[g]) * group[g].count;
		if (jobs > most)
			most = jobs;
	}
	return most;
}

void flash_patterns_init(struct flash_patterns *patterns, struct arena *arena, struct tsu *tsu, const struct flash_map *map,
			 struct hz_flashbench *block)
{
	*patterns = (struct flash_patterns){ .tsu = tsu, .map = map, .block = block };
	patterns->jobs = arena_alloc(arena, most_jobs(block) + 1, sizeof(struct pattern_job), "jobs of patterns");
	patterns->oob = arena_alloc(arena, HZ_MAX_UNIT_SECTORS, sizeof(struct hz_oob), "records of patterns");
	for (unsigned i = 0; i < HZ_MAX_UNIT_SECTORS; i++)
		patterns->oob[i] = (struct hz_oob){ .sequence = 1, .kind = HZ_OOB_DATA };
}
