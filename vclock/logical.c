/* Counting logical locks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "logical.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "ledger_report.h"
#include "lock_names.h"
#include "logical_locks.h"
#include "memory.h"
#include "record.h"
#include "request.h"
#include "table.h"

enum { MOST_LOGICAL = 32 };

struct depth {
	uint64_t sum; /* waiters that each one found before it */
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
	uint64_t tag;  /* its address */
	uint64_t lock; /* 0: does not wait */
	uint64_t since_ns;
};

static struct logical_class classes[HZ_VC_LOGICAL_LOCKS];
static struct vc_table locks = { .entry_bytes = sizeof(struct logical_lock) };
static struct vc_table waiters = { .entry_bytes = sizeof(struct logical_waiter) };

/* The hint's number is the class, so the instruction itself says it. */
void vc_logical_had(const struct vc_hart *h)
{
	const void *code = vc_guest(h->wait_pc, 4);
	uint32_t insn = 0;

	if (vc.ended || !code)
		return;
	memcpy(&insn, code, sizeof(insn));
	classes[(insn >> 20) - HZ_VC_HAD].had[h->index]++;
	if ((insn >> 20) - HZ_VC_HAD == HZ_LOGICAL_COMPLETION)
		vc_record_completion(h);
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
