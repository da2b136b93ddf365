/* The HIL's start and its turn in the hart's loop. */
#include "hil/controller/hil_state.h"
#include "lt/hart.h"

/* One call and no branch: where the host decides a branch inside a freeze, the compiler could give each outcome its own THAW and
 * code behind it, and device time would tell (tests/vclock/test_freeze.py). */
static void look_at_link(struct hil *hil, bool idle)
{
	clock_freeze();
	control_link_turn(hil, idle);
	clock_thaw();
}

static void wait(struct hil *hil, uint64_t deadline_ns)
{
	clock_freeze();
	if (hil->virtual_clock)
		hil_horizon_idle(hil, deadline_ns);
	else
		hil_doorbells_idle(hil, deadline_ns);
	clock_thaw();
}

static bool hil_turn(void *ctx, bool idle, uint64_t deadline_ns)
{
	struct hil *hil = ctx;
	bool worked = false;

	look_at_link(hil, idle);
	if (hil->admin_wanted)
		worked = hil_admin_run(hil);
	worked = hil_fetch(hil) || worked;
	/* Virtual clock: the wait ends at once if there is more to do. A turn to find out that there is not would cost as much as an event. */
	if ((worked || !idle) && !hil->virtual_clock)
		hil->quiet_turns = 0;
	else
		wait(hil, deadline_ns);
	return worked || hil->admin_wanted;
}

static void make_pool(struct hil *hil, struct arena *arena, uint32_t count)
{
	struct command *command = arena_alloc(arena, count + 2, sizeof(*command), "HIL commands");

	for (uint32_t i = 0; i < count + 2; i++) {
		command[i].hil = hil;
		command[i].req.reply_to = &hil->thread;
		command[i].req.done = hil_ftl_done;
		command[i].next = i < count - 1 ? &command[i + 1] : NULL;
	}
	hil->command = hil->pool = command;
	hil->flush = &command[count];
	hil->abandon = &command[count + 1];
}

static void make_pings(struct hil *hil, struct arena *arena)
{
	hil->ping = arena_alloc(arena, lt_harts(), sizeof(*hil->ping), "HIL pings");
	for (unsigned i = 0; i < lt_harts(); i++)
		hil->ping[i] = (struct hart_ping){ .thread = { "ping", i }, .hil = hil };
}

static void make_buffers(struct hil *hil, struct arena *arena)
{
	hil->errors = arena_alloc(arena, HIL_ERROR_ENTRIES, sizeof(*hil->errors), "HIL error log");
	hil->scratch = arena_alloc(arena, 1, HIL_SCRATCH_BYTES, "HIL scratch page");
	hil->base = arena_alloc(arena, 1, sizeof(*hil->base), "HIL statistics base");
}

static void on_change(struct ftl_watch *watch)
{
	struct hil *hil = (struct hil *)((char *)watch - offsetof(struct hil, watch));

	hil_check_spare(hil);
	async_event_zones(hil);
}

struct hil *hil_init(struct arena *arena, const struct hz_device_config *cfg, void *region, uint64_t region_bytes,
		     const struct controller_ops *device, const struct hil_port *port)
{
	struct hil *hil = arena_alloc(arena, 1, sizeof(*hil), "HIL");
	uint8_t *base = region;

	hil->cfg = cfg;
	hz_shape_of(cfg, &hil->shape);
	hil->header = region;
	hil->clock = (struct hz_queue_clock *)(base + HZ_SHM_QUEUES_OFFSET);
	hil->device = *device;
	hil->port = *port;
	hil->thread = (struct lt_thread){ "hil", cfg->hil_hart };
	hil->limits = (struct io_limits){
		.bus = { base, region_bytes }, .namespace_sectors = hil->shape.namespace_sectors,
		.zoned = cfg->namespace_kind == HZ_NS_ZONED,
	};
	hil->virtual_clock = hil->header->virtual_clock;
	hil->reach_ns = (uint64_t)cfg->doorbell_ns + cfg->fetch_ns;
	tournament_init(&hil->next);
	make_pool(hil, arena, cfg->inflight_requests);
	make_pings(hil, arena);
	make_buffers(hil, arena);
	hil_log_damage(hil);
	hil_check_spare(hil);
	hil->watch = (struct ftl_watch){ .thread = &hil->thread, .changed = on_change };
	device->set_watch(device->ctx, &hil->watch);
	lt_hart_set_hook(cfg->hil_hart, hil_turn, hil);
	return hil;
}
