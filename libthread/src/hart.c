/* The hart loop: due timers, one mailbox batch, hook, idle. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hart.h"

#include "account.h"
#include "checks.h"
#include "engine.h"
#include "mailbox.h"

static unsigned hart_count;
static lt_word stopped; /* 1: lt_harts_stop was called */

unsigned lt_harts(void) { return hart_count; }

void lt_harts_init(struct arena *arena, unsigned count, unsigned timers)
{
	uint64_t now_ns = clock_now_ns();

	if (count == 0 || count > HZ_MAX_HARTS)
		lt_fail("lt_harts_init: number of harts is not 1 to 64");
	lt_all_harts = arena_alloc(arena, count, sizeof(*lt_all_harts), "harts");
	hart_count = count;
	lt_preset(&stopped, 0);
	for (unsigned i = 0; i < count; i++) {
		lt_all_harts[i].id = i;
		timer_heap_init(&lt_all_harts[i].timers, arena, timers);
		account_init(i, now_ns);
		lt_all_harts[i].times = account_own(i);
	}
}

void lt_hart_set_hook(unsigned hart, lt_hook_fn *hook, void *ctx)
{
	lt_all_harts[hart].hook = hook;
	lt_all_harts[hart].hook_ctx = ctx;
}

void lt_hart_set_roles(unsigned hart, uint32_t roles) { account_roles(hart, roles); }

void lt_timer_arm(struct lt_timer *timer, uint64_t deadline_ns, lt_timer_fn *run)
{
	struct timer_heap *heap = &lt_hart_self()->timers;

	if (timer->slot)
		timer_heap_remove(heap, timer);
	timer->deadline_ns = deadline_ns;
	timer->run = run;
	timer_heap_put(heap, timer);
}

void lt_timer_cancel(struct lt_timer *timer)
{
	if (timer->slot)
		timer_heap_remove(&lt_hart_self()->timers, timer);
}

bool lt_hart_has_mail(void)
{
	struct hart *h = lt_hart_self();

	lt_mail_take(h);
	return lt_mail_known(h);
}

HZ_FROZEN bool lt_hart_knows_mail(void) { return lt_mail_known(lt_hart_self()); }

HZ_FROZEN bool lt_hart_forget_mail(struct lt_event *ev)
{
	struct hart *h = lt_hart_self();

	if (h->taken != ev || ev->next || h->local_head)
		return false;
	h->taken = NULL;
	return true;
}

uint64_t lt_hart_deadline(const struct hart *h)
{
	uint64_t timer_ns = timer_heap_deadline(&h->timers), engine_ns = engines_due_ns(h);

	return timer_ns < engine_ns ? timer_ns : engine_ns;
}

/* noinline: keeps freeze and thaw paired on one exit. Returns the end of the wait. */
static HZ_FROZEN __attribute__((noinline)) uint64_t idle_begins(struct hart *h, uint64_t deadline_ns)
{
	uint64_t own_ns = lt_hart_deadline(h);

	h->idle_from_ns = clock_frozen_ns();
	h->unlooked = 0;
	return own_ns < deadline_ns ? own_ns : deadline_ns;
}

/* False: only hardware has run meanwhile. A waiting hook may be inside a freeze of its own, and an engine could not thaw the clock for a
 * decision there: its engines run in the next turn. */
static HZ_FROZEN __attribute__((noinline)) bool idle_ends(struct hart *h)
{
	h->times->idle_ns += clock_frozen_ns() - h->idle_from_ns;
	return h->taken || h->hook || h->stepped || !engines_run(h) || lt_mail_known(h);
}

static inline void wait_for_mail(struct hart *h, uint64_t deadline_ns)
{
	bool over;

	if (lt_mail_known(h))
		return;
	do {
		uint64_t until_ns;

		clock_freeze();
		until_ns = idle_begins(h, deadline_ns);
		clock_thaw();
		h->taken = (struct lt_event *)(uintptr_t)lt_wait_take(&h->mailbox, until_ns);
		clock_freeze();
		over = idle_ends(h);
		clock_thaw();
	} while (!over);
}

HZ_FROZEN bool lt_hart_wait(uint64_t deadline_ns)
{
	struct hart *h = lt_hart_self();

	wait_for_mail(h, deadline_ns);
	return lt_mail_known(h);
}

static bool run_engines(struct hart *h)
{
	bool ran;

	clock_freeze();
	ran = engines_run(h);
	clock_thaw();
	return ran;
}

/* A stopping hart neither waits nor calls its hook; it only empties its mailbox. Without a hook the hart waits even after work: the wait
 * looks into the mailbox first, so that one shared load both ends a batch and begins the idle time. */
static inline __attribute__((always_inline)) bool after_events(struct hart *h, bool worked)
{
	uint64_t deadline_ns;

	if (h->stopping)
		return worked;
	if (!h->hook) {
		wait_for_mail(h, LT_FOREVER);
		return worked;
	}
	clock_freeze();
	deadline_ns = lt_hart_deadline(h);
	clock_thaw();
	return h->hook(h->hook_ctx, !worked, deadline_ns) || worked;
}

/* An event may be freed, reused or posted again by its run, so next is read before. Returns how many there were. */
static inline unsigned run_list(struct lt_event *list)
{
	unsigned ran = 0;

	while (list) {
		struct lt_event *ev = list;

		list = ev->next;
		ev->run(ev);
		if (lt_checking)
			lt_check_none_held();
		ran++;
	}
	return ran;
}

/* Run the local list, taken mail, and now and then the mailbox. True if there was anything. */
static inline bool run_mail(struct hart *h)
{
	struct lt_event *local = h->local_head, *remote;
	unsigned ran;

	if (h->unlooked >= TURNS_PER_LOOK)
		lt_mail_take(h);
	remote = h->taken;
	h->taken = h->local_head = NULL;
	ran = run_list(local) + run_list(remote && remote->next ? lt_mail_in_order(remote) : remote);
	clock_freeze();
	h->times->events += ran;
	clock_thaw();
	return ran != 0;
}

/* Inlined into the loop: registers are saved once and not in each turn. */
static inline __attribute__((always_inline)) bool turn(struct hart *h)
{
	bool worked = timer_heap_due(&h->timers) && timer_heap_run_due(&h->timers) != 0;

	if (h->engines)
		worked = run_engines(h) || worked;
	if (lt_mail_due(h))
		worked = run_mail(h) || worked;
	return after_events(h, worked);
}

bool lt_hart_turn(struct hart *h) { return turn(h); }

bool lt_hart_done(struct hart *h) { return h->stopping && !lt_mail_known(h) && lt_load(&h->mailbox) == 0; }

void lt_hart_run(void)
{
	struct hart *h = lt_hart_self();

	while (!lt_hart_done(h))
		turn(h);
	clock_freeze();
	account_publish(h->id, clock_now_ns());
	clock_thaw();
}

void lt_hart_times_publish(void)
{
	clock_freeze();
	account_publish(lt_hart_id(), clock_now_ns());
	lt_tell_lock(HZ_VC_ACCOUNT_SHOWN, 0, 0, NULL);
	clock_thaw();
}

static void on_stop(struct lt_event *ev)
{
	struct hart *h = (struct hart *)((char *)ev - offsetof(struct hart, stop_event));

	h->stopping = true;
}

/* By event, so that a running loop has no stop word to poll. */
void lt_harts_stop(void)
{
	if (lt_swap(&stopped, 1))
		return;
	for (unsigned i = 0; i < hart_count; i++)
		lt_post(&(struct lt_thread){ "stop", i }, &lt_all_harts[i].stop_event, on_stop);
}

void lt_hart_times(unsigned hart, struct hz_hart_times *out)
{
	clock_freeze();
	account_read(hart, out);
	clock_thaw();
}

static void on_reset(struct lt_event *ev)
{
	struct hart *h = (struct hart *)((char *)ev - offsetof(struct hart, reset_event));

	clock_freeze();
	lt_store(&h->reset_posted, 0);
	account_restart(h->id);
	lt_tell_lock(HZ_VC_ACCOUNT_RESET, 0, 0, NULL);
	clock_thaw();
}

void lt_hart_times_reset(void)
{
	for (unsigned i = 0; i < hart_count; i++)
		if (!lt_swap(&lt_all_harts[i].reset_posted, 1))
			lt_post(&(struct lt_thread){ "reset", i }, &lt_all_harts[i].reset_event, on_reset);
}
