/* Checkpoints: how far mount may believe the table pages of conventional zones, so that it need not read the OOB records of all backing
 * zones.
 *
 * A checkpoint holds two things: `before`, the next sequence number when a pass of the log began; and, of each table page, the low bits of
 * the sequence number that its copy on flash had when the pass had ended (map_page_version), by which mount knows whether it found that
 * copy or an older one.
 *
 * What it promises: take any sector of a backing zone with a sequence number below `before`. The table page of its LBA, in the copy that
 * the checkpoint recorded or in a younger one, names that sector or a newer version of the LBA. For a pass writes every page that had
 * changes when it began, and what a copy names is durable before the copy is written. The promise stays true whatever happens later: an
 * old checkpoint makes mount read more, never wrong.
 *
 * Each is a sector of the SLC log, with an index behind those of the table pages (l2p_table.all). The log's job writes them all anew when
 * it has written L2P_CHECKPOINT_EVERY times as many table pages as there are checkpoints. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_CHECKPOINT_H
#define FTL_L2P_CHECKPOINT_H

#include "device_config.h"

struct ftl;
struct ftl_worker;

enum { L2P_CHECKPOINT_EVERY = 4 /* table pages of conventional zones, for each checkpoint */ };

struct l2p_checkpoint {
	uint64_t before;
	uint32_t copy[HZ_CHECKPOINT_PAGES]; /* by index of the table page: 2^29 + the low 29 bits of the number; 0: it has no copy */
};
HZ_ASSERT_SIZE(struct l2p_checkpoint, HZ_SECTOR_BYTES);

/* Of the log's job. */
struct l2p_checkpoints {
	uint64_t before;     /* next sequence number when the pass began */
	uint32_t unrecorded; /* table pages written since the last checkpoints */
	uint32_t next;       /* the next one to be written; as many as there are: none is */
};

/* A pass begins. */
void l2p_checkpoint_pass(struct ftl *ftl);
/* The pass has written every page: makes the next checkpoint's image and returns its index; UINT32_MAX: none is due. */
uint32_t l2p_checkpoint_next(struct ftl *ftl, uint8_t *image);
/* No L2P lock held: bring the table pages up to date and checkpoint them now. */
void l2p_checkpoint_now(struct ftl_worker *self);
/* Mount, copies found: the number below which every sector of a backing zone is known to the copies; 0: nobody can tell. */
uint64_t l2p_checkpoint_before(struct ftl *ftl, uint8_t *image);

#endif
