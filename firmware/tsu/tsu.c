/* TSU threads: set-up, the way in for transactions, and the engine behind all events of a thread's dies and channels. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu.h"

#include "lt/arena.h"
#include "lt/bits.h"
#include "lt/native.h"
#include "tsu/tsu_internal.h"
#include "tsu/tsu_state.h"

/* --- running events --- */

static void set_due(struct tsu_thread *thread) { thread->engine.due_ns = thread->dead ? LT_FOREVER : wheel_next_ns(&thread->wheel); }

static HZ_FROZEN void run_wheel(struct lt_engine *engine, uint64_t now_ns)
{
	struct tsu_thread *thread = TSU_CONTAINER(engine, struct tsu_thread, engine);
	struct wheel_node *node;
	struct hz_native_call call;

	if (LT_NATIVE(call, run_wheel, (uintptr_t)engine, now_ns))
		return;
	while (!thread->dead && (node = wheel_take(&thread->wheel, now_ns)) != NULL)
		node->fire(node);
	set_due(thread);
}

/* --- submission --- */

static struct tsu_die *die_of(const struct tsu_txn *txn) { return &txn->thread->tsu->dies[txn->addr.die_index]; }

static void wake_for(struct tsu_txn *txn, uint64_t at_ns)
{
	struct tsu_die *die = die_of(txn);

	if (txn->urgent)
		die_suspend(die, at_ns);
	die_wake(die, at_ns);
}

static HZ_FROZEN void data_ready(struct wheel_node *node) { wake_for(TSU_CONTAINER(node, struct tsu_txn, ready), node->at_ns); }

/* The dies begin, with the clock frozen. */
static HZ_FROZEN __attribute__((noinline)) void set_going(struct tsu_thread *thread, struct tsu_txn *first)
{
	struct hz_native_call call;

	if (LT_NATIVE(call, set_going, (uintptr_t)thread, (uintptr_t)first))
		return;
	for (struct tsu_txn *txn = first; txn; txn = txn->chain) {
		if (txn->not_before_ns > txn->submit_ns) {
			txn->ready.fire = LT_CODE(data_ready);
			wheel_add(&thread->wheel, &txn->ready, txn->not_before_ns);
		} else {
			wake_for(txn, txn->submit_ns);
		}
	}
	set_due(thread);
}

/* A list by `chain`: all of it waits in the queues before any die starts. */
static void receive_txns(struct lt_event *event)
{
	struct tsu_txn *first = TSU_CONTAINER(event, struct tsu_txn, event);
	struct tsu_thread *thread = first->thread;

	if (thread->dead)
		return;
	for (struct tsu_txn *txn = first; txn; txn = txn->chain) {
		txn->flat_block = txn->addr.plane_index * thread->tsu->cfg->blocks_per_plane + txn->addr.block;
		txn->order = thread->submitted++;
		die_queue_add(&die_of(txn)->queue, &thread->tsu->rules, txn);
	}
	clock_freeze();
	set_going(thread, first);
	clock_thaw();
}

static void prepare_txn(struct tsu *tsu, struct tsu_txn *txn, uint64_t now_ns)
{
	txn->addr = flash_addr_of(tsu->map, txn->ppa);
	txn->thread = tsu->channel_thread[txn->addr.channel];
	txn->submit_ns = now_ns;
	txn->chain = NULL;
	txn->lost = false;
}

void tsu_submit(struct tsu *tsu, struct tsu_txn *txn)
{
	prepare_txn(tsu, txn, clock_now_ns());
	lt_post(&txn->thread->thread, &txn->event, receive_txns);
}

void tsu_submit_list(struct tsu *tsu, struct tsu_txn *first)
{
	struct txn_fifo chain[HZ_MAX_TSU];
	uint64_t now_ns, used = 0; /* bit i: chain[i] */

	if (!first->next) {
		tsu_submit(tsu, first);
		return;
	}
	now_ns = clock_now_ns();
	for (struct tsu_txn *txn = first; txn; txn = txn->next) {
		unsigned number;

		prepare_txn(tsu, txn, now_ns);
		number = txn->thread->number;
		if (used >> number & 1)
			chain[number].tail->chain = txn;
		else
			chain[number].head = txn;
		chain[number].tail = txn;
		used |= 1ull << number;
	}
	for (; used; used &= used - 1) {
		struct tsu_txn *head = chain[lt_lowest_bit(used)].head;

		lt_post(&head->thread->thread, &head->event, receive_txns);
	}
}

bool tsu_is_off(const struct tsu *tsu) { return lt_load(&tsu->whole->off); }

/* --- set-up: after lt_harts_init --- */

static void init_channel(struct tsu *tsu, struct arena *arena, uint32_t number, uint64_t now_ns)
{
	struct tsu_channel *channel = &tsu->channels[number];

	tsu->channel_thread[number] = &tsu->threads[number % tsu->cfg->tsu_count];
	channel_init(channel, tsu->channel_thread[number], now_ns);
	for (uint32_t i = 0; i < tsu->dies_per_channel; i++) {
		uint32_t die_index = number * tsu->dies_per_channel + i;

		die_init(&tsu->dies[die_index], arena, channel, die_index, now_ns);
	}
}

static uint8_t **page_of_sectors(struct arena *arena, const struct hz_device_config *cfg)
{
	uint32_t sectors = cfg->page_bytes / HZ_SECTOR_BYTES, bytes = hz_sector_memory(cfg);
	uint8_t **page = arena_alloc(arena, sectors, sizeof(*page), "reads that are looked at");
	uint8_t *memory = arena_alloc_data(arena, sectors, bytes, "data of reads that are looked at");

	for (uint32_t i = 0; i < sectors; i++)
		page[i] = memory + i * bytes;
	return page;
}

static void init_thread(struct tsu *tsu, struct arena *arena, uint32_t number, uint64_t now_ns)
{
	struct tsu_thread *thread = &tsu->threads[number];

	thread->thread = (struct lt_thread){ .name = "tsu", .hart = tsu->cfg->tsu_hart[number] };
	thread->tsu = tsu;
	thread->number = number;
	thread->page = page_of_sectors(arena, tsu->cfg);
	thread->since_ns = now_ns;
	thread->wheel.now_ns = now_ns;
	tsu_power_init(thread);
	thread->engine.run = run_wheel;
	set_due(thread);
	lt_engine_add(thread->thread.hart, &thread->engine);
}

static struct queue_rules rules_of(struct tsu *tsu)
{
	const struct hz_device_config *cfg = tsu->cfg;
	uint64_t age_limit_ns = cfg->read_age_limit_ns ? cfg->read_age_limit_ns : UINT64_MAX;
	uint32_t schedule = cfg->schedule, lanes = TSU_CLASSES;

	if (schedule == HZ_SCHED_PRIORITY && !cfg->read_age_limit_ns)
		schedule = HZ_SCHED_FIFO;
	if (schedule == HZ_SCHED_FIFO)
		lanes = 1;
	else if (schedule == HZ_SCHED_FAIR)
		lanes = TSU_MAX_LANES;
	return (struct queue_rules){
		.timing = &tsu->timing,
		.nand = tsu->nand,
		.age_limit_ns = age_limit_ns,
		.planes = cfg->planes_per_die,
		.blocks_per_plane = cfg->blocks_per_plane,
		.reach = cfg->planes_per_die * cfg->program_pages,
		.lanes = lanes,
		.schedule = (uint8_t)schedule,
	};
}

struct tsu *tsu_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct nand *nand)
{
	struct tsu *tsu = arena_alloc(arena, 1, sizeof(*tsu), "tsu");
	uint64_t blocks = (uint64_t)map->shape.planes * cfg->blocks_per_plane, now_ns = clock_now_ns();

	tsu->cfg = cfg;
	tsu->map = map;
	tsu->whole = tsu;
	tsu->nand = nand;
	tsu->dies_per_channel = cfg->chips_per_channel * cfg->dies_per_chip;
	tsu->die_count = cfg->channels * tsu->dies_per_channel;
	tsu_timing_init(&tsu->timing, arena, cfg, &map->shape);
	tsu->rules = rules_of(tsu);
	tsu->rules.order = arena_alloc_table(arena, blocks, sizeof(struct block_order), "tsu block order");
	tsu->threads = arena_alloc(arena, cfg->tsu_count, sizeof(*tsu->threads), "tsu threads");
	tsu->channels = arena_alloc(arena, cfg->channels, sizeof(*tsu->channels), "tsu channels");
	tsu->dies = arena_alloc(arena, tsu->die_count, sizeof(*tsu->dies), "tsu dies");
	for (uint32_t i = 0; i < cfg->tsu_count; i++)
		init_thread(tsu, arena, i, now_ns);
	for (uint32_t i = 0; i < cfg->channels; i++)
		init_channel(tsu, arena, i, now_ns);
	return tsu;
}

struct tsu *tsu_view(struct arena *arena, struct tsu *tsu, const struct flash_map *map, uint32_t window)
{
	struct tsu *view = arena_alloc(arena, 1, sizeof(*view), "tsu");

	*view = *tsu;
	view->map = map;
	view->window = window;
	return view;
}
