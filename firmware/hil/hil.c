/* The HIL's start and its turn in the hart's loop. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/hil.h"

#include "hil/controller/admin.h"
#include "hil/controller/controller.h"
#include "hil/ports/ports.h"
#include "lt/arena.h"
#include "lt/native.h"

/* One call each, without a branch: for a branch on host data inside a freeze the compiler could give each outcome its own THAW and code
 * behind it, and device time would depend on the host (tests/vclock/test_freeze.py). */
static bool find_commands(struct fetch *fetch)
{
	bool found;

	clock_freeze();
	found = fetch_finds(fetch);
	clock_thaw();
	return found;
}

static HZ_FROZEN __attribute__((noinline)) bool listen_and_find(struct queue_group *group, bool idle)
{
	struct hz_native_call call;

	if (LT_NATIVE(call, listen_and_find, (uintptr_t)group, idle))
		return call.result & 1;
	group->view->listen(group->view, idle);
	return fetch_finds(&group->fetch);
}

static bool look_at_host(struct queue_group *group, bool idle)
{
	bool found;

	clock_freeze();
	found = listen_and_find(group, idle);
	clock_thaw();
	return found;
}

static void rest_turn(struct host_view *view, bool busy, uint64_t deadline_ns)
{
	clock_freeze();
	view->rest(view, busy, deadline_ns);
	clock_thaw();
}

static bool hil_turn(void *ctx, bool idle, uint64_t deadline_ns)
{
	struct hil *hil = ctx;
	struct queue_group *group = &hil->group;
	bool found = look_at_host(group, idle), worked = found;

	if (group->queues.admin_wanted) {
		worked = admin_run(hil);
		found = find_commands(&group->fetch);
		worked = worked || found;
	}
	if (found)
		fetch_commands(&group->fetch);
	rest_turn(group->view, worked || !idle, deadline_ns);
	return worked || group->queues.admin_wanted;
}

/* Of the other HIL harts: the first one handles everything about the host as a whole. */
static bool far_turn(void *ctx, bool idle, uint64_t deadline_ns)
{
	struct queue_group *group = ctx;
	bool found = find_commands(&group->fetch);

	if (found)
		fetch_commands(&group->fetch);
	rest_turn(group->view, found || !idle, deadline_ns);
	return found;
}

/* Callbacks of lower layers: the register link, the queues, a round over the harts. */

static bool on_read(void *hil, uint32_t offset, unsigned size, uint64_t *value) { return registers_read(hil, offset, size, value); }
static bool on_write(void *hil, uint32_t offset, unsigned size, uint64_t value) { return registers_write(hil, offset, size, value); }
static void on_hung_up(void *hil) { life_host_left(hil); }
static void on_drained(void *hil, struct submission_queue *sq) { admin_sq_drained(hil, sq); }
static void on_step(void *hil) { life_step(hil); }
static void on_admin(void *hil) { admin_run(hil); }

static void on_round_over(void *ctx)
{
	struct hil *hil = ctx;

	hil->group.queues.admin_wanted = true;
	life_step(hil);
}

static void on_failed(void *ctx, const struct failure *failure)
{
	struct hil *hil = ctx;

	error_log_add(&hil->errors, failure->sq, failure->cid, failure->status, failure->lba, failure->nsid);
}

static void on_bad_doorbell(void *ctx, enum nvme_async_event information)
{
	struct hil *hil = ctx;

	async_events_raise(&hil->events, NVME_AEN_ERROR, information);
}

static HZ_FROZEN bool on_has_work(void *ctx)
{
	const struct queue_group *group = &((struct hil *)ctx)->group;

	return group->queues.admin_wanted || (group->queues.ready_mask && fetch_possible(&group->fetch));
}

/* True unless another HIL hart has commands, or, during a reset or shutdown, has not obeyed its order yet. */
static bool far_is_quiet(const struct hil *hil)
{
	bool waited_for = hil->life.state == LIFE_RESETTING || hil->life.shutdown == SHUTDOWN_DRAINING;

	return waited_for ? relays_obeyed(&hil->relays) : !hil->relays.in_device;
}

static HZ_FROZEN bool on_is_quiet(void *ctx)
{
	const struct hil *hil = ctx;

	return hil->group.pool.outstanding == 0 && hil->life.shutdown != SHUTDOWN_FLUSHING && hil->pings.out == 0 &&
	       !hil->life.cancelling && !hil->change.busy && !hil->self_test.busy && !hil->abort.busy && far_is_quiet(hil);
}

static void init_host_side(struct hil *hil, const struct hil_port *port, struct hz_shm_header *header)
{
	struct link_client client = { .ctx = hil, .read = on_read, .write = on_write, .hung_up = on_hung_up };

	hil->host = (struct host){ .port = *port, .header = header };
	control_link_init(&hil->link, &hil->host, &hil->irq, &client);
}

static void init_limits(const struct hil *hil, struct io_limits *limits)
{
	for (uint32_t i = 0; i < hil->namespaces.count; i++)
		limits[i] = (struct io_limits){
			.bus = hil->bus,
			.namespace_sectors = hil->namespaces.slot[i].sectors,
			.zoned = hil->zoned,
			.plp_mode = hil->cfg->plp_mode,
			.protection = hil->cfg->protection,
			.copies = hil->cfg->copies,
			.in_place = hil->cfg->in_place_sectors,
			.zrwa = hil->cfg->zrwa_count,
			.handles = hil->cfg->fdp_handles,
			.inactive = !namespace_is_attached(&hil->namespaces.slot[i]) || namespace_is_formatting(&hil->namespaces.slot[i]),
			.formatting = namespace_is_formatting(&hil->namespaces.slot[i]),
			.number = i,
		};
}

static void init_queues(struct hil *hil, struct arena *arena, void *region)
{
	struct queue_client client = { .ctx = hil,
				       .failed = on_failed,
				       .drained = on_drained,
				       .left = on_step,
				       .bad_doorbell = on_bad_doorbell,
				       .run_admin = on_admin,
				       .has_work = on_has_work,
				       .is_quiet = on_is_quiet };
	struct io_limits limits[HZ_MAX_NAMESPACES];
	struct queue_group_base base = { .cfg = hil->cfg,
					 .device = &hil->device,
					 .host = &hil->host,
					 .link = &hil->link,
					 .irq = &hil->irq,
					 .life = &hil->life,
					 .limits = limits,
					 .client = &client,
					 .region = region,
					 .relays = &hil->relays };

	init_limits(hil, limits);
	relays_init(&hil->relays, arena, hil->cfg, &hil->irq);
	queue_group_init(&hil->group, arena, &base);
	lt_hart_set_hook(dealing_hart(hil->cfg, 0), hil_turn, hil);
	for (unsigned i = 1; i < dealing_harts(hil->cfg); i++) {
		struct far_group *far = arena_alloc(arena, 1, sizeof(*far), "HIL queue group");

		far_group_init(far, arena, &base, i);
		lt_hart_set_hook(dealing_hart(hil->cfg, i), far_turn, &far->group);
	}
}

static void init_controller(struct hil *hil, struct arena *arena)
{
	hart_pings_init(&hil->pings, arena, &hil->device, &hil->group.thread, hil, on_round_over);
	error_log_init(&hil->errors, arena);
	hil->scratch = arena_alloc(arena, 1, HIL_SCRATCH_BYTES, "HIL scratch");
	telemetry_init(&hil->telemetry, arena);
	statistics_init(&hil->statistics, arena, &hil->device, hil->namespaces.count);
	admin_answers_init(&hil->answers, &hil->group.queues);
	async_events_init(&hil->events, &hil->answers, &hil->life);
	health_init(&hil->health, &hil->device, hil->namespaces.count, &hil->errors, &hil->events, &hil->group.thread);
}

struct hil *hil_init(struct arena *arena, const struct hz_device_config *cfg, void *region, uint64_t region_bytes,
		     const struct controller_ops *device, const struct hil_port *port)
{
	struct hil *hil = arena_alloc(arena, 1, sizeof(*hil), "HIL");

	hil->cfg = cfg;
	hil->bus = (struct host_bus){ region, region_bytes };
	hil->zoned = cfg->namespace_kind == HZ_NS_ZONED;
	hil->device = *device;
	namespace_table_init(&hil->namespaces, cfg, device);
	init_host_side(hil, port, region);
	init_queues(hil, arena, region);
	init_controller(hil, arena);
	return hil;
}
