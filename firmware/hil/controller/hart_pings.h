/* Rounds over all harts: each hart publishes its account and counters, behind everything that was posted to it before. One round at a
 * time; others wait for their turn, for several processes may read the same log at once. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HART_PINGS_H
#define HIL_HART_PINGS_H

#include "hil/seam/controller_ops.h"
#include "lt/event.h"
#include "nvme.h"

struct arena;
struct hart_pings;
struct hart_ping {
	struct lt_event event;
	struct lt_thread thread;
	struct hart_pings *pings;
};
typedef void hart_pings_fn(void *ctx);

/* What an admin command wants of a round. */
struct hart_round {
	struct nvme_sqe sqe;
	void (*begin)(void);   /* before the first hart is asked; null: nothing */
	hart_pings_fn *pinged; /* all are back: it answers sqe */
};
enum { HART_ROUNDS = 16 };

struct hart_pings {
	const struct controller_ops *device;
	const struct lt_thread *home; /* where pings come back to */
	void *ctx;
	hart_pings_fn *over;    /* after each round: its owner may wait for that */
	struct hart_ping *ping; /* one for each hart */
	uint32_t out;           /* pings under way; 0: no round is, and none waits */
	uint32_t head, rounds;
	struct hart_round round[HART_ROUNDS]; /* a ring: the one under way, then those that wait */
};

/* After lt_harts_init. */
void hart_pings_init(struct hart_pings *pings, struct arena *arena, const struct controller_ops *device, const struct lt_thread *home,
		     void *ctx, hart_pings_fn *over);
/* Begins a round, at once or after those that came before it. Not while hart_pings_full. */
void hart_pings_start(struct hart_pings *pings, const struct hart_round *round);

static inline bool hart_pings_full(const struct hart_pings *pings) { return pings->rounds == HART_ROUNDS; }
/* The command of the round under way. */
static inline const struct nvme_sqe *hart_pings_command(const struct hart_pings *pings) { return &pings->round[pings->head].sqe; }

#endif
