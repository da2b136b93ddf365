/* Test clock and the deterministic single-threaded runner. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "runner.h"

#include "account.h"
#include "hart.h"
#include "host_clock.h"
#include "interleave.h"
#include "mailbox.h"

static struct {
	bool active;
	uint64_t now_ns;                /* of the machine; a hart's own clock may be ahead */
	uint64_t hart_ns[HZ_MAX_HARTS]; /* its clock, advanced by charges */
	uint64_t wake_ns[HZ_MAX_HARTS]; /* it is idle until then */
	uint64_t idle_from_ns[HZ_MAX_HARTS];
	bool worked[HZ_MAX_HARTS]; /* in its last turn */
} runner;

bool lt_runner_active(void) { return runner.active; }

uint64_t lt_runner_now_ns(void)
{
	uint64_t own_ns = runner.hart_ns[lt_host_hart];

	return own_ns > runner.now_ns ? own_ns : runner.now_ns;
}

void lt_runner_charge_ns(uint64_t ns) { runner.hart_ns[lt_host_hart] = lt_runner_now_ns() + ns; }

void lt_runner_note_wait(uint64_t deadline_ns)
{
	if (deadline_ns < runner.wake_ns[lt_host_hart])
		runner.wake_ns[lt_host_hart] = deadline_ns;
}

static void restart(bool active, uint64_t start_ns)
{
	lt_host_interleaves = false;
	runner.active = active;
	runner.now_ns = start_ns;
	for (unsigned i = 0; i < HZ_MAX_HARTS; i++) {
		runner.hart_ns[i] = start_ns;
		runner.idle_from_ns[i] = start_ns;
	}
}

void lt_host_clock_steady(void) { restart(false, 0); }

void lt_host_clock_test(uint64_t start_ns) { restart(true, start_ns); }

void lt_host_clock_set(uint64_t now_ns)
{
	if (now_ns < runner.now_ns)
		lt_fail("lt_host_clock_set: time would run backwards");
	runner.now_ns = now_ns;
}

/* No other hart comes in between: in the firmware that is frozen. */
static void show_times(unsigned hart)
{
	bool interleaves = lt_host_interleaves;

	lt_host_interleaves = false;
	account_publish(hart, runner.idle_from_ns[hart]);
	lt_host_interleaves = interleaves;
}

bool lt_host_turn(unsigned hart)
{
	struct hart *h = lt_hart_of(hart);
	unsigned caller = lt_host_hart;
	uint64_t now_ns;
	bool worked = false;

	lt_host_hart = hart;
	now_ns = lt_runner_now_ns();
	if (now_ns > runner.idle_from_ns[hart])
		account_own(hart)->idle_ns += now_ns - runner.idle_from_ns[hart];
	runner.wake_ns[hart] = LT_FOREVER;
	h->unlooked = TURNS_PER_LOOK; /* mail may have come since */
	h->stepped = true;
	if (!lt_hart_done(h)) {
		worked = lt_hart_turn(h);
		lt_runner_note_wait(lt_hart_deadline(h));
	}
	if (lt_host_frozen)
		lt_fail("a turn of the hart's loop ended with the clock frozen");
	runner.idle_from_ns[hart] = lt_runner_now_ns();
	if (worked) /* else the others already know that it is idle */
		show_times(hart);
	runner.worked[hart] = worked;
	lt_host_hart = caller;
	return worked;
}

/* Until a whole round did nothing. */
static void run_everything_due(void)
{
	bool worked;

	do {
		worked = false;
		for (unsigned i = 0; i < lt_harts(); i++)
			if (runner.hart_ns[i] <= runner.now_ns)
				worked = lt_host_turn(i) || worked;
	} while (worked);
}

/* The earliest time, from `least` on, in a hart's wait. A hart with a clock ahead of the machine has been busy and must look again when
 * it is reached. */
static uint64_t next_from(uint64_t least_ns)
{
	uint64_t next = LT_FOREVER;

	for (unsigned i = 0; i < lt_harts(); i++) {
		uint64_t at_ns = runner.hart_ns[i] > runner.now_ns ? runner.hart_ns[i] : runner.wake_ns[i];

		next = at_ns >= least_ns && at_ns < next ? at_ns : next;
	}
	return next;
}

/* Harts with their time reached may stand still meanwhile. */
uint64_t lt_runner_next_ns(void) { return next_from(runner.now_ns + 1); }

/* No shared access: the interleaver asks in the midst of one. */
bool lt_runner_due(unsigned hart)
{
	const struct hart *h = lt_hart_of(hart);
	bool mail = lt_mail_known(h) || lt_peek(&h->mailbox);

	if (runner.hart_ns[hart] > runner.now_ns)
		return false;
	return mail || (!h->stopping && (runner.worked[hart] || runner.wake_ns[hart] <= runner.now_ns));
}

static uint64_t run_interleaved(uint64_t limit_ns)
{
	for (unsigned i = 0; i < lt_harts(); i++)
		runner.worked[i] = true; /* the test may have posted something */
	lt_interleave_run(limit_ns);
	if (lt_runner_next_ns() != LT_FOREVER)
		lt_host_clock_set(limit_ns);
	return runner.now_ns;
}

uint64_t lt_host_run_until(uint64_t limit_ns)
{
	if (lt_host_interleaves)
		return run_interleaved(limit_ns);
	for (;;) {
		uint64_t next;

		run_everything_due();
		next = next_from(0);
		if (next == LT_FOREVER)
			return runner.now_ns;
		if (next <= runner.now_ns)
			lt_fail("a hook waits for a time that has come and does nothing");
		if (next > limit_ns) {
			lt_host_clock_set(limit_ns);
			return limit_ns;
		}
		runner.now_ns = next;
	}
}

uint64_t lt_host_run_until_idle(void) { return lt_host_run_until(LT_FOREVER); }
