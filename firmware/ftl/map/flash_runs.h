/* Runs: where staged sectors lie, as far as no table page on flash says so yet. A run is some sectors of a zone that lie one after another
 * in SLC, since most that are staged together do. It is the part of the L2P log that the SLC log needs; the log counts its sectors.
 *
 * There are few, whatever the device: a zone has less than a flush unit of staged sectors, and a pass of the log brings them into table
 * pages. What finds no free one makes its table page a lost one (MAP_LOST), which the next pass rebuilds from the SLC log's reverse map.
 * So nobody waits for a run, least of all the SLC collector.
 *
 * Protected by the L2P lock of the zone's shard; free ones are bits of shared words. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MAP_FLASH_RUNS_H
#define FTL_MAP_FLASH_RUNS_H

#include "lt/arch.h"
#include "nand/flash_addr.h"

struct arena;
struct ftl;
struct extent;

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
/* The run that has this sector, or NULL. */
const struct l2p_run *l2p_run_at(const struct ftl *ftl, const struct extent *ext, uint32_t offset);
/* Address of a sector of the run. */
ppa_t l2p_run_place(const struct l2p_run *run, uint32_t offset);
/* [offset, offset + count) leave the log. False: a run would have had to become two, and its end was lost. */
bool l2p_runs_cut(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count);
/* They lie from ppa on, and no run has them. False: no run was free. */
bool l2p_runs_add(struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, ppa_t ppa);
/* A run with sectors of [offset, offset + count), other than those that were looked at before: *at, L2P_RUN_NONE to begin; or NULL. The
 * runs of the zone must not change in between. */
const struct l2p_run *l2p_runs_next(const struct ftl *ftl, const struct extent *ext, uint32_t offset, uint32_t count, uint32_t *at);

/* Harts idle: NULL, or what is wrong; *sectors = how many the runs have. */
const char *l2p_runs_check(const struct ftl *ftl, uint64_t *sectors);

#endif
