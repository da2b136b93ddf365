/* Cached operations: the cells work on the next read or program while the cache register and the channel move data. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_internal.h"

#include "tsu/tsu_state.h"

/* --- reads: page register → cache register, next read, and the data go out meanwhile --- */

/* May the next read sense while the data of die->op go out? */
static bool read_follows(struct tsu_die *die, uint64_t at_ns)
{
	enum take take = die->suspended.members ? TAKE_WHILE_SUSPENDED : TAKE_READ;

	if (!die->thread->tsu->cfg->cache_read || !die->queue.short_ops)
		return false;
	if (die->suspended.members && !choose_stay_suspended(die, at_ns))
		return false;
	return choose_whether(die, at_ns, take);
}

/* The last read of a row goes out as it would alone. */
HZ_FROZEN void cache_shift(struct tsu_die *die, uint64_t at_ns)
{
	if (!read_follows(die, at_ns)) {
		die->state = DIE_IDLE;
		data_hold(die, false);
		data_send(die, at_ns);
		return;
	}
	die->state = DIE_SHIFT;
	wheel_add(&die->thread->wheel, &die->read_step, at_ns + die->thread->tsu->cfg->cache_busy_ns);
}

/* The next read's command goes first, since it is short and starts the cells. */
HZ_FROZEN void cache_shifted(struct tsu_die *die, uint64_t at_ns)
{
	data_hold(die, true);
	die->state = DIE_WANTS_BUS;
	channel_request(die->channel, &die->start_wait, WISH_COMMAND, at_ns);
	data_send(die, at_ns);
}

/* --- programs: the next one's data come while the cells program --- */

static bool may_load(const struct tsu_die *die, uint64_t at_ns)
{
	const struct tsu *tsu = die->thread->tsu;

	if (!tsu->cfg->cache_program || die->state != DIE_ARRAY || die->cache_state != CACHE_EMPTY || !op_is_program(&die->op))
		return false;
	/* A program with passes to come needs the register for its own data. */
	return die->op.pass + 1u >= tsu_passes(&tsu->timing, die->op.members) && at_ns >= die->op.array_end_ns - die->op.array_ns;
}

HZ_FROZEN void cache_wish(struct tsu_die *die, uint64_t at_ns)
{
	if (!may_load(die, at_ns) || !choose_whether(die, at_ns, TAKE_PROGRAM))
		return;
	die->cache_state = CACHE_WANTS_IN;
	channel_request(die->channel, &die->data_wait, WISH_DATA, at_ns);
}

HZ_FROZEN void cache_choose(struct tsu_die *die, uint64_t at_ns)
{
	struct tsu_txn *members = choose_next(die, at_ns, TAKE_PROGRAM);

	if (members) {
		data_load(die, members, at_ns);
		return;
	}
	die->cache_state = CACHE_EMPTY;
	if (die->queue.urgent_reads)
		die_suspend(die, at_ns);
}

HZ_FROZEN void cache_load_step(struct wheel_node *node) { cache_wish(TSU_CONTAINER(node, struct tsu_die, load_step), node->at_ns); }
