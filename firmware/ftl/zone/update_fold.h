/* Folding of what was written in place: when a full zone moves to another superblock (refresh.h), the copies come along, and their entries
 * are free again. It moves for that when it is finished, and when the budget becomes scarce.
 *
 * The zone's record names the number below which copies are dead. It is committed when the new superblock is complete, and the copies are
 * dropped when the record is on flash: until then mount puts them over either superblock, where they say nothing new. What is programmed
 * when a fold begins is programmed once more, with a higher number, unless it has arrived (update_write.c). All with the zone's lock held. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_UPDATE_FOLD_H
#define FTL_UPDATE_FOLD_H

#include <stdbool.h>

struct ftl_worker;
struct zone;

/* The zone was finished, or the budget is scarce. */
void update_fold_wanted(struct ftl_worker *self, struct zone *zone);
/* Its move begins; has ended with all sectors in the new superblock; has ended where it began. */
void update_fold_begin(struct zone *zone);
void update_fold_moved(struct ftl_worker *self, struct zone *zone);
void update_fold_cancel(struct zone *zone);
/* zone->updates.recording: has the record arrived? */
void update_fold_go_on(struct ftl_worker *self, struct zone *zone);
/* The zone's reset, or its way offline: all copies go, piece by piece. True: none is left. */
void update_forget_begin(struct zone *zone);
bool update_forget(struct ftl_worker *self, struct zone *zone);

#endif
