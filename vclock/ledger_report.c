/* Classes of locks, the locks that cost most, who waited for whom, what is taken while what is held. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "ledger_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "ledger.h"
#include "lock_names.h"
#include "logical.h"
#include "request.h"
#include "symbol.h"

enum { MOST_LOCKS = 32, MOST_BLAMES = 32 };

static char *kept;

static uint64_t taken(const struct vc_ledger_lock *lock)
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
	const struct vc_ledger_lock *x = *(const void *const *)a, *y = *(const void *const *)b;

	return vc_by_weight(x->wait_ns, y->wait_ns, x->tag, y->tag);
}

static int most_blamed(const void *a, const void *b)
{
	const struct vc_ledger_blame *x = *(const void *const *)a, *y = *(const void *const *)b;

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

/* Jain's index: 1 where all harts that took the lock took it equally often, 1 / n where one of n did alone. */
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

static void write_lock(FILE *out, const struct vc_ledger_lock *lock, bool first)
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
	unsigned n = vc_sorted(&vc_ledger.locks, longest_wait, &all), written = 0;

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

/* [from, to, times], where there were any. */
static void write_handovers(FILE *out, const struct vc_ledger_class *all)
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
	for (unsigned c = 0; c < VC_LEDGER_CLASSES; c++) {
		const struct vc_ledger_class *all = vc_ledger.classes[c];

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
	unsigned n = vc_sorted(&vc_ledger.blames, most_blamed, &all);
	char waiter[160], holder[160];

	fprintf(out, "    \"blame\": [");
	for (unsigned i = 0; i < n && i < MOST_BLAMES; i++) {
		const struct vc_ledger_blame *entry = all[i];

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
	for (unsigned held = 0; held < VC_LEDGER_CLASSES; held++)
		for (unsigned c = 0; c < VC_LEDGER_CLASSES; c++)
			if (vc_ledger.classes[c] && vc_ledger.classes[c]->takes_holding[held]) {
				fprintf(out, "%s{\"holding\": \"%s\", \"takes\": \"%s\", \"times\": %" PRIu64 "}", comma,
					vc_lock_class_name(held), vc_lock_class_name(c), vc_ledger.classes[c]->takes_holding[held]);
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

void vc_ledger_keep(void)
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

void vc_ledger_write_json(FILE *out)
{
	if (kept)
		fputs(kept, out);
	else
		write_now(out);
}
