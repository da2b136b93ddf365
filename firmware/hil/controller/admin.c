/* Admin commands: queue, late answers, features, I/O queues, statistics accounts, and rounds over all harts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/admin.h"

#include <stddef.h>

#include "hil/controller/controller.h"
#include "hil/controller/namespace_table.h"
#include "lt/arena.h"
#include "lt/hart.h"
#include "lt/lock.h"

/* Rounds over all harts. */

static void on_pong(struct lt_event *event);

static void on_ping(struct lt_event *event)
{
	struct hart_pings *pings = ((struct hart_ping *)event)->pings;

	lt_hart_times_publish();
	pings->device->publish(pings->device->ctx);
	lt_post(pings->home, event, on_pong);
}
HZ_STATIC_ASSERT(offsetof(struct hart_ping, event) == 0, "an event is its ping");

void hart_pings_init(struct hart_pings *pings, struct arena *arena, const struct controller_ops *device, const struct lt_thread *home,
		     void *ctx, hart_pings_fn *over)
{
	*pings = (struct hart_pings){ .device = device, .home = home, .ctx = ctx, .over = over };
	pings->ping = arena_alloc_model(arena, lt_harts(), sizeof(*pings->ping), "HIL pings");
	for (unsigned i = 0; i < lt_harts(); i++)
		pings->ping[i] = (struct hart_ping){ .thread = { "ping", i }, .pings = pings };
}

static void begin_round(struct hart_pings *pings)
{
	const struct hart_round *round = &pings->round[pings->head];

	if (round->begin)
		round->begin();
	pings->out = lt_harts();
	for (unsigned i = 0; i < lt_harts(); i++)
		lt_post(&pings->ping[i].thread, &pings->ping[i].event, on_ping);
}

/* The completion is sent before the next round begins: it reads the figures of this one. */
static void on_pong(struct lt_event *event)
{
	struct hart_pings *pings = ((struct hart_ping *)event)->pings;

	if (--pings->out)
		return;
	pings->round[pings->head].pinged(pings->ctx);
	pings->head = (pings->head + 1) % HART_ROUNDS;
	if (--pings->rounds)
		begin_round(pings);
	pings->over(pings->ctx);
}

void hart_pings_start(struct hart_pings *pings, const struct hart_round *round)
{
	if (hart_pings_full(pings))
		lt_fail("hart_pings_start: more rounds than may wait");
	pings->round[(pings->head + pings->rounds++) % HART_ROUNDS] = *round;
	if (pings->rounds == 1)
		begin_round(pings);
}

/* Late completions: the ring has room for all sources: deletions, events, rounds over the harts. */

enum { ANSWERS = sizeof(((struct admin_answers *)0)->cqe) / sizeof(struct nvme_cqe) };

void admin_answers_init(struct admin_answers *answers, struct queues *queues) { answers->queues = queues; }

void admin_answers_clear(struct admin_answers *answers) { answers->count = 0; }

void admin_answer(struct admin_answers *answers, uint16_t cid, uint16_t status, uint64_t result)
{
	uint32_t at = answers->head + answers->count;

	if (answers->count == ANSWERS)
		lt_fail("admin_answer: more late answers than commands that can be late");
	answers->cqe[at < ANSWERS ? at : at - ANSWERS] = (struct nvme_cqe){
		.cid = cid,
		.status = status,
		.dw0 = (uint32_t)result,
		.dw1 = (uint32_t)(result >> 32),
	};
	answers->count++;
	answers->queues->admin_wanted = true;
}

bool admin_answers_post(struct admin_answers *answers, struct completion *completion)
{
	struct queues *queues = answers->queues;
	bool posted = false;

	while (answers->count && admin_has_room(queues)) {
		const struct nvme_cqe *cqe = &answers->cqe[answers->head];

		completion_post(completion, &queues->sq[0], cqe->cid, cqe->status, cqe->dw0 | (uint64_t)cqe->dw1 << 32, 0);
		answers->head = answers->head + 1 == ANSWERS ? 0 : answers->head + 1;
		answers->count--;
		posted = true;
	}
	return posted;
}

/* Features: the table. */

enum {
	ANY_VALUE = 0xffffffff,
	OVER_NEVER = 0xffff,      /* temperature threshold never exceeded */
	COALESCING_OFF = 1 << 16, /* of a vector */
};

static const struct feature table[FEATURES] = {
	[NVME_FEAT_ARBITRATION] = { true, true, true, 0, 0xffffff07 }, /* burst, and weights for weighted round robin */
	[NVME_FEAT_POWER_MANAGEMENT] = { true, true, false, 0, 0 },    /* one power state, for any workload: nothing to save */
	[NVME_FEAT_TEMPERATURE_THRESHOLD] = { true, false, false, OVER_NEVER, 0 },
	[NVME_FEAT_ERROR_RECOVERY] = { true, false, false, 0, 0 }, /* no time limit of retries */
	[NVME_FEAT_VOLATILE_WRITE_CACHE] = { true, true, true, 1, 1 },
	[NVME_FEAT_NUMBER_OF_QUEUES] = { true, true, false, QUEUE_COUNT << 16 | QUEUE_COUNT, ANY_VALUE },
	[NVME_FEAT_INTERRUPT_COALESCING] = { true, false, false, 0, 0 },
	[NVME_FEAT_INTERRUPT_VECTOR] = { true, false, false, COALESCING_OFF, 0 },
	[NVME_FEAT_WRITE_ATOMICITY] = { true, true, true, 0, 1 },         /* one block is atomic, either way */
	[NVME_FEAT_ASYNC_EVENT] = { true, true, true, 0, NVME_WARNINGS }, /* and feature_notices() */
	[NVME_FEAT_IOCS_PROFILE] = { true, true, false, 0, 0 },           /* one combination of command sets: nothing to save */
	[NVME_FEAT_FDP] = { true, false, false, 1, 0 },                   /* enabled, with configuration 0 */
	[NVME_FEAT_FDP_EVENTS] = { true, true, false, 0, 0 },             /* its values are the FTL's */
};
HZ_STATIC_ASSERT((int)FEATURES <= (int)HZ_NAND_FEATURES, "the controller's record has room for the saved value of each feature");

static bool has_feature(unsigned id, const struct hz_device_config *cfg)
{
	switch (id) {
	case NVME_FEAT_VOLATILE_WRITE_CACHE: return cfg->plp_mode != HZ_PLP_FULL;
	case NVME_FEAT_FDP:
	case NVME_FEAT_FDP_EVENTS: return cfg->fdp_handles;
	default: return id < FEATURES && table[id].known;
	}
}

const struct feature *feature_find(unsigned id, const struct hz_device_config *cfg) { return has_feature(id, cfg) ? &table[id] : NULL; }

/* Get and Set Features. */

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR,
	UNDER = 0x10, /* THSEL and TMPSEL: the under temperature threshold of the composite temperature */
};

static const struct feature *feature_of(const struct hil *hil, const struct nvme_sqe *sqe)
{
	return feature_find(sqe->cdw10 & 0xff, hil->cfg);
}

/* CDW11 of Get Features picks the vector, the endurance group, or the threshold: over or under, of the composite temperature. */
static bool known_part(uint32_t id, uint32_t part)
{
	if (id == NVME_FEAT_INTERRUPT_VECTOR)
		return (part & 0xffff) < VECTORS;
	if (id == NVME_FEAT_FDP)
		return (part & 0xffff) == HIL_ENDURANCE_GROUP;
	return id != NVME_FEAT_TEMPERATURE_THRESHOLD || (part >> 16 & 0x3f) == 0 || (part >> 16 & 0x3f) == UNDER;
}

static uint32_t part_value(uint32_t id, uint32_t value, uint32_t part)
{
	if (id == NVME_FEAT_INTERRUPT_VECTOR)
		return value | (part & 0xffff);
	return id == NVME_FEAT_TEMPERATURE_THRESHOLD && (part >> 16 & 0x3f) == UNDER ? 0 : value;
}

static uint32_t saved_value(const struct hil *hil, uint32_t id)
{
	struct hz_nand_controller record;

	hil->device.controller_record(hil->device.ctx, &record);
	return record.saved >> id & 1 ? record.feature[id] : table[id].initial;
}

static uint32_t value_of(const struct hil *hil, uint32_t id, uint32_t select)
{
	switch (select) {
	case NVME_FEAT_CURRENT: return hil->features.value[id];
	case NVME_FEAT_SAVED: return saved_value(hil, id);
	default: return table[id].initial;
	}
}

uint16_t admin_get_features(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct feature *feature = feature_of(hil, sqe);
	uint32_t select = sqe->cdw10 >> 8 & 7, id = sqe->cdw10 & 0xff;

	if (!feature || select > NVME_FEAT_CAPABILITIES || !known_part(id, sqe->cdw11))
		return BAD_FIELD;
	if (id == NVME_FEAT_FDP_EVENTS)
		return placement_get_events(hil, sqe, result);
	if (select == NVME_FEAT_CAPABILITIES)
		result->dw0 = (feature->changeable ? NVME_FEAT_CAP_CHANGEABLE : 0) | (feature->saveable ? NVME_FEAT_CAP_SAVEABLE : 0);
	else
		result->dw0 = part_value(id, value_of(hil, id, select), sqe->cdw11);
	return NVME_SUCCESS;
}

/* Once per reset, before the first I/O queue (base spec 5.27.1.5). The result is the allocated number. */
static uint16_t set_queue_count(struct hil *hil, uint32_t value, struct admin_result *result)
{
	const struct queues *queues = &hil->group.queues;
	uint32_t sqs = value & 0xffff, cqs = value >> 16, count;

	if (sqs == 0xffff || cqs == 0xffff)
		return BAD_FIELD;
	for (unsigned id = 1; id < QUEUES; id++)
		if (queues->sq[id].live || queues->cq[id].live)
			return NVME_COMMAND_SEQUENCE | NVME_DNR;
	count = sqs > cqs ? sqs : cqs;
	count = count < QUEUE_COUNT ? count : QUEUE_COUNT;
	hil->queues_allowed = count + 1;
	hil->features.value[NVME_FEAT_NUMBER_OF_QUEUES] = count << 16 | count;
	result->dw0 = hil->features.value[NVME_FEAT_NUMBER_OF_QUEUES];
	return NVME_SUCCESS;
}

/* Features with an effect outside Get Features. */
static void take_feature(struct hil *hil, uint32_t id, uint32_t value)
{
	hil->features.value[id] = value;
	if (id == NVME_FEAT_ARBITRATION)
		hil->group.fetch.arbitration = value;
	if (id == NVME_FEAT_VOLATILE_WRITE_CACHE)
		fetch_set_write_cache(&hil->group.fetch, value);
	if (id == NVME_FEAT_ASYNC_EVENT)
		hil->events.enabled = value;
}

static void tell_feature(struct hil *hil, uint32_t id)
{
	if (id == NVME_FEAT_ARBITRATION || id == NVME_FEAT_VOLATILE_WRITE_CACHE)
		life_order(hil);
	if (id == NVME_FEAT_ASYNC_EVENT)
		health_tell(&hil->health);
}

void features_reset(struct hil *hil)
{
	struct hz_nand_controller record;

	hil->device.controller_record(hil->device.ctx, &record);
	for (unsigned id = 0; id < FEATURES; id++)
		if (feature_find(id, hil->cfg))
			take_feature(hil, id, record.saved >> id & 1 ? record.feature[id] : table[id].initial);
}

/* As the current value, at once: a power cut finds it, or the one before. */
static void save_feature(struct hil *hil, uint32_t id, uint32_t value)
{
	struct hz_nand_controller record;

	hil->device.controller_record(hil->device.ctx, &record);
	record.saved |= 1u << id;
	record.feature[id] = value;
	hil->device.keep_controller(hil->device.ctx, &record);
}

uint16_t admin_set_features(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct feature *feature = feature_of(hil, sqe);
	uint32_t id = sqe->cdw10 & 0xff, value = sqe->cdw11;

	if (!feature)
		return BAD_FIELD;
	if ((sqe->cdw10 & NVME_FEAT_SAVE) && !feature->saveable)
		return NVME_FEATURE_NOT_SAVEABLE | NVME_DNR;
	if (id == NVME_FEAT_FDP_EVENTS)
		return placement_set_events(hil, sqe);
	if (sqe->nsid != 0 && sqe->nsid != NVME_NSID_ALL)
		return NVME_FEATURE_NOT_PER_NAMESPACE | NVME_DNR;
	if (!feature->changeable)
		return NVME_FEATURE_NOT_CHANGEABLE | NVME_DNR;
	if (value & ~(id == NVME_FEAT_ASYNC_EVENT ? feature->valid | feature_notices(hil->zoned) : feature->valid))
		return BAD_FIELD;
	if (id == NVME_FEAT_NUMBER_OF_QUEUES)
		return set_queue_count(hil, value, result);
	if (sqe->cdw10 & NVME_FEAT_SAVE)
		save_feature(hil, id, value);
	take_feature(hil, id, value);
	tell_feature(hil, id);
	return NVME_SUCCESS;
}

/* Create and delete I/O queues, Doorbell Buffer Config. */

enum { IOSQES = 6, IOCQES = 4 };

struct queue_fields {
	unsigned id;
	uint32_t depth;
	uint64_t base;
	uint32_t cdw11;
};

static struct queue_fields fields_of(const struct nvme_sqe *sqe)
{
	return (struct queue_fields){ .id = sqe->cdw10 & 0xffff, .depth = (sqe->cdw10 >> 16) + 1, .base = sqe->prp1, .cdw11 = sqe->cdw11 };
}

/* Checks common to both kinds of queue. CC must have the entry size too, else no queue can be created. */
static uint16_t check_queue_place(const struct hil *hil, const struct queue_fields *f, unsigned entry_log2, uint32_t cc_field)
{
	if (f->depth < 2 || f->depth > HZ_MAX_QUEUE_DEPTH || cc_field != entry_log2)
		return NVME_QUEUE_SIZE | NVME_DNR;
	if (!(f->cdw11 & NVME_QUEUE_CONTIGUOUS)) /* CAP.CQR = 1 */
		return BAD_FIELD;
	if (f->base & (HZ_SECTOR_BYTES - 1))
		return NVME_PRP_OFFSET_INVALID | NVME_DNR;
	return host_bus_holds(&hil->bus, f->base, (uint64_t)f->depth << entry_log2) ? NVME_SUCCESS : BAD_FIELD;
}

static bool id_possible(const struct hil *hil, unsigned id) { return id > 0 && id <= hil->queues_allowed; }

uint16_t admin_create_cq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	struct queue_fields f = fields_of(sqe);
	uint32_t vector = f.cdw11 >> 16;
	uint16_t status;

	(void)result;
	if (!id_possible(hil, f.id) || hil->group.queues.cq[f.id].live)
		return NVME_QID_INVALID | NVME_DNR;
	status = check_queue_place(hil, &f, IOCQES, hil->reg.cc >> NVME_CC_IOCQES_SHIFT & 15);
	if (status)
		return status;
	if (vector >= VECTORS)
		return NVME_INTERRUPT_VECTOR | NVME_DNR;
	queues_add_cq(&hil->group.queues, f.id, hil->bus.base + f.base, f.depth, f.cdw11 & NVME_QUEUE_INTERRUPT, vector);
	return NVME_SUCCESS;
}

uint16_t admin_create_sq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	struct queue_fields f = fields_of(sqe);
	unsigned cqid = f.cdw11 >> 16;
	uint16_t status;

	(void)result;
	if (!id_possible(hil, f.id) || hil->group.queues.sq[f.id].live || !id_possible(hil, cqid))
		return NVME_QID_INVALID | NVME_DNR;
	if (!hil->group.queues.cq[cqid].live)
		return NVME_CQ_INVALID | NVME_DNR;
	status = check_queue_place(hil, &f, IOSQES, hil->reg.cc >> NVME_CC_IOSQES_SHIFT & 15);
	if (status)
		return status;
	if (hil->group.fetch.weighted)
		queues_set_priority(&hil->group.queues, f.id, cqid, f.cdw11 >> NVME_QPRIO_SHIFT & (NVME_QPRIOS - 1));
	queues_add_sq(&hil->group.queues, f.id, cqid, hil->bus.base + f.base, f.depth);
	return NVME_SUCCESS;
}

void admin_sq_drained(struct hil *hil, struct submission_queue *sq)
{
	queues_remove_sq(sq);
	admin_answer(&hil->answers, sq->delete_cid, NVME_SUCCESS, 0);
}

/* Unfetched commands are dropped, those in flight complete first (base spec 5.6). */
uint16_t admin_delete_sq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	unsigned id = sqe->cdw10 & 0xffff;
	struct submission_queue *sq = &hil->group.queues.sq[id < QUEUES ? id : 0];

	if (!id_possible(hil, id) || !sq->live || sq->deleting)
		return NVME_QID_INVALID | NVME_DNR;
	queues_retire(&hil->group.queues, sq);
	if (!sq->far && hil->abort.busy && hil->abort.at_queue.sq == id)
		fetch_abort_drop(&hil->group.fetch);
	sq->deleting = true;
	sq->delete_cid = sqe->cid;
	result->later = true;
	if (!sq->outstanding)
		admin_sq_drained(hil, sq);
	return NVME_SUCCESS;
}

uint16_t admin_delete_cq(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	unsigned id = sqe->cdw10 & 0xffff;

	(void)result;
	if (!id_possible(hil, id) || !hil->group.queues.cq[id].live)
		return NVME_QID_INVALID | NVME_DNR;
	if (hil->group.queues.cq[id].submission_queues)
		return NVME_QUEUE_DELETION | NVME_DNR;
	queues_remove_cq(&hil->group.queues, &hil->group.queues.cq[id]);
	return NVME_SUCCESS;
}

/* PRP1: shadow doorbells, PRP2: EventIdx, a page each. The admin queue stays with its registers. */
uint16_t admin_dbbuf(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint8_t *base = hil->bus.base;

	(void)result;
	if ((sqe->prp1 | sqe->prp2) & (HZ_SECTOR_BYTES - 1))
		return BAD_FIELD;
	if (!host_bus_holds(&hil->bus, sqe->prp1, HZ_SECTOR_BYTES) || !host_bus_holds(&hil->bus, sqe->prp2, HZ_SECTOR_BYTES))
		return BAD_FIELD;
	hil->group.queues.shadow_doorbells = (uint32_t *)(base + sqe->prp1);
	hil->group.queues.shadow_events = (uint32_t *)(base + sqe->prp2);
	return NVME_SUCCESS;
}

/* Vendor command C0h: every statistics account starts again. Complete when each hart has begun a new account. */

static void on_restarted(void *ctx)
{
	struct hil *hil = ctx;

	lt_lock_stats_reset();
	clock_freeze();
	statistics_restart(&hil->statistics);
	clock_thaw();
	if (life_is_ready(&hil->life))
		admin_answer(&hil->answers, hart_pings_command(&hil->pings)->cid, NVME_SUCCESS, 0);
}

uint16_t admin_reset_stats(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct hart_round round = { .sqe = *sqe, .begin = lt_hart_times_reset, .pinged = on_restarted };

	result->later = true;
	hart_pings_start(&hil->pings, &round);
	return NVME_SUCCESS;
}

/* Admin queue: takes commands, sends them to their handlers, posts their completions. */

enum { ADMIN_BATCH = 8 };

static admin_handler *handler_of(uint8_t opcode)
{
	switch (opcode) {
	case NVME_ADMIN_IDENTIFY: return admin_identify;
	case NVME_ADMIN_GET_LOG_PAGE: return admin_get_log;
	case NVME_ADMIN_GET_FEATURES: return admin_get_features;
	case NVME_ADMIN_SET_FEATURES: return admin_set_features;
	case NVME_ADMIN_CREATE_SQ: return admin_create_sq;
	case NVME_ADMIN_CREATE_CQ: return admin_create_cq;
	case NVME_ADMIN_DELETE_SQ: return admin_delete_sq;
	case NVME_ADMIN_DELETE_CQ: return admin_delete_cq;
	case NVME_ADMIN_DBBUF: return admin_dbbuf;
	case NVME_ADMIN_ABORT: return admin_abort;
	case NVME_ADMIN_ASYNC_EVENT: return admin_async_event;
	case NVME_ADMIN_NAMESPACE_MANAGEMENT: return admin_namespace_management;
	case NVME_ADMIN_NAMESPACE_ATTACHMENT: return admin_namespace_attachment;
	case NVME_ADMIN_FORMAT_NVM: return admin_format_nvm;
	case NVME_ADMIN_SANITIZE: return admin_sanitize;
	case NVME_ADMIN_DEVICE_SELF_TEST: return admin_self_test;
	case NVME_ADMIN_DIRECTIVE_SEND: return admin_directive_send;
	case NVME_ADMIN_DIRECTIVE_RECEIVE: return admin_directive_receive;
	case NVME_ADMIN_HZ_RESET_STATS: return admin_reset_stats;
	default: return NULL;
	}
}

static uint16_t execute_admin(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	admin_handler *handler = handler_of(sqe->opcode);
	uint16_t status;

	if (!handler)
		return NVME_INVALID_OPCODE | NVME_DNR;
	if (sqe->flags & (NVME_SQE_FUSE_MASK | NVME_SQE_PSDT_MASK))
		return NVME_INVALID_FIELD | NVME_DNR;
	status = sanitize_refuses(hil, sqe);
	return status ? status : handler(hil, sqe, result);
}

static void run_admin_command(struct hil *hil)
{
	struct submission_queue *sq = &hil->group.queues.sq[0];
	struct nvme_sqe sqe = sq->ring[sq->head];
	struct admin_result result = { 0 };
	uint16_t status;

	sq->head = sq->head + 1 == sq->depth ? 0 : sq->head + 1;
	status = execute_admin(hil, &sqe, &result);
	if (status)
		error_log_add(&hil->errors, 0, sqe.cid, status, 0, sqe.nsid);
	if (status || !result.later)
		completion_post(&hil->group.completion, sq, sqe.cid, status, result.dw0, 0);
}

/* A full completion queue stops the admin queue; its head doorbell sets admin_wanted again. So do a full ring of waiting rounds, and a
 * change of the namespaces; the end of one sets it again. */
static bool admin_may_take(struct hil *hil)
{
	return admin_has_room(&hil->group.queues) && !hart_pings_full(&hil->pings) && !namespaces_change_blocks(&hil->change);
}

bool admin_run(struct hil *hil)
{
	struct queues *queues = &hil->group.queues;
	const struct submission_queue *sq = &queues->sq[0];
	unsigned taken = 0;
	bool worked;

	if (!life_is_ready(&hil->life)) {
		queues->admin_wanted = false;
		return false;
	}
	worked = admin_answers_post(&hil->answers, &hil->group.completion);
	while (taken < ADMIN_BATCH && sq->head != sq->doorbell && admin_may_take(hil)) {
		run_admin_command(hil);
		taken++;
	}
	queues->admin_wanted = (admin_may_take(hil) && sq->head != sq->doorbell) || (admin_has_room(queues) && hil->answers.count);
	return worked || taken;
}
