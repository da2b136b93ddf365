/* Runs: addresses of staged sectors not yet in a table page on flash. A run is some consecutive sectors of a zone, also consecutive in
 * SLC, as sectors staged together mostly are. It is the SLC log's part of the L2P log; the log counts its sectors.
 *
 * There are few runs, on any device: a zone has less than a flush unit of staged sectors, and a pass of the log merges them into table
 * pages. When none is free, the table page becomes a lost one (MAP_LOST), and the next pass rebuilds it from the SLC log's reverse map.
 * So no one waits for a run, least of all the SLC collector.
 *
 * Protected by the L2P lock of the zone's shard; free runs are bits of shared words. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_FLASH_RUNS_H
#define FTL_MAP_FLASH_RUNS_H

#include "lt/arch.h"
#include "nand/flash_addr.h"

struct arena;
struct ftl;
struct zone;

#define L2P_RUN_NONE UINT32_MAX

struct l2p_run {
	uint32_t offset, count; /* in the zone */
	ppa_t ppa;              /* of the first; L2P_UNMAPPED: all are lost */
	uint32_t next;          /* of the zone */
};
struct l2p_runs {
	uint32_t count, words;
	struct l2p_run *run;
	uint32_t *of_zone; /* first run of each zone */
	lt_word *taken;    /* bit i of word w: run 64 w + i is in use */
	lt_word used;      /* runs in use */
};

void l2p_runs_init(struct ftl *ftl, struct arena *arena);
/* Most are in use: a pass of the log is due. Any hart, no lock. */
bool l2p_runs_scarce(const struct ftl *ftl);

/* --- shard lock held from here on --- */
/* The run of this sector, or NULL. */
const struct l2p_run *l2p_run_at(const struct ftl *ftl, const struct zone *zone, uint32_t offset);
/* Address of a sector of the run. */
ppa_t l2p_run_place(const struct l2p_run *run, uint32_t offset);
/* [offset, offset + count) leave the log. False: a run would have had to become two, and its end was lost. */
bool l2p_runs_cut(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count);
/* They lie from ppa on, and no run has them. False: no run was free. */
bool l2p_runs_add(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
/* Iterate over runs with sectors of [offset, offset + count): *at is the position, L2P_RUN_NONE to begin; NULL: no more. The runs of the
 * zone must not change in between. */
const struct l2p_run *l2p_runs_next(const struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, uint32_t *at);

/* NULL, or the fault; *sectors = sectors in runs. Harts idle. */
const char *l2p_runs_check(const struct ftl *ftl, uint64_t *sectors);

#endif
