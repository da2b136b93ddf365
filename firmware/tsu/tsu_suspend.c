/* Suspending a program or erase for reads: the cells stop, reads run, the rest of the array time follows. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_internal.h"

#include "tsu/tsu_state.h"

HZ_FROZEN void die_suspend(struct tsu_die *die, uint64_t at_ns)
{
	struct tsu_thread *thread = die->thread;

	at_ns = latest_ns(at_ns, die->op.array_end_ns - die->op.array_ns); /* its data may still cross the bus */
	if (!choose_suspend(die, at_ns))
		return;
	tsu_limit_stop(&thread->limit, tsu_limit_share(thread->tsu->cfg, thread->number), &die->op, at_ns + thread->tsu->cfg->suspend_ns);
	die->suspended = die->op;
	die->suspended.array_ns = die->op.array_end_ns - at_ns;
	die_used(die, &die->op, at_ns + thread->tsu->cfg->suspend_ns);
	die->op.members = NULL;
	die->state = DIE_IDLE;
	die_wake(die, die->usage.free_ns);
}

HZ_FROZEN void die_resume(struct tsu_die *die, uint64_t at_ns)
{
	at_ns = latest_ns(at_ns, die->usage.free_ns);
	die->op = die->suspended;
	die->suspended.members = NULL;
	die->op.began_ns = at_ns;
	die->op.array_end_ns = die_power_ns(die, at_ns) + die->op.array_ns;
	die->state = DIE_ARRAY;
	die_await_write_end(die);
	cache_wish(die, at_ns);
}
