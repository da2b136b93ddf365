/* Checkpoints: sectors of the SLC log from which mount knows how new the table pages of conventional zones are, so that it need not read
 * the OOB of all backing zones.
 *
 * A checkpoint says: when a pass of the log began, the next sequence number was `before`; when the pass had ended, the copies of these table
 * pages had these sequence numbers. A pass takes every page that is dirty when it begins, and what a copy names is durable before the copy
 * is written. So of every sector of a backing zone whose sequence is below `before` a copy that is as new as the checkpoint says
 * knows, or of a newer one of the same LBA. That stays true whatever happens later: an old checkpoint makes mount read more, never wrong.
 *
 * The log's job writes them when it has written a few times as many table pages as there are checkpoints. They lie in SLC like
 * table pages, with indices behind those (l2p_table.all). */
#ifndef FTL_L2P_CHECKPOINT_H
#define FTL_L2P_CHECKPOINT_H

#include "device_config.h"

struct ftl;
struct ftl_worker;

enum { L2P_CHECKPOINT_EVERY = 4 /* table pages of conventional zones, for each checkpoint */ };

struct l2p_checkpoint {
	uint64_t before;
	uint32_t sequence[HZ_CHECKPOINT_PAGES]; /* by index of the table page: the low 32 bits; 0: it has no copy */
};
HZ_ASSERT_SIZE(struct l2p_checkpoint, HZ_SECTOR_BYTES);

/* Of the log's job. */
struct l2p_checkpoints {
	uint64_t before;              /* next sequence number when the pass began */
	uint32_t unrecorded;          /* table pages written since the last checkpoints */
	uint32_t next;                /* the next one to be written; as many as there are: none is */
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
