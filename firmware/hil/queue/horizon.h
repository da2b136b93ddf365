/* Virtual clock: the host's promised lower bound on arrivals, and the tree of the next queue. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_QUEUE_HORIZON_H
#define HIL_QUEUE_HORIZON_H

#include <stdint.h>

#include "hil/host/control_link.h"
#include "hil/queue/completion.h"

/* Tournament tree: the smallest key among up to 64 queues; ties go to the lowest number. Its depth follows the highest queue ever set: a
 * step for each doubling, 6 at most, to update; one to ask. */

enum { TOURNAMENT_LEAVES = 64 };
#define TOURNAMENT_NEVER UINT64_MAX

struct tournament {
	uint64_t key[TOURNAMENT_LEAVES];
	/* [1] is the root; node n has children 2n and 2n+1, or two leaves if it is in the lower half of the tree. */
	uint8_t winner[TOURNAMENT_LEAVES];
	unsigned leaves; /* in use, a power of two; the others were never set */
};

void tournament_init(struct tournament *t); /* all keys TOURNAMENT_NEVER */
void tournament_set(struct tournament *t, unsigned leaf, uint64_t key);
static inline unsigned tournament_first(const struct tournament *t) { return t->winner[1]; }
static inline uint64_t tournament_first_key(const struct tournament *t) { return t->key[t->winner[1]]; }

/* The host's queues under the virtual clock: the limit of device time by the host's promises (protocol/shm.h). */

struct horizon {
	struct host_view view;
	struct queues *queues;
	struct completion *completion;
	struct control_link *link;
	const struct life *life;
	struct tournament next;    /* next device time of queue i + 1 */
	uint64_t open_mask;        /* queues that hold time */
	uint64_t stand_ns;         /* with no queue open, time stands still from here */
	uint64_t seen_since_heard; /* queues looked at since the message waiting on the link was heard */
	uint64_t reach_ns;         /* from the host to here: doorbell and fetch */
};

/* All objects passed by pointer must outlive it. */
void horizon_init(struct horizon *horizon, struct queues *queues, struct completion *completion, struct control_link *link,
		  const struct life *life, uint64_t reach_ns);

#endif
