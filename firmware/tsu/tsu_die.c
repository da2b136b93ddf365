/* The life of a die's operation: bus, cells, bus again for reads, done. All times are on the media's time line: a phase begins when
 * its resource is free and its cause was there, however late this code runs. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_die.h"

#include "boundary/boundary.h"
#include "lt/native.h"
#include "tsu/tsu_internal.h"
#include "tsu/tsu_state.h"

/* --- choosing --- */

/* The page register is free, and so is the cache register, except for read data leaving it while the cells are busy with another
 * operation. */
static bool may_start(const struct tsu_die *die)
{
	return die->state == DIE_IDLE && (die->cache_state == CACHE_EMPTY || die->cached.apart);
}

HZ_FROZEN void die_wake(struct tsu_die *die, uint64_t at_ns)
{
	if (!die->queue.busy_lanes)
		return;
	if (die->state == DIE_ARRAY)
		cache_wish(die, at_ns);
	if (!may_start(die))
		return;
	die->state = DIE_WANTS_BUS;
	channel_request(die->channel, &die->start_wait, die->queue.short_ops ? WISH_COMMAND : WISH_DATA,
			latest_ns(at_ns, die->usage.free_ns));
}

HZ_FROZEN void die_next(struct tsu_die *die, uint64_t at_ns)
{
	if (die->suspended.members && !choose_stay_suspended(die, at_ns))
		die_resume(die, at_ns);
	else
		die_wake(die, at_ns);
}

/* --- the cells --- */

struct cell_work {
	uint64_t times, ns; /* operations; array time of all of them */
};

static uint64_t read_tries(struct tsu *tsu, struct tsu_txn *txn, uint64_t at_ns)
{
	if (!tsu->cfg->read_retry_ppb && !tsu->cfg->ecc_bits)
		return 1;
	return 1 + tsu->nand->ops->read_retries(tsu->nand, txn->addr, txn->sectors, at_ns, &txn->lost);
}

/* A program counts with its first pass. */
static void count_cells(struct tsu_energy *energy, const struct tsu_txn *txn, enum hz_cells cells, const struct cell_work *work)
{
	switch (txn->op) {
	case TSU_READ:
		energy->reads[cells] += work->times;
		energy->read_ns[cells] += work->ns;
		break;
	case TSU_PROGRAM:
		energy->programs[cells] += work->times;
		energy->program_ns[cells] += work->ns;
		break;
	default: energy->erases[cells] += work->times; energy->erase_ns[cells] += work->ns;
	}
}

/* An operation draws its time once, when it begins; a mount's reads take their configured time. */
static inline __attribute__((always_inline)) uint64_t cells_ns(struct tsu_die *die, const struct tsu_txn *txn, uint32_t pass, bool begins)
{
	const struct tsu_timing *timing = &die->thread->tsu->timing;

	return begins ? tsu_drawn_ns(timing, txn, pass, &die->luck) : tsu_array_ns(timing, txn, pass);
}

/* Planes work side by side, each with a draw of its own: the slowest counts. Each read retry costs as much as the first try. Not NULL:
 * `energy` counts it. */
static inline __attribute__((always_inline)) uint64_t run_array(struct tsu_die *die, const struct die_op *op, uint64_t at_ns,
								struct tsu_energy *energy)
{
	struct tsu *tsu = die->thread->tsu;
	uint64_t longest = 0;

	for (struct tsu_txn *txn = op->members; txn; txn = txn->next) {
		struct cell_work work = { .times = op->pass == 0, .ns = cells_ns(die, txn, op->pass, energy != NULL) };

		if (txn->op == TSU_READ) {
			work.times = read_tries(tsu, txn, at_ns);
			work.ns *= work.times;
			if (energy)
				die->thread->counters.read_retries += work.times - 1;
		}
		if (energy)
			count_cells(energy, txn, tsu_is_normal(&tsu->timing, txn) ? HZ_CELLS_NORMAL : HZ_CELLS_SLC, &work);
		longest = latest_ns(longest, work.ns);
	}
	return longest;
}

/* Of a mount, whose device time this code is part of: nothing is counted. */
uint64_t die_array_ns(struct tsu_die *die, const struct die_op *op, uint64_t at_ns) { return run_array(die, op, at_ns, NULL); }

HZ_FROZEN void die_await_write_end(struct tsu_die *die)
{
	if (!die->write_end_pending)
		wheel_add(&die->thread->wheel, &die->write_end, die->op.array_end_ns);
	die->write_end_pending = true;
}

HZ_FROZEN uint64_t die_power_ns(struct tsu_die *die, uint64_t at_ns)
{
	struct tsu_thread *thread = die->thread;
	uint32_t planes = tsu_limit_share(thread->tsu->cfg, thread->number);

	return planes ? tsu_limit_begin(&thread->limit, planes, &die->op, at_ns) : at_ns;
}

static HZ_FROZEN void begin_array(struct tsu_die *die, uint64_t at_ns)
{
	die->op.array_ns = run_array(die, &die->op, at_ns, &die->thread->energy);
	at_ns = die_power_ns(die, at_ns);
	die->op.array_end_ns = at_ns + die->op.array_ns;
	die->state = DIE_ARRAY;
	if (op_is_program(&die->op) && die->thread->tsu->cfg->cache_program)
		wheel_add(&die->thread->wheel, &die->load_step, at_ns);
	if (op_is_read(&die->op))
		wheel_add(&die->thread->wheel, &die->read_step, die->op.array_end_ns);
	else
		die_await_write_end(die);
}

static void run_loaded(struct lt_event *event)
{
	struct tsu_txn *txn = TSU_CONTAINER(event, struct tsu_txn, crossed);

	txn->loaded(txn);
}

static void die_tell_loaded(struct wheel_node *node)
{
	struct tsu_die *die = TSU_CONTAINER(node, struct tsu_die, tell_step);

	for (struct tsu_txn *txn = die->loading; txn; txn = txn->next)
		if (txn->loaded)
			lt_post(txn->owner, &txn->crossed, LT_CODE(run_loaded));
}

/* Not if the cells take no time: then it would come after the end. A program with further passes needs its data again. */
static void tell_loaded(struct tsu_die *die)
{
	struct tsu_txn *first = die->op.members;

	if (!first->loaded || !die->op.array_ns || die->op.pass + 1u < tsu_passes(&die->thread->tsu->timing, first))
		return;
	die->loading = first;
	wheel_add(&die->thread->wheel, &die->tell_step, die->op.array_end_ns - die->op.array_ns);
}

HZ_FROZEN void die_run_cells(struct tsu_die *die, struct die_op *op, uint64_t at_ns)
{
	bool apart = op->apart;

	die->op = *op;
	op->members = NULL;
	die->cache_state = CACHE_EMPTY;
	begin_array(die, at_ns);
	tell_loaded(die);
	if (apart && die->queue.urgent_reads)
		die_suspend(die, at_ns);
}

/* Commands of a read or erase cross the bus plane by plane. */
static void send_commands(struct tsu_die *die, uint64_t at_ns)
{
	uint64_t began_ns = UINT64_MAX;

	for (struct tsu_txn *txn = die->op.members; txn; txn = txn->next) {
		uint64_t start_ns = channel_use(die->channel, at_ns, die->thread->tsu->cfg->command_ns);

		if (began_ns == UINT64_MAX)
			began_ns = start_ns;
		txn->start_ns = began_ns;
		die->thread->steps++;
	}
	die->op.began_ns = die->op.first_ns = began_ns;
}

static uint64_t group_ready_ns(const struct tsu_txn *members, uint64_t at_ns)
{
	for (const struct tsu_txn *txn = members; txn; txn = txn->next)
		at_ns = latest_ns(at_ns, txn_ready_ns(txn));
	return at_ns;
}

uint64_t die_sequence(const struct tsu_txn *members, uint64_t at_ns)
{
	for (const struct tsu_txn *txn = members; txn; txn = txn->next)
		at_ns = boundary_work(WORK_NAND, 1, at_ns);
	return at_ns;
}

static void start_operation(struct tsu_die *die, struct tsu_txn *members, uint64_t at_ns)
{
	at_ns = group_ready_ns(members, at_ns);
	if (members->op == TSU_PROGRAM) {
		data_load(die, members, at_ns);
		return;
	}
	if (members->next)
		die->thread->counters.multi_plane_ops++;
	die->op = (struct die_op){ .members = members };
	send_commands(die, die_sequence(members, at_ns));
	begin_array(die, die->channel->usage.free_ns);
}

/* --- the bus is there --- */

static enum take what_may_start(const struct tsu_die *die)
{
	if (die->suspended.members)
		return TAKE_WHILE_SUSPENDED;
	return die->cache_state == CACHE_EMPTY ? TAKE_ANY : TAKE_READ;
}

/* at_ns may be earlier than the wheel's time, when this hart is late: if data arrived in between, and the die waited for the bus at
 * their event, no further event comes for them. */
static void wake_for_arrived(struct tsu_die *die, uint64_t at_ns)
{
	uint64_t ready_ns = die_queue_ready_ns(&die->queue, &die->thread->tsu->rules, at_ns);

	if (ready_ns <= die->thread->wheel.now_ns)
		die_wake(die, ready_ns);
}

static HZ_FROZEN void start_next(struct tsu_die *die, uint64_t at_ns)
{
	struct tsu_txn *members = choose_next(die, at_ns, what_may_start(die));

	die->state = DIE_IDLE;
	if (members)
		start_operation(die, members, at_ns);
	else if (die->suspended.members && die->cache_state == CACHE_EMPTY)
		die_resume(die, at_ns);
	else
		wake_for_arrived(die, at_ns);
}

static HZ_FROZEN void start_granted(struct bus_wait *wait, uint64_t at_ns)
{
	start_next(TSU_CONTAINER(wait, struct tsu_die, start_wait), at_ns);
}

static HZ_FROZEN void register_granted(struct bus_wait *wait, uint64_t at_ns)
{
	struct tsu_die *die = TSU_CONTAINER(wait, struct tsu_die, data_wait);

	if (die->cache_state != CACHE_WANTS_IN) {
		data_granted(die, at_ns);
	} else if (die->state == DIE_ARRAY) {
		cache_choose(die, at_ns);
	} else { /* the cells became free while the next program waited for the bus */
		die->cache_state = CACHE_EMPTY;
		start_next(die, at_ns);
	}
}

/* --- ends --- */

HZ_FROZEN void die_used(struct tsu_die *die, const struct die_op *op, uint64_t until_ns)
{
	usage_add(&die->usage, latest_ns(op->began_ns, die->usage.free_ns), until_ns);
}

static HZ_FROZEN void die_read_step(struct wheel_node *node)
{
	struct tsu_die *die = TSU_CONTAINER(node, struct tsu_die, read_step);

	if (die->state == DIE_SHIFT)
		cache_shifted(die, node->at_ns);
	else if (die->cache_state != CACHE_EMPTY)
		die->state = DIE_WANTS_REGISTER;
	else
		cache_shift(die, node->at_ns);
}

/* The next operation was decided when its data were requested. */
static void after_write(struct tsu_die *die, uint64_t at_ns)
{
	switch (die->cache_state) {
	case CACHE_LOADED:
		die_run_cells(die, &die->cached, latest_ns(at_ns, die->cached.array_end_ns) + die->thread->tsu->cfg->cache_busy_ns);
		break;
	case CACHE_IN: die->state = DIE_LOADING; break;
	case CACHE_WANTS_IN: die->state = DIE_WANTS_BUS; break;
	default: die->state = DIE_IDLE; die_next(die, at_ns);
	}
}

static void complete_write(struct tsu_die *die, uint64_t at_ns)
{
	struct tsu_txn *txn = die->op.members;

	die_used(die, &die->op, at_ns);
	die->op.members = NULL;
	while (txn) {
		struct tsu_txn *next = txn->next;

		die->thread->steps++;
		txn_complete(die->thread, txn, at_ns);
		txn = next;
	}
	after_write(die, at_ns);
}

static HZ_FROZEN void die_write_end(struct wheel_node *node)
{
	struct tsu_die *die = TSU_CONTAINER(node, struct tsu_die, write_end);

	die->write_end_pending = false;
	if (die->state != DIE_ARRAY || op_is_read(&die->op))
		return; /* suspended meanwhile: die_resume arms again */
	if (die->op.array_end_ns > node->at_ns)
		die_await_write_end(die);
	else if (die->op.pass + 1u < tsu_passes(&die->thread->tsu->timing, die->op.members))
		data_load_again(die, node->at_ns);
	else
		complete_write(die, node->at_ns);
}

/* --- set-up --- */

void die_init(struct tsu_die *die, struct arena *arena, struct tsu_channel *channel, uint32_t die_index, uint64_t now_ns)
{
	die->thread = channel->thread;
	die->channel = channel;
	die->write_end.fire = die_write_end;
	die->read_step.fire = die_read_step;
	die->move_step.fire = data_step;
	die->load_step.fire = cache_load_step;
	die->tell_step.fire = die_tell_loaded;
	die->start_wait.granted = start_granted;
	die->data_wait.granted = register_granted;
	die->usage.free_ns = now_ns;
	die->luck = tsu_luck_of(&die->thread->tsu->timing, die_index);
	die_queue_init(&die->queue, arena, &channel->thread->tsu->rules);
}
