/* Queues: objects, rings, doorbell registers, and the controller's life. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_QUEUE_QUEUES_H
#define HIL_QUEUE_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include "hil/host/host.h"
#include "lt/hart.h"
#include "nvme.h"

/* A completion queue's ring: slots, phase, and how many entries the host has not consumed. Pure counting over host memory. */

struct completion_ring {
	struct nvme_cqe *slot;
	uint64_t posted, freed; /* entries ever posted, and consumed by the host, as known here */
	uint32_t depth, tail;   /* tail = posted mod depth */
	uint32_t head;          /* freed mod depth */
	uint16_t phase;         /* of the next entry: 1 in the first round */
};

void completion_ring_init(struct completion_ring *ring, void *slots, uint32_t depth);
/* One slot always stays empty, so that full and empty differ. */
static inline bool completion_ring_full(const struct completion_ring *ring) { return ring->posted - ring->freed == ring->depth - 1; }
/* Requires room. status without phase. The last dword is stored last: a host that sees the phase sees the whole entry. */
void completion_ring_post(struct completion_ring *ring, const struct nvme_cqe *cqe);
/* Another copy of this ring has posted `entries`, with room checked there. */
void completion_ring_pass(struct completion_ring *ring, uint32_t entries);
/* The host's head doorbell. False: beyond the posted entries, nothing changed. */
bool completion_ring_free_to(struct completion_ring *ring, uint32_t head);
/* The host's count of consumed entries. False: impossible, nothing changed. */
bool completion_ring_free_count(struct completion_ring *ring, uint64_t freed);
/* Slot of entry number `number`, posted - depth < number < posted. */
static inline uint32_t completion_ring_slot(const struct completion_ring *ring, uint64_t number)
{
	uint32_t back = (uint32_t)(ring->posted - number);

	return ring->tail >= back ? ring->tail - back : ring->tail + ring->depth - back;
}

/* The HIL's view of the host's queues: by doorbells under the real clock (queue_group.c), by promises under the virtual one (horizon.c),
 * by the first HIL hart on all others (relay.c). A view is the first member of the struct behind it. */

struct completion_queue;
struct submission_queue;

struct host_view {
	/* A posted entry has the time at which the host gets it, so it need not be posted at that time. */
	bool dated;
	/* One turn's share of the register link: while the device is busy, often enough for a host that wants to reset it. Clock frozen. */
	void (*listen)(struct host_view *view, bool idle);
	/* Bring queues.ready_mask up to the present device time, waiting for the host if needed. False: gave up. Clock frozen. */
	bool (*settle)(struct host_view *view);
	/* The end of a turn; unless it was busy, waits for something to do, at most until deadline_ns. Clock frozen. */
	void (*rest)(struct host_view *view, bool busy, uint64_t deadline_ns);
	/* The device has fetched or completed, which changes the host's next moves on sq. Clock frozen. */
	void (*fetched)(struct host_view *view, struct submission_queue *sq);
	void (*completed)(struct host_view *view, struct submission_queue *sq);
	/* A completion of sq is posted next, behind no sync point. NULL on the first HIL hart. Clock frozen. */
	void (*announce)(struct host_view *view, struct submission_queue *sq);
	/* The ring is full: free entries consumed by the host. False: no room; completion_unpark is called once there may be some. */
	bool (*make_room)(struct host_view *view, struct completion_queue *cq);
	/* Commands that have arrived behind the fetched ones. Only for an Abort, which looks at each of them. Clock frozen. */
	uint64_t (*arrived)(struct host_view *view, const struct submission_queue *sq);
	/* No command is taken from sq any more. */
	void (*forget)(struct host_view *view, struct submission_queue *sq);
};

/* Notices from the queues to the controller above. Given at init, so that nothing here calls upward by name. */

struct submission_queue;

/* A failed command. */
struct failure {
	uint16_t sq, cid, status;
	uint32_t nsid;
	uint64_t lba;
};

/* Data that differ from the host's are the answer to its question: the media are good. */
static inline bool failure_is_of_media(uint16_t status)
{
	return (status & NVME_SCT_MASK) == NVME_SCT_MEDIA && (status & ~NVME_DNR) != NVME_COMPARE_FAILURE && status != NVME_HZ_MARKED;
}

struct queue_client {
	void *ctx;
	/* A completion about to be posted has an error status. */
	void (*failed)(void *ctx, const struct failure *failure);
	/* A queue being deleted has sent its last completion. */
	void (*drained)(void *ctx, struct submission_queue *sq);
	/* The controller resets or shuts down, and one command less is in the device. */
	void (*left)(void *ctx);
	/* The host wrote something impossible to a doorbell or its record. */
	void (*bad_doorbell)(void *ctx, enum nvme_async_event information);
	/* Device time stands, and the host may want the answer to an admin command before it moves. Clock frozen. */
	void (*run_admin)(void *ctx);
	/* Something can be done now without waiting. */
	bool (*has_work)(void *ctx);
	/* Nothing of the HIL is in the device. */
	bool (*is_quiet)(void *ctx);
};

/* Queue pairs of one HIL hart: submission and completion queues, and masks of existing, ready and parked ones. Id 0 is the admin pair.
 * One hart touches them, so there are no locks. The first HIL hart has all queues; another hart that serves some has copies of those
 * (relay.h). */

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
	uint16_t delete_cid; /* of the Delete command waiting for outstanding == 0 */
	bool live, deleting;
	bool broken;  /* an illegal doorbell was seen: ignored until deleted */
	bool pending; /* virtual clock: the next command is known, its key in the tournament is its time */
	bool far;     /* another hart serves it (relay.h) */
};

struct completion_queue {
	struct completion_ring ring;
	struct hz_queue_clock *clock;
	struct command *parked_first, **parked_last; /* completions waiting for room */
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
	uint64_t live_mask;               /* the submission queue exists and is not being deleted */
	uint64_t ready_mask;              /* a command may be fetched now */
	uint64_t parked_mask;             /* the completion queue has parked completions */
	bool admin_wanted;                /* admin commands or late answers wait for their turn */
	lt_word of_priority[NVME_QPRIOS]; /* weighted round robin: the queues of each enum nvme_queue_priority; the first HIL hart
					   * writes it */
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
/* Before the queue is added: its priority in weighted round robin (enum nvme_queue_priority). cqid as for queues_add_sq. */
void queues_set_priority(struct queues *queues, unsigned id, unsigned cqid, unsigned priority);
/* No further command is taken from it; those in flight go on. */
void queues_retire(struct queues *queues, struct submission_queue *sq);
/* All I/O submission queues. */
void queues_retire_all(struct queues *queues);
/* Nothing of it is in flight. */
void queues_remove_sq(struct submission_queue *sq);
void queues_remove_cq(struct queues *queues, struct completion_queue *cq);
/* The controller was reset, nothing is in flight or parked: no queue is left. */
void queues_clear(struct queues *queues);
/* Completions wait for room on cq's hart: notify it once there is some. Clock frozen. */
void queues_relay_room(struct queues *queues, struct completion_queue *cq);
/* The host broke the queue's protocol: it is reported once and then ignored until the queue is deleted. */
void queues_break_sq(struct queues *queues, struct submission_queue *sq);
void queues_break_cq(struct queues *queues, struct completion_queue *cq);

/* Doorbells written through registers: tails and heads of the queues, of the admin pair at once, of others when they are looked at. */

/* The controller is ready; id < QUEUES. Doorbell violations are reported to the client. Clock frozen. */
void doorbell_write(struct queues *queues, unsigned id, bool is_cq, uint32_t value);

/* The controller's progress on CC.EN and CC.SHN: the queues read it, controller/life_cycle.c changes it. */

enum life_state {
	LIFE_DISABLED, /* CC.EN = 0, nothing in flight */
	LIFE_READY,
	LIFE_RESETTING, /* CC.EN went to 0: commands in flight are cancelled, CSTS.RDY follows */
	LIFE_FAILED,    /* CSTS.CFS: enabled with impossible settings */
};
enum life_shutdown { SHUTDOWN_NONE, SHUTDOWN_DRAINING, SHUTDOWN_FLUSHING, SHUTDOWN_COMPLETE };

struct life {
	enum life_state state; /* one setter: life_set */
	enum life_shutdown shutdown;
	uint32_t number; /* how often it was enabled: ftl_request.life */
	bool cancelling; /* the device has not yet given back everything of the ended life */
};

void life_set(struct life *life, enum life_state to);

static inline bool life_is_ready(const struct life *life) { return life->state == LIFE_READY; }
/* New commands are taken. */
static inline bool life_serves(const struct life *life) { return life->state == LIFE_READY && life->shutdown == SHUTDOWN_NONE; }

#endif
