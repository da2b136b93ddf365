/* Spin-lock and logical-lock statistics. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "base/table.h"
#include "critical_path.h"
#include "guest/memory.h"
#include "guest/symbol.h"
#include "histogram.h"
#include "logical_locks.h"
#include "schedule/clock.h"

enum { MOST_HELD = 16 };

/* Current lock state of a hart. */
struct stand {
	uint64_t asked_ns;    /* begin of the wait */
	uint64_t waited_ns;   /* length of the wait, once it is over */
	uint32_t holder_site; /* call site of the holder at that time */
	bool waits;
	unsigned held;
	struct {
		uint64_t lock, since_ns;
	} hold[MOST_HELD];
};

struct vc_lock_profile vc_lock_profile = {
	.locks = { .entry_bytes = sizeof(struct vc_profiled_lock) },
	.blames = { .entry_bytes = sizeof(struct vc_lock_blame) },
};
static struct stand stands[VC_MAX_HARTS];

static struct vc_profiled_class *class_of(uint64_t lock)
{
	struct vc_profiled_class **place = &vc_lock_profile.classes[HZ_VC_LOCK_CLASS(lock) % VC_LOCK_CLASSES];

	if (!*place)
		*place = calloc(1, sizeof(**place));
	if (!*place)
		abort();
	return *place;
}

static void ask(struct vc_hart *h, struct vc_profiled_lock *lock, uint64_t now_ns)
{
	struct stand *stand = &stands[h->index];

	stand->waits = true;
	stand->asked_ns = now_ns;
	stand->holder_site = lock->owner_site;
	lock->contended++;
	lock->depth_sum += lock->waiters;
	if (lock->waiters > lock->depth_most)
		lock->depth_most = lock->waiters;
	lock->waiters++;
}

static void blame(const struct stand *stand, uint64_t lock, uint32_t site, uint64_t wait_ns)
{
	struct vc_lock_blame *entry = vc_table_at(&vc_lock_profile.blames, (uint64_t)site << 32 | stand->holder_site);

	entry->waits++;
	entry->wait_ns += wait_ns;
	entry->lock_class = HZ_VC_LOCK_CLASS(lock);
}

static void end_wait(struct stand *stand, struct vc_profiled_lock *lock, uint32_t site)
{
	stand->waits = false;
	lock->waiters--;
	lock->wait_ns += stand->waited_ns;
	vc_histogram_add(&class_of(lock->tag)->wait, stand->waited_ns);
	blame(stand, lock->tag, site, stand->waited_ns);
}

static void change_owner(struct vc_hart *h, struct vc_profiled_lock *lock)
{
	if (lock->owner && lock->owner != h->index + 1) {
		lock->handovers++;
		class_of(lock->tag)->handover[lock->owner - 1][h->index]++;
		lock->streak = 0;
	}
	lock->owner = h->index + 1;
	if (++lock->streak > lock->longest_streak)
		lock->longest_streak = lock->streak;
}

static void got(struct vc_hart *h, struct vc_profiled_lock *lock, uint32_t site, uint64_t now_ns, bool shared)
{
	struct stand *stand = &stands[h->index];

	if (stand->waits)
		end_wait(stand, lock, site);
	if (stand->held)
		class_of(lock->tag)->takes_holding[HZ_VC_LOCK_CLASS(stand->hold[stand->held - 1].lock) % VC_LOCK_CLASSES]++;
	lock->acquisitions[h->index]++;
	lock->owner_site = site;
	if (!shared)
		change_owner(h, lock);
	if (stand->held < MOST_HELD) {
		stand->hold[stand->held].lock = lock->tag;
		stand->hold[stand->held++].since_ns = now_ns;
	}
}

/* Search from the top: the lock is mostly the last one taken. */
static void gave(struct vc_hart *h, struct vc_profiled_lock *lock, uint64_t now_ns)
{
	struct stand *stand = &stands[h->index];
	unsigned i = stand->held;

	while (i && stand->hold[i - 1].lock != lock->tag)
		i--;
	if (!i)
		return;
	lock->hold_ns += now_ns - stand->hold[i - 1].since_ns;
	vc_histogram_add(&class_of(lock->tag)->hold, now_ns - stand->hold[i - 1].since_ns);
	memmove(&stand->hold[i - 1], &stand->hold[i], (stand->held - i) * sizeof(stand->hold[0]));
	stand->held--;
}

/* Restart the statistics; current holders and waiters continue. */
static void begin_anew(void)
{
	for (uint64_t i = 0; i < vc_lock_profile.locks.slots; i++) {
		struct vc_profiled_lock *lock = vc_table_entry(&vc_lock_profile.locks, i);

		if (lock)
			*lock = (struct vc_profiled_lock){ .tag = lock->tag, .waiters = lock->waiters, .owner_site = lock->owner_site };
	}
	for (uint64_t i = 0; i < vc_lock_profile.blames.slots; i++) {
		struct vc_lock_blame *entry = vc_table_entry(&vc_lock_profile.blames, i);

		if (entry)
			*entry = (struct vc_lock_blame){ .tag = entry->tag };
	}
	vc_logical_begin_anew();
	vc_request_begin_anew();
	for (unsigned c = 0; c < VC_LOCK_CLASSES; c++)
		if (vc_lock_profile.classes[c])
			memset(vc_lock_profile.classes[c], 0, sizeof(*vc_lock_profile.classes[c]));
}

void vc_lock_profile_event(struct vc_hart *h)
{
	const struct hz_vc_slot *slot = h->slot;
	uint64_t now_ns = vc_cycles_to_ns(vc_clock(h));
	struct vc_profiled_lock *lock;

	if (!vc.options.locks || vc.ended)
		return;
	vc_account_event(h);
	if (slot->arg0 == HZ_VC_LOGICAL_ASKED || slot->arg0 == HZ_VC_LOGICAL_ENDED)
		return vc_logical_event(h, now_ns);
	if (slot->arg0 == HZ_VC_ACCOUNT_RESET || slot->arg0 == HZ_VC_ACCOUNT_SHOWN)
		return;
	if (slot->arg0 == HZ_VC_LOCKS_RESET)
		return begin_anew();
	if (slot->arg0 == HZ_VC_LOCKS_REPORTED)
		return vc_lock_profile_keep();
	vc_past_event(h, (enum hz_vc_lock_event)slot->arg0, slot->arg1);
	lock = vc_table_at(&vc_lock_profile.locks, slot->arg1);
	switch ((enum hz_vc_lock_event)slot->arg0) {
	case HZ_VC_LOCK_ASKED: return ask(h, lock, now_ns);
	case HZ_VC_LOCK_WAITED: stands[h->index].waited_ns = now_ns - stands[h->index].asked_ns; return;
	case HZ_VC_LOCK_GOT: return got(h, lock, (uint32_t)slot->arg2, now_ns, false);
	case HZ_VC_LOCK_GOT_SHARED: return got(h, lock, (uint32_t)slot->arg2, now_ns, true);
	case HZ_VC_LOCK_GIVEN: return gave(h, lock, now_ns);
	case HZ_VC_LOCK_REFUSED: class_of(lock->tag)->refused++; return;
	case HZ_VC_LOGICAL_ASKED:
	case HZ_VC_LOGICAL_ENDED:
	case HZ_VC_ACCOUNT_RESET:
	case HZ_VC_ACCOUNT_SHOWN:
	case HZ_VC_LOCKS_RESET:
	case HZ_VC_LOCKS_REPORTED: return;
	}
}

/* Report: lock classes, the most expensive locks, waiter/holder pairs, and nesting of classes. */

enum { MOST_LOCKS = 32, MOST_BLAMES = 32 };

static char *kept;

static uint64_t taken(const struct vc_profiled_lock *lock)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < VC_MAX_HARTS; i++)
		sum += lock->acquisitions[i];
	return sum;
}

unsigned vc_sorted(const struct vc_table *table, int (*compare)(const void *, const void *), const void ***out)
{
	unsigned n = 0;

	*out = calloc(table->used + 1, sizeof(**out));
	if (!*out)
		abort();
	for (uint64_t i = 0; i < table->slots; i++)
		if (vc_table_entry(table, i))
			(*out)[n++] = vc_table_entry(table, i);
	qsort(*out, n, sizeof(**out), compare);
	return n;
}

int vc_by_weight(uint64_t a, uint64_t b, uint64_t tag_a, uint64_t tag_b)
{
	if (a != b)
		return a < b ? 1 : -1;
	return tag_a < tag_b ? -1 : tag_a > tag_b;
}

static int longest_wait(const void *a, const void *b)
{
	const struct vc_profiled_lock *x = *(const void *const *)a, *y = *(const void *const *)b;

	return vc_by_weight(x->wait_ns, y->wait_ns, x->tag, y->tag);
}

static int most_blamed(const void *a, const void *b)
{
	const struct vc_lock_blame *x = *(const void *const *)a, *y = *(const void *const *)b;

	return vc_by_weight(x->wait_ns, y->wait_ns, x->tag, y->tag);
}

/* --- a lock --- */

void vc_write_by_hart(FILE *out, const uint64_t *counts)
{
	fprintf(out, "[");
	for (unsigned i = 0; i < vc.harts; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", counts[i]);
	fprintf(out, "]");
}

/* Jain's index: 1 if all harts that took the lock took it equally often, 1 / n if one of n took it
 * always. */
static double fairness(const uint64_t *counts)
{
	double sum = 0, squares = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < VC_MAX_HARTS; i++) {
		sum += (double)counts[i];
		squares += (double)counts[i] * (double)counts[i];
		n += counts[i] != 0;
	}
	return n ? sum * sum / (n * squares) : 1;
}

static void write_lock(FILE *out, const struct vc_profiled_lock *lock, bool first)
{
	fprintf(out,
		"%s\n      {\"class\": \"%s\", \"index\": %" PRIu32 ", \"acquisitions\": %" PRIu64 ", \"contended\": %" PRIu64
		", \"wait_ns\": %" PRIu64 ", \"hold_ns\": %" PRIu64 ", \"handovers\": %" PRIu64
		", \"depth_mean\": %.3f, \"depth_max\": %" PRIu32 ", \"fairness\": %.4f, \"longest_streak\": %" PRIu64 ", \"by_hart\": ",
		first ? "" : ",", vc_lock_class_name(HZ_VC_LOCK_CLASS(lock->tag)), HZ_VC_LOCK_INDEX(lock->tag), taken(lock),
		lock->contended, lock->wait_ns, lock->hold_ns, lock->handovers,
		lock->contended ? (double)lock->depth_sum / (double)lock->contended : 0, lock->depth_most, fairness(lock->acquisitions),
		lock->longest_streak);
	vc_write_by_hart(out, lock->acquisitions);
	fprintf(out, "}");
}

static void write_locks(FILE *out)
{
	const void **all;
	unsigned n = vc_sorted(&vc_lock_profile.locks, longest_wait, &all), written = 0;

	fprintf(out, "    \"locks\": [");
	for (unsigned i = 0; i < n && written < MOST_LOCKS; i++)
		if (taken(all[i]))
			write_lock(out, all[i], !written++);
	fprintf(out, "\n    ],\n");
	free(all);
}

/* --- a class --- */

void vc_write_times(FILE *out, const char *name, const struct vc_histogram *h)
{
	static const unsigned ranks[] = { 500, 900, 990, 999 };
	static const char *const names[] = { "p50", "p90", "p99", "p999" };

	fprintf(out, "\"%s\": {\"count\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"mean\": %.3f", name, h->total, h->sum,
		h->total ? (double)h->sum / (double)h->total : 0);
	for (unsigned i = 0; i < 4; i++)
		fprintf(out, ", \"%s\": %" PRIu64, names[i], vc_histogram_rank(h, ranks[i]));
	fprintf(out, ", \"max\": %" PRIu64 "}", h->max);
}

/* [from, to, times], non-zero pairs only. */
static void write_handovers(FILE *out, const struct vc_profiled_class *all)
{
	const char *comma = "";

	fprintf(out, "\"handovers\": [");
	for (unsigned from = 0; from < vc.harts; from++)
		for (unsigned to = 0; to < vc.harts; to++)
			if (all->handover[from][to]) {
				fprintf(out, "%s[%u, %u, %" PRIu64 "]", comma, from, to, all->handover[from][to]);
				comma = ", ";
			}
	fprintf(out, "]");
}

static void write_classes(FILE *out)
{
	const char *comma = "";

	fprintf(out, "    \"classes\": [");
	for (unsigned c = 0; c < VC_LOCK_CLASSES; c++) {
		const struct vc_profiled_class *all = vc_lock_profile.classes[c];

		if (!all || !all->hold.total)
			continue;
		fprintf(out, "%s\n      {\"class\": \"%s\", ", comma, vc_lock_class_name(c));
		vc_write_times(out, "wait", &all->wait);
		fprintf(out, ", ");
		vc_write_times(out, "hold", &all->hold);
		fprintf(out, ", ");
		write_handovers(out, all);
		fprintf(out, ", \"refused\": %" PRIu64 "}", all->refused);
		comma = ",";
	}
	fprintf(out, "\n    ],\n");
}

/* --- between locks and harts --- */

static void write_blames(FILE *out)
{
	const void **all;
	unsigned n = vc_sorted(&vc_lock_profile.blames, most_blamed, &all);
	char waiter[160], holder[160];

	fprintf(out, "    \"blame\": [");
	for (unsigned i = 0; i < n && i < MOST_BLAMES; i++) {
		const struct vc_lock_blame *entry = all[i];

		if (!entry->waits)
			break;
		fprintf(out,
			"%s\n      {\"waiter\": \"%s\", \"holder\": \"%s\", \"class\": \"%s\", \"waits\": %" PRIu64
			", \"wait_ns\": %" PRIu64 "}",
			i ? "," : "", vc_symbol(entry->tag >> 32, waiter, sizeof(waiter)),
			vc_symbol((uint32_t)entry->tag, holder, sizeof(holder)), vc_lock_class_name(entry->lock_class), entry->waits,
			entry->wait_ns);
	}
	fprintf(out, "\n    ],\n");
	free(all);
}

static void write_nesting(FILE *out)
{
	const char *comma = "";

	fprintf(out, "    \"nesting\": [");
	for (unsigned held = 0; held < VC_LOCK_CLASSES; held++)
		for (unsigned c = 0; c < VC_LOCK_CLASSES; c++)
			if (vc_lock_profile.classes[c] && vc_lock_profile.classes[c]->takes_holding[held]) {
				fprintf(out, "%s{\"holding\": \"%s\", \"takes\": \"%s\", \"times\": %" PRIu64 "}", comma,
					vc_lock_class_name(held), vc_lock_class_name(c), vc_lock_profile.classes[c]->takes_holding[held]);
				comma = ", ";
			}
	fprintf(out, "],\n");
}

static void write_now(FILE *out)
{
	fprintf(out, "{\n");
	write_classes(out);
	write_locks(out);
	write_blames(out);
	write_nesting(out);
	vc_account_write_json(out);
	vc_request_write_json(out);
	vc_logical_write_json(out);
	fprintf(out, "  }");
}

void vc_lock_profile_keep(void)
{
	size_t bytes;
	FILE *out;

	free(kept);
	kept = NULL;
	out = open_memstream(&kept, &bytes);
	if (!out)
		return;
	write_now(out);
	fclose(out);
}

void vc_lock_profile_write_json(FILE *out)
{
	if (kept)
		fputs(kept, out);
	else
		write_now(out);
}

/* Logical locks. */

enum { MOST_LOGICAL = 32 };

struct depth {
	uint64_t sum; /* sum of waiters found ahead by each waiter */
	uint32_t most;
};
struct logical_class {
	uint64_t had[VC_MAX_HARTS], waits[VC_MAX_HARTS];
	struct vc_histogram wait;
	struct depth depth;
};
struct logical_lock {
	uint64_t tag; /* HZ_VC_LOCK */
	uint32_t waiters;
	uint64_t waits, ended, wait_ns;
	struct depth depth;
};
struct logical_waiter {
	uint64_t tag;  /* address of the waiter */
	uint64_t lock; /* 0: not waiting */
	uint64_t since_ns;
};

static struct logical_class classes[HZ_VC_LOGICAL_LOCKS];
static struct vc_table locks = { .entry_bytes = sizeof(struct logical_lock) };
static struct vc_table waiters = { .entry_bytes = sizeof(struct logical_waiter) };

/* The hypercall's number is the class: it is encoded in the instruction. */
void vc_logical_had(const struct vc_hart *h)
{
	const void *code = vc_guest(h->wait_pc, 4);
	uint32_t insn = 0;

	if (vc.ended || !code)
		return;
	memcpy(&insn, code, sizeof(insn));
	classes[(insn >> 20) - HZ_VC_HAD].had[h->index]++;
}

static struct logical_class *logical_class_of(uint64_t lock) { return &classes[HZ_VC_LOCK_CLASS(lock) % HZ_VC_LOGICAL_LOCKS]; }

static void find_before(struct depth *depth, uint32_t found)
{
	depth->sum += found;
	if (found > depth->most)
		depth->most = found;
}

static void wait_begins(const struct vc_hart *h, struct logical_waiter *waiter, uint64_t tag, uint64_t now_ns)
{
	struct logical_lock *lock = vc_table_at(&locks, tag);
	struct logical_class *all = logical_class_of(tag);

	waiter->lock = tag;
	waiter->since_ns = now_ns;
	all->waits[h->index]++;
	lock->waits++;
	find_before(&all->depth, lock->waiters);
	find_before(&lock->depth, lock->waiters);
	lock->waiters++;
}

static void wait_ends(struct logical_waiter *waiter, uint64_t now_ns)
{
	uint64_t ns = now_ns - waiter->since_ns;
	struct logical_lock *lock = vc_table_at(&locks, waiter->lock);

	lock->waiters--;
	lock->ended++;
	lock->wait_ns += ns;
	vc_histogram_add(&logical_class_of(waiter->lock)->wait, ns);
	waiter->lock = 0;
}

void vc_logical_event(const struct vc_hart *h, uint64_t now_ns)
{
	const struct hz_vc_slot *slot = h->slot;
	struct logical_waiter *waiter = vc_table_at(&waiters, slot->arg2);

	vc_request_waits(h, slot->arg2, slot->arg0 == HZ_VC_LOGICAL_ASKED ? slot->arg1 : 0);

	if (waiter->lock)
		wait_ends(waiter, now_ns);
	if (slot->arg0 == HZ_VC_LOGICAL_ASKED)
		wait_begins(h, waiter, slot->arg1, now_ns);
}

void vc_logical_begin_anew(void)
{
	memset(classes, 0, sizeof(classes));
	for (uint64_t i = 0; i < locks.slots; i++) {
		struct logical_lock *lock = vc_table_entry(&locks, i);

		if (lock)
			*lock = (struct logical_lock){ .tag = lock->tag, .waiters = lock->waiters };
	}
}

/* --- report --- */

static uint64_t sum_of(const uint64_t *counts)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < VC_MAX_HARTS; i++)
		sum += counts[i];
	return sum;
}

static void write_depth(FILE *out, const struct depth *depth, uint64_t waits)
{
	fprintf(out, "\"depth_mean\": %.3f, \"depth_max\": %" PRIu32, waits ? (double)depth->sum / (double)waits : 0, depth->most);
}

static void write_class(FILE *out, const char *name, const struct logical_class *all)
{
	uint64_t waits = sum_of(all->waits);

	fprintf(out, "\n      {\"class\": \"%s\", \"acquisitions\": %" PRIu64 ", \"contended\": %" PRIu64 ", ", name, sum_of(all->had),
		waits);
	vc_write_times(out, "wait", &all->wait);
	fprintf(out, ", ");
	write_depth(out, &all->depth, waits);
	fprintf(out, ", \"by_hart\": ");
	vc_write_by_hart(out, all->had);
	fprintf(out, ", \"contended_by_hart\": ");
	vc_write_by_hart(out, all->waits);
	fprintf(out, "}");
}

static int waited_longest(const void *a, const void *b)
{
	const struct logical_lock *x = *(const void *const *)a, *y = *(const void *const *)b;

	return vc_by_weight(x->wait_ns, y->wait_ns, x->tag, y->tag);
}

static void write_logical_locks(FILE *out)
{
	const void **all;
	unsigned n = vc_sorted(&locks, waited_longest, &all), written = 0;

	fprintf(out, "    \"logical_locks\": [");
	for (unsigned i = 0; i < n && written < MOST_LOGICAL; i++) {
		const struct logical_lock *lock = all[i];

		if (!lock->waits && !lock->ended)
			continue;
		fprintf(out,
			"%s\n      {\"class\": \"%s\", \"index\": %" PRIu32 ", \"contended\": %" PRIu64 ", \"ended\": %" PRIu64
			", \"wait_ns\": %" PRIu64 ", ",
			written++ ? "," : "", vc_logical_class_name(HZ_VC_LOCK_CLASS(lock->tag)), HZ_VC_LOCK_INDEX(lock->tag), lock->waits,
			lock->ended, lock->wait_ns);
		write_depth(out, &lock->depth, lock->waits);
		fprintf(out, "}");
	}
	fprintf(out, "\n    ]\n");
	free(all);
}

void vc_logical_write_json(FILE *out)
{
	const char *comma = "";

	fprintf(out, "    \"logical\": [");
	for (unsigned c = 0; c < HZ_LOGICAL_LOCKS; c++) {
		const struct logical_class *all = &classes[c];

		if (!sum_of(all->had) && !sum_of(all->waits) && !all->wait.total)
			continue;
		fprintf(out, "%s", comma);
		write_class(out, vc_logical_class_name(c), all);
		comma = ",";
	}
	fprintf(out, "\n    ],\n");
	write_logical_locks(out);
}
