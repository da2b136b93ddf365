/* Data between the channel and a die's cache register: in one piece, or in parts with the channel free for other dies in between. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_internal.h"

#include "boundary/boundary.h"
#include "tsu/tsu_state.h"

/* --- one part --- */

/* Its time on the bus, exact in sum over all parts; a part after others had the bus needs a new command and address. */
static uint64_t part_ns(const struct tsu_timing *timing, const struct die_op *op)
{
	const struct tsu_txn *txn = op->moving;
	uint32_t left = txn->sectors - op->moved, part = timing->cfg->interleave_sectors;
	uint32_t to = op->moved + (part && part < left ? part : left);
	bool command = op->yielded || (op->moved == 0 && txn->op == TSU_PROGRAM);

	return timing->transfer_ns[to] - timing->transfer_ns[op->moved] + (command ? timing->cfg->command_ns : 0);
}

static void part_moved(const struct tsu_timing *timing, struct die_op *op)
{
	uint32_t left = op->moving->sectors - op->moved, part = timing->cfg->interleave_sectors;

	op->yielded = false;
	if (part && part < left) {
		op->moved = (uint16_t)(op->moved + part);
		return;
	}
	op->moving = op->moving->next;
	op->moved = 0;
}

/* Move one part, or all of them if no other die may come between; each member learns when its data have crossed. */
static HZ_FROZEN void move_data(struct tsu_die *die, uint64_t at_ns)
{
	const struct tsu_timing *timing = &die->thread->tsu->timing;
	struct die_op *op = &die->cached;

	do {
		struct tsu_txn *txn = op->moving;
		uint64_t start_ns = channel_use(die->channel, at_ns, part_ns(timing, op));
		uint32_t before = op->moved;

		if (op->began_ns == UINT64_MAX)
			op->began_ns = op->first_ns = start_ns;
		if (txn->op == TSU_PROGRAM && op->pass == 0 && op->moved == 0)
			txn->start_ns = op->began_ns;
		txn->end_ns = die->channel->usage.free_ns;
		txn->cells_end_ns = op->array_end_ns;
		part_moved(timing, op);
		die->thread->energy.channel_sectors += (op->moving == txn ? op->moved : txn->sectors) - before;
		die->thread->steps++;
	} while (op->moving && !timing->cfg->interleave_sectors);
}

/* The next part, or a place in the queue if others want the bus. */
static HZ_FROZEN void move_on(struct tsu_die *die, uint64_t at_ns)
{
	if (channel_is_wanted(die->channel, at_ns)) {
		die->cached.yielded = true;
		channel_request(die->channel, &die->data_wait, WISH_DATA, at_ns);
		return;
	}
	data_granted(die, at_ns);
}

/* --- in --- */

static void data_loaded(struct tsu_die *die)
{
	struct die_op *op = &die->cached;
	uint64_t shift_ns = op->apart ? die->thread->tsu->cfg->cache_busy_ns : 0;

	op->array_end_ns = die->channel->usage.free_ns; /* until the cells begin: when the data were there */
	die->cache_state = CACHE_LOADED;
	if (die->state == DIE_LOADING)
		die_run_cells(die, op, op->array_end_ns + shift_ns);
}

static void load_part(struct tsu_die *die, uint64_t at_ns)
{
	move_data(die, at_ns);
	if (die->cached.moving)
		wheel_add(&die->thread->wheel, &die->move_step, die->channel->usage.free_ns);
	else
		data_loaded(die);
}

static void begin_load(struct tsu_die *die, uint64_t at_ns)
{
	die->cache_state = CACHE_IN;
	if (!die->cached.apart)
		die->state = DIE_LOADING;
	load_part(die, at_ns);
}

/* Checksums lie behind the data. */
static uint64_t sum_up(const struct tsu_txn *members, uint64_t at_ns)
{
	for (const struct tsu_txn *txn = members; txn; txn = txn->next)
		at_ns = boundary_work(WORK_CHECKSUM, txn->sectors, at_ns);
	return at_ns;
}

HZ_FROZEN void data_load(struct tsu_die *die, struct tsu_txn *members, uint64_t at_ns)
{
	die->cached = (struct die_op){
		.members = members,
		.moving = members,
		.began_ns = UINT64_MAX,
		.apart = die->state == DIE_ARRAY,
	};
	if (members->next)
		die->thread->counters.multi_plane_ops++;
	begin_load(die, sum_up(members, die_sequence(members, at_ns)));
}

HZ_FROZEN void data_load_again(struct tsu_die *die, uint64_t at_ns)
{
	die->cached = die->op;
	die->cached.moving = die->op.members;
	die->cached.pass++;
	die->cached.apart = false;
	die->op.members = NULL;
	die->state = DIE_LOADING;
	die->cache_state = CACHE_IN;
	channel_request(die->channel, &die->data_wait, WISH_DATA, die_sequence(die->cached.members, at_ns));
}

/* --- out --- */

HZ_FROZEN void data_hold(struct tsu_die *die, bool apart)
{
	die->cached = die->op;
	die->cached.moving = die->op.members;
	die->cached.apart = apart;
	die->cache_state = CACHE_WANTS_OUT;
	die->op.members = NULL;
}

HZ_FROZEN void data_send(struct tsu_die *die, uint64_t at_ns) { channel_request(die->channel, &die->data_wait, WISH_DATA, at_ns); }

static void send_part(struct tsu_die *die, uint64_t at_ns)
{
	die->cache_state = CACHE_OUT;
	move_data(die, at_ns);
	wheel_add(&die->thread->wheel, &die->move_step, die->cached.members->end_ns);
}

static void all_sent(struct tsu_die *die, uint64_t at_ns)
{
	die->cache_state = CACHE_EMPTY;
	if (die->state == DIE_WANTS_REGISTER)
		cache_shift(die, at_ns);
	else if (die->state == DIE_IDLE)
		die_next(die, at_ns);
}

/* The first member's data have crossed, or a part of them. */
static void data_sent(struct tsu_die *die, uint64_t at_ns)
{
	struct die_op *op = &die->cached;
	struct tsu_txn *txn = op->members;

	if (op->moving == txn) {
		move_on(die, at_ns);
		return;
	}
	op->members = txn->next;
	if (!op->members)
		die_used(die, op, at_ns);
	else if (op->moving != op->members)
		wheel_add(&die->thread->wheel, &die->move_step, op->members->end_ns);
	txn_complete(die->thread, txn, at_ns);
	if (!op->members)
		all_sent(die, at_ns);
	else if (op->moving == op->members)
		move_on(die, at_ns);
}

/* --- steps --- */

HZ_FROZEN void data_granted(struct tsu_die *die, uint64_t at_ns)
{
	if (die->cache_state == CACHE_IN)
		load_part(die, at_ns);
	else
		send_part(die, at_ns);
}

HZ_FROZEN void data_step(struct wheel_node *node)
{
	struct tsu_die *die = TSU_CONTAINER(node, struct tsu_die, move_step);

	if (die->cache_state == CACHE_IN)
		move_on(die, node->at_ns);
	else
		data_sent(die, node->at_ns);
}
