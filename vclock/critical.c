/* Keeping shares, and what they are together. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "critical.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ledger_report.h"
#include "lock_names.h"
#include "table.h"
#include "vclock_abi.h"

enum { FIRST_ROOM = 8, MOST_TOLD = 16 };

static const char *const names[VC_CRITICALS] = { "spin", "held", "behind", "waits" };

/* Of the requests of a kind in a bucket. */
struct sum {
	uint64_t tag; /* the lock's, and those two above it */
	uint64_t cycles[VC_CRITICALS];
};
#define TAG(kind, bucket, lock) ((lock) | (uint64_t)(kind) << 41 | (uint64_t)(bucket) << 48)
#define TAG_LOCK(tag) ((tag) & ((1ull << 41) - 1))
#define TAG_KIND(tag) ((tag) >> 41 & 127)
#define TAG_BUCKET(tag) ((tag) >> 48)

static struct vc_table sums = { .entry_bytes = sizeof(struct sum) };

static struct vc_share *share_of(struct vc_shares *shares, uint64_t lock)
{
	for (unsigned i = 0; i < shares->count; i++)
		if (shares->at[i].lock == lock)
			return &shares->at[i];
	if (shares->count == shares->room) {
		shares->room = shares->room ? shares->room * 2 : FIRST_ROOM;
		shares->at = realloc(shares->at, shares->room * sizeof(*shares->at));
		if (!shares->at)
			abort();
	}
	shares->at[shares->count] = (struct vc_share){ .lock = lock };
	return &shares->at[shares->count++];
}

void vc_share_add(struct vc_shares *shares, uint64_t lock, enum vc_critical what, uint64_t cycles)
{
	share_of(shares, lock)->cycles[what] += cycles;
}

static void add(uint64_t *to, const uint64_t *cycles)
{
	for (unsigned i = 0; i < VC_CRITICALS; i++)
		to[i] += cycles[i];
}

void vc_critical_count(unsigned kind, unsigned bucket, const struct vc_shares *shares)
{
	for (unsigned i = 0; i < shares->count; i++) {
		struct sum *sum = vc_table_at(&sums, TAG(kind, bucket, shares->at[i].lock));

		add(sum->cycles, shares->at[i].cycles);
	}
}

void vc_critical_begin_anew(void)
{
	for (uint64_t i = 0; i < sums.slots; i++) {
		struct sum *sum = vc_table_entry(&sums, i);

		if (sum)
			memset(sum->cycles, 0, sizeof(sum->cycles));
	}
}

/* --- report --- */

static uint64_t all_of(const struct sum *sum)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < VC_CRITICALS; i++)
		all += sum->cycles[i];
	return all;
}

static int most(const void *a, const void *b)
{
	const struct sum *x = *(const void *const *)a, *y = *(const void *const *)b;

	return vc_by_weight(all_of(x), all_of(y), x->tag, y->tag);
}

/* With `classes`, all of a class as its lock of index 0. */
static void gather(struct vc_table *out, unsigned kind, unsigned bucket, bool classes)
{
	for (uint64_t i = 0; i < sums.slots; i++) {
		const struct sum *sum = vc_table_entry(&sums, i);
		uint64_t lock;

		if (!sum || TAG_KIND(sum->tag) != kind || TAG_BUCKET(sum->tag) < bucket || !all_of(sum))
			continue;
		lock = TAG_LOCK(sum->tag);
		add(((struct sum *)vc_table_at(out, classes ? lock >> 32 << 32 : lock))->cycles, sum->cycles);
	}
}

static const char *class_name(uint64_t lock)
{
	if (!(lock & VC_LOGICAL_LOCK(0)))
		return vc_lock_class_name(HZ_VC_LOCK_CLASS(lock));
	lock &= ~VC_LOGICAL_LOCK(0);
	return lock ? vc_logical_class_name(HZ_VC_LOCK_CLASS(lock)) : "turn";
}

static void write_cycles(FILE *out, const struct sum *sum)
{
	if (sum->tag & VC_LOGICAL_LOCK(0)) {
		fprintf(out, "\"%s\": %" PRIu64, names[VC_WAITED], sum->cycles[VC_WAITED]);
		return;
	}
	for (unsigned i = 0; i < VC_WAITED; i++)
		fprintf(out, "%s\"%s\": %" PRIu64, i ? ", " : "", names[i], sum->cycles[i]);
}

static void write_sums(FILE *out, const char *name, unsigned kind, unsigned bucket, uint64_t cycles, bool classes)
{
	struct vc_table table = { .entry_bytes = sizeof(struct sum) };
	const void **all;
	unsigned n;

	gather(&table, kind, bucket, classes);
	n = vc_sorted(&table, most, &all);
	fprintf(out, ", \"%s\": [", name);
	for (unsigned i = 0; i < n && (classes || i < MOST_TOLD); i++) {
		const struct sum *sum = all[i];

		fprintf(out, "%s{\"class\": \"%s\", \"logical\": %s, ", i ? ", " : "", class_name(sum->tag),
			sum->tag & VC_LOGICAL_LOCK(0) ? "true" : "false");
		if (!classes)
			fprintf(out, "\"index\": %" PRIu32 ", ", HZ_VC_LOCK_INDEX(sum->tag));
		write_cycles(out, sum);
		fprintf(out, ", \"share\": %.6f}", (double)all_of(sum) / (double)cycles);
	}
	fprintf(out, "]");
	free(all);
	vc_table_drop(&table);
}

void vc_critical_write_json(FILE *out, unsigned kind, unsigned bucket, uint64_t cycles)
{
	write_sums(out, "lock_classes", kind, bucket, cycles, true);
	write_sums(out, "locks", kind, bucket, cycles, false);
}
