/* Inside the HIL only: the controller's whole state. One hart touches it, so it has no locks. */
#ifndef HIL_HIL_STATE_H
#define HIL_HIL_STATE_H

#include "hil/controller/async_event.h"
#include "hil/queue/completion_ring.h"
#include "hil/host/control_link.h"
#include "hil/hil.h"
#include "hil/queue/io_command.h"
#include "hil/controller/log_page.h"
#include "hil/controller/registers.h"
#include "hil/queue/tournament.h"

enum { QUEUES = HZ_MAX_IO_QUEUES + 1, VECTORS = QUEUES };

/* One command in the device, from its fetch to its CQE. */
struct command {
	struct ftl_request req;
	struct lt_timer timer;          /* waits for req.ready_ns */
	struct hil *hil;
	struct command *next;           /* in the pool, or parked before a full completion queue */
	struct submission_queue *sq;
	uint16_t cid;
	uint16_t reserved[3];
	uint8_t *page[PRP_MAX_PAGES];
};

struct submission_queue {
	const struct nvme_sqe *ring;
	struct hz_queue_clock *clock;
	struct completion_queue *cq;
	uint64_t fetched;               /* commands taken since creation */
	uint64_t progress;              /* virtual clock: the host's counts at the last look, added up */
	uint32_t depth, head;           /* head = fetched mod depth */
	uint32_t doorbell;              /* last tail written through the register */
	uint32_t outstanding;           /* fetched, CQE not posted */
	uint16_t id, worker;
	uint16_t delete_cid;            /* of the Delete command that waits for outstanding == 0 */
	bool live, deleting;
	bool broken;                    /* an illegal doorbell was seen: ignored until deleted */
	bool pending;                   /* virtual clock: the next command is known, its key in the tournament is its time */
};

struct completion_queue {
	struct completion_ring ring;
	struct hz_queue_clock *clock;
	struct command *parked_first, **parked_last;  /* completions that wait for room */
	struct lt_timer retry;          /* virtual clock: when the host will have made room */
	struct hil *hil;
	uint32_t doorbell;              /* last head written through the register */
	uint16_t id, vector, submission_queues;
	bool live, interrupt, broken;
};

/* What the controller is doing about CC.EN and CC.SHN. One setter: hil_set_life. */
enum hil_life {
	LIFE_DISABLED,      /* CC.EN = 0, nothing in flight */
	LIFE_READY,
	LIFE_RESETTING,     /* CC.EN went to 0: commands in flight are abandoned, CSTS.RDY follows */
	LIFE_FAILED,        /* CSTS.CFS: enabled with impossible settings */
};
enum hil_shutdown { SHUTDOWN_NONE, SHUTDOWN_DRAINING, SHUTDOWN_FLUSHING, SHUTDOWN_COMPLETE };

struct admin_answers { /* completions that do not follow their command at once, until the admin CQ has room */
	struct nvme_cqe cqe[2 * QUEUES];
	uint32_t head, count;
};

typedef void hil_pinged_fn(struct hil *hil);
struct hart_ping { struct lt_event event; struct lt_thread thread; struct hil *hil; };

struct hil {
	const struct hz_device_config *cfg;
	struct hz_shape shape;
	struct hz_shm_header *header;
	struct hz_queue_clock *clock;   /* [QUEUES] */
	struct controller_ops device;
	struct ftl_watch watch;
	struct hil_port port;
	struct lt_thread thread;
	struct io_limits limits;
	bool virtual_clock;

	struct registers reg;
	struct control_link link;
	enum hil_life life;
	enum hil_shutdown shutdown;
	bool hung_up;                   /* the host has left since the last register access */
	uint32_t lives;                 /* how often it was enabled: ftl_request.life */
	bool abandoning;                /* the FTL has not yet given back everything of the life that ended */

	struct submission_queue sq[QUEUES];
	struct completion_queue cq[QUEUES];
	uint32_t queues_allowed;        /* highest I/O queue id, feature 07h */
	uint32_t *shadow_doorbells, *shadow_events; /* NULL: only the registers */
	uint64_t live_mask;             /* bit i: I/O submission queue i+1 exists and is not being deleted */

	/* Which queue is next */
	uint64_t ready_mask;            /* bit i: queue i+1 has a command that may be fetched now */
	unsigned turn;                  /* bit where the round robin goes on */
	unsigned burst_left;            /* commands that the queue at `turn` may still send */
	struct tournament next;         /* virtual clock: first device time at which queue i+1 matters */
	uint64_t open_mask;             /* virtual clock: queues that hold time */
	uint64_t stand_ns;              /* with no queue open, time stands still from here */
	uint64_t seen_since_heard;      /* queues that were looked at since the message that waits on the link was heard */
	uint64_t reach_ns;              /* arrival to HIL: doorbell + fetch */
	uint64_t quiet_turns;           /* real clock: turns without work */
	uint32_t heartbeat;

	struct command *command, *pool; /* all of them; free ones */
	uint32_t outstanding;           /* commands out of the pool */
	uint32_t parked;                /* of these, completions parked before a full queue */
	uint64_t parked_mask;           /* completion queues (bit = id - 1) with parked commands */
	struct command *flush, *abandon; /* requests of a shutdown and of a reset, outside the pool */
	uint64_t irq_pending[2];        /* bit = vector */

	bool admin_wanted;
	struct admin_answers answers;
	struct async_events events;
	uint32_t feature[32];
	struct log_counters counters;
	uint32_t warning;               /* enum nvme_critical_warning */
	struct nvme_error_entry *errors;  /* ring of HIL_ERROR_ENTRIES */
	uint8_t *scratch;               /* HIL_SCRATCH_BYTES for identify and log pages */

	struct hart_ping *ping;         /* one for each hart */
	uint32_t pings_out;
	hil_pinged_fn *pinged;          /* called when all pings are back */
	struct nvme_sqe ping_sqe;       /* the admin command that waits for them */
	struct stats_base *base;        /* reports at the last statistics reset */
};

enum { HIL_SCRATCH_BYTES = 16384, HIL_ERROR_ENTRIES = 64 };

/* life_cycle.c */
void hil_set_life(struct hil *hil, enum hil_life life);
void hil_enable(struct hil *hil);
void hil_disable(struct hil *hil);
void hil_begin_shutdown(struct hil *hil);
/* After each change that a reset or shutdown may wait for. */
void hil_life_step(struct hil *hil);

/* queues.c */
void hil_queues_clear(struct hil *hil);
void hil_sq_create(struct hil *hil, unsigned id, unsigned cqid, uint8_t *ring, uint32_t depth);
void hil_cq_create(struct hil *hil, unsigned id, uint8_t *ring, uint32_t depth, bool interrupt, unsigned vector);
void hil_sq_retire(struct hil *hil, struct submission_queue *sq);
void hil_sq_delete(struct submission_queue *sq);
void hil_cq_delete(struct hil *hil, struct completion_queue *cq);

/* doorbells.c: real clock */
void hil_doorbell_register(struct hil *hil, unsigned id, bool is_cq, uint32_t value);
bool hil_doorbells_poll(struct hil *hil); /* true, as hil_horizon_settle */
void hil_doorbells_idle(struct hil *hil, uint64_t deadline_ns);
uint32_t hil_sq_tail(struct hil *hil, const struct submission_queue *sq);
/* Takes over the host's progress in a completion queue; false if its doorbell is nonsense. */
bool hil_cq_progress(struct hil *hil, struct completion_queue *cq);
void hil_sq_break(struct hil *hil, struct submission_queue *sq);

/* horizon.c: virtual clock */
void hil_horizon_detach(struct hil *hil, struct submission_queue *sq);
/* Brings ready_mask up to device time now, waiting for the host where its promises ask for it. Clock frozen. False: gave up. */
bool hil_horizon_settle(struct hil *hil);
void hil_horizon_idle(struct hil *hil, uint64_t deadline_ns);
/* The host's view of queue has changed by our own doing: a fetch or a completion. Clock frozen. */
void hil_horizon_update(struct hil *hil, struct submission_queue *sq);
/* Blocks, with device time standing, until the host has consumed completion `number`; false if the controller was reset meanwhile. */
bool hil_horizon_await_seen(struct hil *hil, struct completion_queue *cq, uint64_t number);

/* fetch.c */
/* Takes commands in turn from the queues that have any; true if there was one. */
bool hil_fetch(struct hil *hil);
static inline bool hil_may_fetch(const struct hil *hil)
{
	return hil->pool && hil->life == LIFE_READY && hil->shutdown == SHUTDOWN_NONE;
}
/* Something that the HIL can do now without waiting. */
static inline bool hil_has_work(const struct hil *hil)
{
	return hil->admin_wanted || (hil->ready_mask && hil_may_fetch(hil));
}
/* Nothing of ours is in the device. */
static inline bool hil_is_quiet(const struct hil *hil)
{
	return hil->outstanding == 0 && hil->shutdown != SHUTDOWN_FLUSHING && hil->pings_out == 0 && !hil->abandoning;
}

/* completion.c */
void hil_command_free(struct hil *hil, struct command *command);
void hil_complete(struct command *command);
void hil_ftl_done(struct ftl_request *req);
void hil_unpark(struct hil *hil, struct completion_queue *cq);
/* The controller was reset: commands that only wait for their data to cross the link end now, as those that the FTL gives back later do. */
void hil_drop_ready(struct hil *hil);
lt_timer_fn hil_cq_retry;
/* Posts a CQE now; the caller has checked for room. */
void hil_post(struct hil *hil, struct submission_queue *sq, uint16_t cid, uint16_t status, uint64_t result);

/* admin_queues.c: a queue that is being deleted has sent its last completion. */
void hil_sq_drained(struct hil *hil, struct submission_queue *sq);

/* admin.c */
bool hil_admin_run(struct hil *hil);
/* A completion that comes later than its command (event, deletion, statistics reset, log of harts). result: DW0, and DW1 above it. */
void hil_admin_answer(struct hil *hil, uint16_t cid, uint16_t status, uint64_t result);
/* Moves `bytes` to the host memory that the command's PRPs name; charges nothing. Returns an NVMe status. */
uint16_t hil_admin_send(struct hil *hil, const struct nvme_sqe *sqe, const void *data, uint32_t bytes);

/* Every admin command: 0 or more dwords of result, NVMe status; *later = the completion comes by hil_admin_answer. */
struct admin_result { uint32_t dw0; bool later; };
/* Every hart publishes its account and counters; then `pinged`, which answers sqe's command. One round at a time. */
uint16_t hil_ping_harts(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result, hil_pinged_fn *pinged);
typedef uint16_t admin_handler(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result);
admin_handler hil_admin_identify, hil_admin_get_log, hil_admin_get_features, hil_admin_set_features, hil_admin_create_sq,
	hil_admin_create_cq, hil_admin_delete_sq, hil_admin_delete_cq, hil_admin_dbbuf, hil_admin_reset_stats, hil_admin_async_event,
	hil_admin_abort;

/* features.c */
void hil_features_reset(struct hil *hil);
bool hil_feature_known(unsigned id);
uint32_t hil_notices(const struct hil *hil); /* enum nvme_notice: those that this device gives */

/* control_link.c uses these for each register access. False: illegal, nothing happened. */
bool hil_register_read(struct hil *hil, uint32_t offset, unsigned size, uint64_t *value);
bool hil_register_write(struct hil *hil, uint32_t offset, unsigned size, uint64_t value);

/* log_page.c */
void hil_log_error(struct hil *hil, uint16_t sqid, uint16_t cid, uint16_t status, uint64_t lba, uint32_t nsid);
/* Start: what mount found lost goes into the error log, the count of media errors and the critical warning. */
void hil_log_damage(struct hil *hil);
/* Start, and whenever superblocks were retired: the critical warning and its event once too few are left. */
void hil_check_spare(struct hil *hil);

#endif
