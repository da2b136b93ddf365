/* How the HIL knows what the host has done to its queues: by doorbells under the real clock (doorbells.c), by promises under the virtual
 * one (horizon.c), by the first HIL hart on all others (far_view.c). A view is the first member of the struct behind it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HOST_VIEW_H
#define HIL_HOST_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct completion_queue;
struct submission_queue;

struct host_view {
	/* An entry that is posted carries the time at which the host has it, so it need not be posted at that time. */
	bool dated;
	/* One turn's share of the register link: while the device is busy, often enough for a host that wants to reset it. Clock frozen. */
	void (*listen)(struct host_view *view, bool idle);
	/* Brings queues.ready_mask up to device time now, waiting for the host where that needs it. False: gave up. Clock frozen. */
	bool (*settle)(struct host_view *view);
	/* The end of a turn; unless it was busy, waits for something to do, at most until deadline_ns. Clock frozen. */
	void (*rest)(struct host_view *view, bool busy, uint64_t deadline_ns);
	/* Our own doing has changed what the host may do next with sq: a fetch, a completion. Clock frozen. */
	void (*fetched)(struct host_view *view, struct submission_queue *sq);
	void (*completed)(struct host_view *view, struct submission_queue *sq);
	/* A completion of sq is posted next, behind no order point. NULL on the first HIL hart. Clock frozen. */
	void (*announce)(struct host_view *view, struct submission_queue *sq);
	/* The ring is full: frees what the host has consumed. False: no room; completion_unpark is called once there may be some. */
	bool (*make_room)(struct host_view *view, struct completion_queue *cq);
	/* No command is taken from sq any more. */
	void (*forget)(struct host_view *view, struct submission_queue *sq);
};

#endif
