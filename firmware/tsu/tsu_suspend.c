/* Suspending a program or erase for reads: the cells stop, reads run, the rest of the array time follows. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_suspend.h"

#include "tsu/tsu_cache.h"
#include "tsu/tsu_state.h"

static bool may_suspend(const struct tsu_die *die, uint64_t at_ns)
{
	const struct hz_device_config *cfg = die->thread->tsu->cfg;

	if (!cfg->suspend_ns || !cfg->read_age_limit_ns || die->thread->tsu->rules.schedule == HZ_SCHED_FIFO)
		return false;
	/* While the cache register holds the next program's data, there is no room for what a read finds. */
	if (die->state != DIE_ARRAY || die->suspended.members || op_is_read(&die->op) || die->cache_state != CACHE_EMPTY)
		return false;
	/* An operation that was put off for longer than the age limit runs to its end; one that ends sooner is not worth it. */
	return at_ns - die->op.first_ns < cfg->read_age_limit_ns && at_ns + cfg->suspend_ns < die->op.array_end_ns;
}

void die_suspend(struct tsu_die *die, uint64_t at_ns)
{
	at_ns = latest_ns(at_ns, die->op.array_end_ns - die->op.array_ns); /* its data may still cross the bus */
	if (!may_suspend(die, at_ns))
		return;
	die->suspended = die->op;
	die->suspended.array_ns = die->op.array_end_ns - at_ns;
	die_used(die, &die->op, at_ns + die->thread->tsu->cfg->suspend_ns);
	die->op.members = NULL;
	die->state = DIE_IDLE;
	die_wake(die, die->usage.free_ns);
}

bool die_stays_suspended(const struct tsu_die *die, uint64_t at_ns)
{
	return die->queue.urgent_reads && at_ns - die->suspended.first_ns < die->thread->tsu->cfg->read_age_limit_ns;
}

void die_resume(struct tsu_die *die, uint64_t at_ns)
{
	at_ns = latest_ns(at_ns, die->usage.free_ns);
	die->op = die->suspended;
	die->suspended.members = NULL;
	die->op.began_ns = at_ns;
	die->op.array_end_ns = at_ns + die->op.array_ns;
	die->state = DIE_ARRAY;
	die_await_write_end(die);
	cache_wish(die, at_ns);
}
