/* The life of a die's operation: bus, cells, bus again for reads, done. All times are on the media's time line: a phase begins when
 * its resource is free and its cause was there, however late this code runs. */
#include "tsu/tsu_state.h"

static bool is_read(const struct die_op *op)
{
	return op->members->op == TSU_READ;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void die_wake(struct tsu_die *die, uint64_t at_ns)
{
	if (die->state != DIE_IDLE || !die->queue.busy_lanes)
		return;
	die->state = DIE_WANTS_BUS;
	channel_request(die->channel, die, die->queue.short_ops ? WISH_COMMAND : WISH_DATA, later(at_ns, die->usage.free_ns));
}

/* Command and, for programs, data cross the bus plane by plane; returns when the bus first carried the operation. */
static uint64_t send_commands(struct tsu_die *die, struct tsu_txn *members, uint64_t at_ns)
{
	const struct tsu_timing *timing = &die->thread->tsu->timing;
	uint64_t began_ns = UINT64_MAX;

	for (struct tsu_txn *txn = members; txn; txn = txn->next) {
		uint64_t ns = timing->cfg->command_ns + (txn->op == TSU_PROGRAM ? timing->transfer_ns[txn->sectors] : 0);
		uint64_t start_ns = channel_use(die->channel, at_ns, ns);

		if (began_ns == UINT64_MAX)
			began_ns = start_ns;
		txn->start_ns = began_ns;
		die->thread->steps++;
	}
	return began_ns;
}

/* Planes work side by side: the slowest counts. Each read retry costs one more array time. */
static uint64_t group_array_ns(struct tsu_die *die, const struct tsu_txn *members)
{
	struct tsu *tsu = die->thread->tsu;
	uint64_t longest = 0;

	for (const struct tsu_txn *txn = members; txn; txn = txn->next) {
		uint64_t ns = tsu_array_ns(&tsu->timing, txn);

		if (txn->op == TSU_READ && tsu->cfg->read_retry_ppb)
			ns *= 1 + tsu->nand->ops->read_retries(tsu->nand, txn->addr);
		longest = later(longest, ns);
	}
	return longest;
}

static uint64_t group_ready_ns(const struct tsu_txn *members, uint64_t at_ns)
{
	for (const struct tsu_txn *txn = members; txn; txn = txn->next)
		at_ns = later(at_ns, txn_ready_ns(txn));
	return at_ns;
}

static void start_operation(struct tsu_die *die, struct tsu_txn *members, uint64_t at_ns)
{
	struct die_op *op = &die->op;

	op->members = members;
	op->began_ns = op->first_ns = send_commands(die, members, group_ready_ns(members, at_ns));
	op->array_ns = group_array_ns(die, members);
	op->array_end_ns = die->channel->usage.free_ns + op->array_ns;
	if (members->next)
		die->thread->counters.multi_plane_ops++;
	die->state = DIE_ARRAY;
	if (is_read(op)) {
		wheel_add(&die->thread->wheel, &die->read_step, op->array_end_ns);
		return;
	}
	if (!die->write_end_pending)
		wheel_add(&die->thread->wheel, &die->write_end, op->array_end_ns);
	die->write_end_pending = true;
}

/* Read data of all planes follow each other; each transaction ends with its own transfer. */
static void start_transfers(struct tsu_die *die, uint64_t at_ns)
{
	const struct tsu_timing *timing = &die->thread->tsu->timing;

	for (struct tsu_txn *txn = die->op.members; txn; txn = txn->next) {
		channel_use(die->channel, at_ns, timing->transfer_ns[txn->sectors]);
		txn->end_ns = die->channel->usage.free_ns;
		die->thread->steps++;
	}
	die->state = DIE_TRANSFER;
	wheel_add(&die->thread->wheel, &die->read_step, die->op.members->end_ns);
}

void die_bus_granted(struct tsu_die *die, uint64_t at_ns)
{
	struct tsu_txn *members;

	if (die->state == DIE_WANTS_TRANSFER) {
		start_transfers(die, at_ns);
		return;
	}
	members = die_queue_take(&die->queue, &die->thread->tsu->rules, at_ns,
				 die->suspended.members ? TAKE_WHILE_SUSPENDED : TAKE_ANY);
	die->state = DIE_IDLE;
	if (members)
		start_operation(die, members, at_ns);
	else if (die->suspended.members)
		die_resume(die, at_ns);
}

void die_finish(struct tsu_die *die, uint64_t at_ns)
{
	usage_add(&die->usage, die->op.began_ns, at_ns);
	die->op.members = NULL;
	die->state = DIE_IDLE;
	if (die->suspended.members && !die_stays_suspended(die, at_ns))
		die_resume(die, at_ns);
	else
		die_wake(die, at_ns);
}

void die_read_step(struct wheel_node *node)
{
	struct tsu_die *die = TSU_CONTAINER(node, struct tsu_die, read_step);
	struct tsu_txn *txn = die->op.members;
	uint64_t at_ns = node->at_ns;

	if (die->state == DIE_ARRAY) {
		die->state = DIE_WANTS_TRANSFER;
		channel_request(die->channel, die, WISH_DATA, at_ns);
		return;
	}
	die->op.members = txn->next;
	if (txn->next)
		wheel_add(&die->thread->wheel, node, txn->next->end_ns);
	txn_complete(die->thread, txn, at_ns);
	if (!die->op.members)
		die_finish(die, at_ns);
}

void die_write_end(struct wheel_node *node)
{
	struct tsu_die *die = TSU_CONTAINER(node, struct tsu_die, write_end);
	struct tsu_txn *txn = die->op.members;

	die->write_end_pending = false;
	if (die->state != DIE_ARRAY || is_read(&die->op))
		return; /* suspended meanwhile: die_resume arms again */
	if (die->op.array_end_ns > node->at_ns) {
		die->write_end_pending = true;
		wheel_add(&die->thread->wheel, node, die->op.array_end_ns);
		return;
	}
	while (txn) {
		struct tsu_txn *next = txn->next;

		die->thread->steps++;
		txn_complete(die->thread, txn, node->at_ns);
		txn = next;
	}
	die_finish(die, node->at_ns);
}
