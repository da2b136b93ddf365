/* Decisions of a scheduler. Callers have frozen the clock, once. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_internal.h"

#include "lt/native.h"
#include "tsu/tsu_state.h"

static uint64_t take_next(uintptr_t subject, uint64_t at_ns, uint64_t take)
{
	struct tsu_die *die = (struct tsu_die *)subject;

	return (uintptr_t)die_queue_take(&die->queue, &die->thread->tsu->rules, at_ns, (enum take)take);
}

HZ_FROZEN struct tsu_txn *choose_next(struct tsu_die *die, uint64_t at_ns, enum take take)
{
	struct tsu_txn *first = (struct tsu_txn *)(uintptr_t)lt_decide(take_next, (uintptr_t)die, at_ns, take);

	if (first && take == TAKE_WHILE_SUSPENDED)
		die_queue_leave_followers(&die->queue, &die->thread->tsu->rules, first);
	return first;
}

static uint64_t may_start(uintptr_t subject, uint64_t at_ns, uint64_t take)
{
	struct tsu_die *die = (struct tsu_die *)subject;

	return die_queue_next(&die->queue, &die->thread->tsu->rules, at_ns, (enum take)take) != NULL;
}

HZ_FROZEN bool choose_whether(struct tsu_die *die, uint64_t at_ns, enum take take)
{
	return lt_decide(may_start, (uintptr_t)die, at_ns, take);
}

static uint64_t may_suspend(uintptr_t subject, uint64_t at_ns, uint64_t how)
{
	const struct tsu_die *die = (const struct tsu_die *)subject;
	const struct hz_device_config *cfg = die->thread->tsu->cfg;

	(void)how;
	if (!cfg->suspend_ns || !cfg->read_age_limit_ns || die->thread->tsu->rules.schedule == HZ_SCHED_FIFO)
		return false;
	/* While the cache register has the next program's data, there is no room for a read's data. */
	if (die->state != DIE_ARRAY || die->suspended.members || op_is_read(&die->op) || die->cache_state != CACHE_EMPTY)
		return false;
	/* An operation delayed beyond the age limit runs to its end; suspending one that ends sooner is not worth it. */
	return at_ns - die->op.first_ns < cfg->read_age_limit_ns && at_ns + cfg->suspend_ns < die->op.array_end_ns;
}

HZ_FROZEN bool choose_suspend(const struct tsu_die *die, uint64_t at_ns) { return lt_decide(may_suspend, (uintptr_t)die, at_ns, 0); }

static uint64_t may_stay_suspended(uintptr_t subject, uint64_t at_ns, uint64_t how)
{
	const struct tsu_die *die = (const struct tsu_die *)subject;

	(void)how;
	return die->queue.urgent_reads && at_ns - die->suspended.first_ns < die->thread->tsu->cfg->read_age_limit_ns;
}

HZ_FROZEN bool choose_stay_suspended(const struct tsu_die *die, uint64_t at_ns)
{
	return lt_decide(may_stay_suspended, (uintptr_t)die, at_ns, 0);
}
