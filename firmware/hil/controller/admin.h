/* Admin commands: the answer, late answers, events, features, rounds over the harts, and the handlers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_CONTROLLER_ADMIN_H
#define HIL_CONTROLLER_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "hil/ports/ports.h"
#include "hil/queue/completion.h"
#include "hil/queue/fetch.h"
#include "hil/queue/queues.h"
#include "lt/event.h"
#include "nvme.h"

/* Admin commands: input and result of each handler. */

struct hil;
struct admin_result {
	uint32_t dw0;
	bool later; /* the completion comes by admin_answer */
};
/* sqe is a private copy. Returns an NVMe status. */
typedef uint16_t admin_handler(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result);

/* Rounds over all harts: each hart publishes its account and counters, after all events posted to it before. One round at a time; others
 * queue, since several processes may read the same log at once. */

struct arena;
struct hart_pings;
struct hart_ping {
	struct lt_event event;
	struct lt_thread thread;
	struct hart_pings *pings;
};
typedef void hart_pings_fn(void *ctx);

/* A round for an admin command. */
struct hart_round {
	struct nvme_sqe sqe;
	void (*begin)(void);   /* before the first hart is asked; null: nothing */
	hart_pings_fn *pinged; /* all are back: it answers sqe */
};
enum { HART_ROUNDS = 16 };

struct hart_pings {
	const struct controller_ops *device;
	const struct lt_thread *home; /* receiver of the answers */
	void *ctx;
	hart_pings_fn *over;    /* after each round: its owner may wait for that */
	struct hart_ping *ping; /* one for each hart */
	uint32_t out;           /* pings under way; 0: no round is, and none waits */
	uint32_t head, rounds;
	struct hart_round round[HART_ROUNDS]; /* a ring: the running one, then the waiting ones */
};

/* After lt_harts_init. */
void hart_pings_init(struct hart_pings *pings, struct arena *arena, const struct controller_ops *device, const struct lt_thread *home,
		     void *ctx, hart_pings_fn *over);
/* Begin a round, at once or after earlier ones. Not while hart_pings_full. */
void hart_pings_start(struct hart_pings *pings, const struct hart_round *round);

static inline bool hart_pings_full(const struct hart_pings *pings) { return pings->rounds == HART_ROUNDS; }
/* The command of the round under way. */
static inline const struct nvme_sqe *hart_pings_command(const struct hart_pings *pings) { return &pings->round[pings->head].sqe; }

/* Late completions of the admin queue, not sent with their command (events, deletions, rounds over the harts). */

/* Wait until the admin completion queue has room. */
struct admin_answers {
	struct queues *queues;
	uint32_t head, count;
	struct nvme_cqe cqe[2 * QUEUES + HART_ROUNDS];
};

void admin_answers_init(struct admin_answers *answers, struct queues *queues);
/* result: DW0, and DW1 above it. */
void admin_answer(struct admin_answers *answers, uint16_t cid, uint16_t status, uint64_t result);
/* Post completions while there is room; true if there was one. */
bool admin_answers_post(struct admin_answers *answers, struct completion *completion);
/* The controller was reset. */
void admin_answers_clear(struct admin_answers *answers);

static inline bool admin_has_room(const struct queues *queues) { return !completion_ring_full(&queues->cq[0].ring); }

/* Features and their values (base spec 5.27). Nothing is saveable; values return to their defaults at each controller reset. A mandatory
 * feature without an effect here can be read, and is not changeable. */

enum { FEATURES = 32, QUEUE_COUNT = HZ_MAX_IO_QUEUES - 1 /* 0-based */ };

struct feature {
	bool known, changeable, saveable;
	uint32_t initial, valid;
}; /* valid: bits allowed to a host */
struct features {
	uint32_t value[FEATURES];
};

/* The controller was enabled: each feature has its saved value, or without one its default. Life LIFE_DISABLED, clock frozen. */
void features_reset(struct hil *hil);
/* NULL: not known; so is feature 06h of a device without a volatile write cache, and 1Dh and 1Eh without reclaim unit handles. */
const struct feature *feature_find(unsigned id, const struct hz_device_config *cfg);
/* enum nvme_notice: the notices of a device with such namespaces. */
static inline uint32_t feature_notices(bool zoned) { return NVME_NOTICE_NAMESPACES | (zoned ? NVME_NOTICE_ZONES : 0); }

/* Asynchronous events: enabled ones, and pending ones (base spec 5.2). */

enum { ASYNC_LIMIT = 4 }; /* AERL + 1 */

struct async_events {
	struct admin_answers *answers;
	const struct life *life;
	uint32_t enabled; /* feature 0Bh: critical warnings and notices enabled by the host */
	uint32_t waiting;
	uint16_t cid[ASYNC_LIMIT]; /* requests waiting for an event, oldest first */
	uint32_t zones;            /* namespaces with changed zones for the pending notice: bit = NSID - 1 */
	uint32_t pending;          /* events not reported yet: bit = kind */
	/* By type: the log page of the last reported event, while not read since. 0: none. */
	uint8_t masked_by[NVME_AEN_TYPES];
};

void async_events_init(struct async_events *events, struct admin_answers *answers, const struct life *life);
/* The controller was enabled: nothing waits, nothing is enabled. */
void async_events_reset(struct async_events *events);
/* Command cid waits for an event. False: too many do. */
bool async_events_wait(struct async_events *events, uint16_t cid);
/* True if the request was waiting; it completes with Abort Requested. */
bool async_events_abort(struct async_events *events, uint16_t cid);
/* Raise an event: reported at once if a request waits and the type is not masked, else kept. Equal events are one. Dropped unless the
 * controller is ready. */
void async_events_raise(struct async_events *events, enum nvme_async_type type, enum nvme_async_event information);
/* Raise the notice of changed zones for this namespace. */
void async_events_raise_zones(struct async_events *events, uint32_t number);
/* This log page, of this namespace, was read without "retain": if it is that of the last reported event, events of that type are
 * unmasked. */
void async_events_clear(struct async_events *events, uint8_t log_page, uint32_t nsid);

/* Asynchronous Event Request and Abort (base spec 5.2, 5.1). */

/* One at a time (ACL) is under way: its command waits to be fetched. */
struct command_abort {
	bool busy;
	uint16_t cid; /* of the Abort */
	struct fetch_abort at_queue;
};

admin_handler admin_async_event, admin_abort;

/* Get and Set Features (base spec 5.15, 5.27). */

admin_handler admin_get_features, admin_set_features;

/* Commands that create and delete I/O queues, and Doorbell Buffer Config (base spec 5.4 to 5.8). */

admin_handler admin_create_sq, admin_create_cq, admin_delete_sq, admin_delete_cq, admin_dbbuf;

struct submission_queue;
/* A queue being deleted has sent its last completion: complete the Delete command. */
void admin_sq_drained(struct hil *hil, struct submission_queue *sq);

/* Vendor command C0h: every statistics account starts again. */

admin_handler admin_reset_stats;

/* Identify (base spec 5.17, ZNS 1.1 section 4.1). All namespaces are zoned, or of the NVM Command Set alone (block devices). */

admin_handler admin_identify;

/* Get Log Page (base spec 5.16). */

admin_handler admin_get_log;

/* Admin queue: takes commands, sends them to their handlers, posts their completions. */

struct hil;
/* Post late completions and run commands from the doorbell; true if there was any. */
bool admin_run(struct hil *hil);

/* Flexible data placement: log pages, events, the directive's commands (TP 4146, base spec 2.1, 8.1.10).
 *
 * One configuration, which is always enabled: one reclaim group, cfg->fdp_handles reclaim unit handles, all for the one namespace. So a
 * placement identifier is the number of a handle. */

/* Log pages 20h, 21h, 22h and 23h: they fill a page of zeros and return its size. Statistics are those since the start of the device, as
 * in the endurance group's page; counters are published. Events are those of the host or of the controller; a lock is taken. */
uint32_t placement_configurations(const struct hil *hil, void *page);
uint32_t placement_handles(const struct hil *hil, struct nvme_handles_log *log);
uint32_t placement_statistics(const struct hil *hil, uint64_t written_sectors, struct nvme_fdp_statistics *log);
uint32_t placement_events(const struct hil *hil, bool of_host, struct nvme_fdp_events *log);

/* Feature 1Eh. Its value is kept over controller resets, until the next start or the next namespace; so are events. */
uint16_t placement_get_events(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result);
uint16_t placement_set_events(struct hil *hil, const struct nvme_sqe *sqe);

/* The placement handles that a namespace to be created asks for; wish: a page, struct nvme_handle_list. A namespace has all of them. */
uint16_t placement_check_handles(const struct hil *hil, const void *wish);

/* Directive Send and Receive: the directive is always enabled for the namespace, so there is nothing to be sent. */
admin_handler admin_directive_send, admin_directive_receive;

#endif
