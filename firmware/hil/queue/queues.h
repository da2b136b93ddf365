/* Queue pairs of one HIL hart: what a submission and a completion queue are, and which of them exist, are ready, hold parked completions.
 * Id 0 is the admin pair. One hart touches them, so there are no locks. The first HIL hart has all queues, also those
 * that another hart serves; that one has a copy of its own (relay.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_QUEUES_H
#define HIL_QUEUES_H

#include "hil/host/host.h"
#include "hil/queue/completion_ring.h"
#include "hil/queue/host_view.h"
#include "hil/queue/queue_client.h"
#include "lt/hart.h"

enum { QUEUES = HZ_MAX_IO_QUEUES + 1 };

struct command;
struct queues;
struct relays;

struct submission_queue {
	const struct nvme_sqe *ring;
	struct hz_queue_clock *clock;
	struct completion_queue *cq;
	uint64_t fetched;     /* commands taken since creation */
	uint64_t progress;    /* virtual clock: the host's counts at the last look, added up */
	uint32_t depth, head; /* head = fetched mod depth */
	uint32_t doorbell;    /* last tail written through the register */
	uint32_t outstanding; /* fetched, CQE not posted */
	uint16_t id, worker;
	uint16_t delete_cid; /* of the Delete command that waits for outstanding == 0 */
	bool live, deleting;
	bool broken;  /* an illegal doorbell was seen: ignored until deleted */
	bool pending; /* virtual clock: the next command is known, its key in the tournament is its time */
	bool far;     /* another hart serves it (relay.h) */
};

struct completion_queue {
	struct completion_ring ring;
	struct hz_queue_clock *clock;
	struct command *parked_first, **parked_last; /* completions that wait for room */
	struct lt_timer retry;                       /* virtual clock: when the host will have made room */
	uint64_t crossed_ns;                         /* … and when the last entry's data have crossed the link */
	struct queues *queues;
	uint32_t doorbell; /* last head written through the register */
	uint16_t id, vector, submission_queues;
	bool live, interrupt, broken;
	bool far; /* another hart serves it (relay.h) */
};

struct queues {
	/* I/O queues only: bit i is queue i + 1 */
	uint64_t live_mask;   /* the submission queue exists and is not being deleted */
	uint64_t ready_mask;  /* it has a command that may be fetched now */
	uint64_t parked_mask; /* the completion queue has parked completions */
	bool admin_wanted;    /* admin commands or late answers wait for their turn */
	struct host_view *view;
	struct host *host;
	const struct queue_client *client;
	struct hz_queue_clock *clock;               /* [QUEUES] */
	uint32_t workers;                           /* of the device: queues are dealt among them */
	uint32_t *shadow_doorbells, *shadow_events; /* NULL: only the registers */
	struct submission_queue sq[QUEUES];
	struct completion_queue cq[QUEUES];
	struct relays *relays; /* NULL on all HIL harts but the first */
};

static inline uint64_t queue_bit(unsigned id) { return 1ull << (id - 1); }

/* view, host and client must outlive the queues; region = ivshmem #0. */
void queues_init(struct queues *queues, void *region, uint32_t workers, struct host *host, struct host_view *view,
		 const struct queue_client *client);
/* Commands validate before they call. ring lies in host memory. */
void queues_add_sq(struct queues *queues, unsigned id, unsigned cqid, uint8_t *ring, uint32_t depth);
void queues_add_cq(struct queues *queues, unsigned id, uint8_t *ring, uint32_t depth, bool interrupt, unsigned vector);
/* No further command is taken from it; those in flight go on. */
void queues_retire(struct queues *queues, struct submission_queue *sq);
/* All I/O submission queues. */
void queues_retire_all(struct queues *queues);
/* Nothing of it is in flight. */
void queues_remove_sq(struct submission_queue *sq);
void queues_remove_cq(struct queues *queues, struct completion_queue *cq);
/* The controller was reset, nothing is in flight or parked: no queue is left. */
void queues_clear(struct queues *queues);
/* Completions wait for room on the hart that serves cq: it is told once there is some. Clock frozen. */
void queues_relay_room(struct queues *queues, struct completion_queue *cq);
/* The host broke the queue's protocol: it is reported once and then ignored until the queue is deleted. */
void queues_break_sq(struct queues *queues, struct submission_queue *sq);
void queues_break_cq(struct queues *queues, struct completion_queue *cq);

#endif
