/* Virtual clock: the lower bound that the host promises on arrivals, and the tree that finds the next queue. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_QUEUE_HORIZON_H
#define HIL_QUEUE_HORIZON_H

#include <stdint.h>

#include "hil/host/control_link.h"
#include "hil/queue/completion.h"

/* Tournament tree: which of up to 64 queues has the smallest key; ties go to the lowest number. It is as deep as the highest queue that
 * was ever set needs: a step for each doubling, 6 at most, to update; one to ask. */

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

/* The host's queues under the virtual clock: how far device time may go, given what the host has promised (protocol/shm.h). */

struct horizon {
	struct host_view view;
	struct queues *queues;
	struct completion *completion;
	struct control_link *link;
	const struct life *life;
	struct tournament next;    /* first device time at which queue i + 1 matters */
	uint64_t open_mask;        /* queues that hold time */
	uint64_t stand_ns;         /* with no queue open, time stands still from here */
	uint64_t seen_since_heard; /* queues that were looked at since the message that waits on the link was heard */
	uint64_t reach_ns;         /* from the host to here: doorbell and fetch */
};

/* What is named must outlive it. */
void horizon_init(struct horizon *horizon, struct queues *queues, struct completion *completion, struct control_link *link,
		  const struct life *life, uint64_t reach_ns);

#endif
