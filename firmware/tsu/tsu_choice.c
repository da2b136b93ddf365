/* Decisions of a scheduler. Callers have frozen the clock, once. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_choice.h"

#include "tsu/tsu_state.h"

struct tsu_txn *choose_next(struct tsu_die *die, uint64_t at_ns, enum take take)
{
	struct tsu_txn *members;

	clock_thaw();
	members = die_queue_take(&die->queue, &die->thread->tsu->rules, at_ns, take);
	clock_freeze();
	return members;
}

bool choose_whether(struct tsu_die *die, uint64_t at_ns, enum take take)
{
	bool found;

	clock_thaw();
	found = die_queue_next(&die->queue, &die->thread->tsu->rules, at_ns, take) != NULL;
	clock_freeze();
	return found;
}

static bool may_suspend(const struct tsu_die *die, uint64_t at_ns)
{
	const struct hz_device_config *cfg = die->thread->tsu->cfg;

	if (!cfg->suspend_ns || !cfg->read_age_limit_ns || die->thread->tsu->rules.schedule == HZ_SCHED_FIFO)
		return false;
	/* While the cache register has the next program's data, there is no room for a read's data. */
	if (die->state != DIE_ARRAY || die->suspended.members || op_is_read(&die->op) || die->cache_state != CACHE_EMPTY)
		return false;
	/* An operation delayed beyond the age limit runs to its end; suspending one that ends sooner is not worth it. */
	return at_ns - die->op.first_ns < cfg->read_age_limit_ns && at_ns + cfg->suspend_ns < die->op.array_end_ns;
}

bool choose_suspend(const struct tsu_die *die, uint64_t at_ns)
{
	bool yes;

	clock_thaw();
	yes = may_suspend(die, at_ns);
	clock_freeze();
	return yes;
}

bool choose_stay_suspended(const struct tsu_die *die, uint64_t at_ns)
{
	bool yes;

	clock_thaw();
	yes = die->queue.urgent_reads && at_ns - die->suspended.first_ns < die->thread->tsu->cfg->read_age_limit_ns;
	clock_freeze();
	return yes;
}
