/* A round over all harts: each publishes its account and counters, behind everything that was posted to it before. One round at a time. */
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

struct hart_pings {
	const struct controller_ops *device;
	const struct lt_thread *home; /* where pings come back to */
	void *ctx;
	hart_pings_fn *over;   /* after each round: its owner may wait for that */
	hart_pings_fn *pinged; /* of this round, once all are back */
	struct nvme_sqe sqe;   /* the admin command that waits for them */
	uint32_t out;
	struct hart_ping *ping; /* one for each hart */
};

/* After lt_harts_init. */
void hart_pings_init(struct hart_pings *pings, struct arena *arena, const struct controller_ops *device, const struct lt_thread *home,
		     void *ctx, hart_pings_fn *over);
/* Begins a round for the command sqe, at whose end `pinged` answers it. Returns an NVMe status. */
uint16_t hart_pings_start(struct hart_pings *pings, const struct nvme_sqe *sqe, hart_pings_fn *pinged);

#endif
