/* The watchdog. QEMU flushes its code cache, or works exclusively, only when every vCPU has left
 * guest code; harts blocked in a callback cannot leave. The holder then sleeps with a constant
 * instruction counter: the watchdog releases all harts and flags the run. Harts that wait while all
 * others are halted by WFI are deadlocked if no interrupt comes for a second. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "guest/symbol.h"
#include "token.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* False if the sleep took twice as long as asked: the host is overloaded, and a hart that makes no
 * progress may only lack CPU time. */
static bool nap(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };
	uint64_t began_ns = now_ns();

	nanosleep(&t, NULL);
	return now_ns() - began_ns < 2000000ull * ms;
}

/* A thread that is runnable is slow, not stuck; so is one blocked in the kernel on a disk or a
 * page. */
static bool thread_sleeps(int tid)
{
	char path[64], text[256];
	const char *after;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	after = strrchr(text, ')');
	return after && after[2] == 'S';
}

static bool holder_is_stuck(void)
{
	int holder = __atomic_load_n(&vc.holder, __ATOMIC_RELAXED);
	struct vc_hart *h = holder < 0 ? NULL : &vc.hart[holder];
	uint64_t progress;
	bool still;

	if (!h || __atomic_load_n(&vc.phase, __ATOMIC_RELAXED) != VC_RUNNING)
		return false;
	progress = __atomic_load_n(h->retired, __ATOMIC_RELAXED) + __atomic_load_n(&vc.host_waits, __ATOMIC_RELAXED);
	still = progress == h->retired_seen;
	h->retired_seen = progress;
	return still && thread_sleeps(h->tid);
}

/* QEMU was asked to shut down with our exit code; if it hangs, exit anyway. */
static void enforce_exit(void)
{
	static unsigned waited;

	if (vc.exit_code && ++waited > 20)
		_exit(vc.exit_code);
}

static void *watch(void *unused)
{
	unsigned stuck = 0, asleep = 0;
	const unsigned step = 25, no_interrupt_in = 1000;

	for (;;) {
		bool in_time = nap(step);

		if (!holder_is_stuck())
			stuck = 0;
		else if (in_time)
			stuck += step;
		asleep = vc_all_sleep() ? asleep + step : 0;
		if (asleep >= no_interrupt_in)
			vc_deadlock();
		enforce_exit();
		if (stuck < vc.options.watchdog_ms)
			continue;
		if (!vc.ended)
			vc_say("hart %d holds the token but cannot run: all harts let go, no measurement", vc.holder);
		vc_flag_run(VC_FLAG_RESCUED);
		vc_rescue();
		stuck = 0;
	}
	return unused;
}

void vc_watchdog_start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all); /* signals belong to QEMU's main thread */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (!pthread_create(&thread, NULL, watch, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The dump of a deadlock. */

static const char *lock_name(uint64_t what, char *text, size_t bytes)
{
	static const char *const classes[] = {
#define HZ_LOCK_CLASS(constant, name, ...) #name,
#include "lock_classes.def"
	};
	uint32_t lock_class = HZ_VC_LOCK_CLASS(what);
	const char *name = lock_class < sizeof(classes) / sizeof(classes[0]) ? classes[lock_class] : "unknown";

	if (!what)
		return "";
	snprintf(text, bytes, ", lock %s[%u]", name, HZ_VC_LOCK_INDEX(what));
	return text;
}

static void dump_parked(const struct vc_hart *h)
{
	char pc[160], word[160], lock[64];
	unsigned long long now = vc_cycles_to_ns(vc_clock(h));

	if (h->wait_kind == VC_WAIT)
		vc_say("  hart %u: waits for a wake since %llu ns at %s", h->index, now, vc_symbol(h->wait_pc, pc, sizeof(pc)));
	else
		vc_say("  hart %u: waits for %s%s since %llu ns at %s", h->index, vc_symbol(h->reserved_address, word, sizeof(word)),
		       lock_name(h->slot->waiting_for, lock, sizeof(lock)), now, vc_symbol(h->wait_pc, pc, sizeof(pc)));
}

void vc_dump_harts(const char *title)
{
	static const char *const states[] = { "not started", "ready",         "running", "ready",
					      "parked",      "halted by WFI", "stopped", "running without the token" };
	char pc[160], lock[64];

	vc_say("%s", title);
	for (unsigned i = 0; i < vc.harts; i++) {
		const struct vc_hart *h = &vc.hart[i];

		if (h->state == VC_PARKED)
			dump_parked(h);
		else
			vc_say("  hart %u: %s%s, last sync point at %s", i, states[h->state],
			       lock_name(h->slot->waiting_for, lock, sizeof(lock)), vc_symbol(h->wait_pc, pc, sizeof(pc)));
	}
}
