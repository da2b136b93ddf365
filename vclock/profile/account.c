/* Keeping the accounts; profile of counted instructions by segment. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "account.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "guest/symbol.h"
#include "lock_profile.h"
#include "schedule/clock.h"

/* Totals since the run began; an account reports differences. */
struct totals {
	uint64_t clock; /* in cycles, as all members except instructions */
	struct vc_stage_counts work;
	uint64_t stalled, charged, waited, spin[VC_LOCK_CLASSES];
};
static struct account {
	struct vc_stage_counts *counts; /* QEMU's inline counters */
	struct vc_stage_counts outside; /* … at the begin of the freeze */
	uint64_t spin[VC_LOCK_CLASSES];
	struct totals asked, begun, shown;
} accounts[VC_MAX_HARTS];

void vc_account_open(unsigned hart, struct vc_stage_counts *counts) { accounts[hart].counts = counts; }

void vc_account_freeze(const struct vc_hart *h)
{
	if (vc.options.locks)
		accounts[h->index].outside = *accounts[h->index].counts;
}

void vc_account_thaw(const struct vc_hart *h)
{
	if (vc.options.locks)
		*accounts[h->index].counts = accounts[h->index].outside;
}

void vc_account_work(struct vc_hart *h, enum vc_stage stage, uint64_t cycles)
{
	h->retired[1] += cycles;
	if (vc.options.locks)
		accounts[h->index].counts->cycles[stage] += cycles;
}

static void total(const struct vc_hart *h, struct totals *out)
{
	const struct account *a = &accounts[h->index];

	*out = (struct totals){ .clock = vc_clock(h), .stalled = h->stalled, .charged = h->charged, .waited = h->waited };
	out->work = h->frozen ? a->outside : *a->counts;
	memcpy(out->spin, a->spin, sizeof(out->spin));
}

/* Book everything counted since the hart asked as spin. Called from inside a freeze. */
static void end_spin(struct vc_hart *h)
{
	struct account *a = &accounts[h->index];

	a->spin[HZ_VC_LOCK_CLASS(h->slot->arg1) % VC_LOCK_CLASSES] += vc_clock(h) - a->asked.clock;
	a->outside = a->asked.work;
	h->stalled = a->asked.stalled;
	h->charged = a->asked.charged;
	h->waited = a->asked.waited;
}

void vc_account_event(struct vc_hart *h)
{
	struct account *a = &accounts[h->index];

	if (!h->frozen)
		return;
	switch (h->slot->arg0) {
	case HZ_VC_LOCK_ASKED: return total(h, &a->asked);
	case HZ_VC_LOCK_WAITED: return end_spin(h);
	case HZ_VC_ACCOUNT_RESET: return total(h, &a->begun);
	case HZ_VC_ACCOUNT_SHOWN: return total(h, &a->shown);
	}
}

/* --- report --- */

/* Write each part; returns their sum. Charges are negative if option hold shortens sections. */
static uint64_t write_part(FILE *out, const char *comma, const char *name, uint64_t cycles)
{
	fprintf(out, "%s\"%s\": %" PRId64, comma, name, (int64_t)cycles);
	return cycles;
}

static uint64_t write_stages(FILE *out, const struct totals *from, const struct totals *to)
{
	uint64_t sum = 0;

	fprintf(out, "\"work\": {");
	for (unsigned s = 0; s < VC_STAGES; s++)
		sum += write_part(out, s ? ", " : "", vc_stage_names[s], to->work.cycles[s] - from->work.cycles[s]);
	fprintf(out, "}");
	return sum;
}

static uint64_t write_spin(FILE *out, const struct totals *from, const struct totals *to)
{
	const char *comma = "";
	uint64_t sum = 0;

	fprintf(out, ", \"spin\": {");
	for (unsigned c = 0; c < VC_LOCK_CLASSES; c++) {
		if (to->spin[c] == from->spin[c])
			continue;
		sum += write_part(out, comma, vc_lock_class_name(c), to->spin[c] - from->spin[c]);
		comma = ", ";
	}
	fprintf(out, "}");
	return sum;
}

static void write_account(FILE *out, unsigned hart)
{
	const struct totals *from = &accounts[hart].begun, *to = &accounts[hart].shown;
	uint64_t sum;

	fprintf(out, "%s\n      {\"hart\": %u, \"cycles\": %" PRIu64 ", ", hart ? "," : "", hart, to->clock - from->clock);
	sum = write_stages(out, from, to);
	sum += write_spin(out, from, to);
	sum += write_part(out, ", ", "stalls", to->stalled - from->stalled);
	sum += write_part(out, ", ", "charged", to->charged - from->charged);
	sum += write_part(out, ", ", "idle", to->waited - from->waited);
	fprintf(out, ", \"error\": %" PRId64 "}", (int64_t)(to->clock - from->clock - sum));
}

void vc_account_write_json(FILE *out)
{
	fprintf(out, "    \"accounts\": [");
	for (unsigned i = 0; i < vc.harts && accounts[vc.harts - 1].shown.clock; i++)
		write_account(out, i);
	fprintf(out, "\n    ],\n");
}

/* Stages of the firmware's code, by address. */

const char *const vc_stage_names[VC_STAGES] = {
#define HZ_STAGE(name, ...) #name,
#include "stages.def"
};

static uint64_t stage_begin[VC_STAGES + 1]; /* first address of each stage, and the end of the last; all 0: unknown */

void vc_stages_load(void)
{
	char symbol[64];

	for (unsigned s = 0; s < VC_STAGES; s++) {
		snprintf(symbol, sizeof(symbol), "stage_%s", vc_stage_names[s]);
		stage_begin[s] = vc_symbol_value(symbol);
	}
	stage_begin[VC_STAGES] = UINT64_MAX;
}

enum vc_stage vc_stage_of(uint64_t pc)
{
	for (unsigned s = 0; s < VC_STAGE_other; s++)
		if (pc >= stage_begin[s] && pc < stage_begin[s + 1])
			return (enum vc_stage)s;
	return VC_STAGE_other;
}

/* Hot spots. */

/* One per segment, however often QEMU translates it. Counted by the token holder only. */
struct segment {
	uint64_t pc, instructions;
	uint64_t runs[]; /* by hart */
};
struct segment_entry {
	uint64_t tag; /* pc and number of instructions: a block may be cut differently when it is translated again */
	struct segment *site;
};

static struct vc_table sites = { .entry_bytes = sizeof(struct segment_entry) };
static pthread_mutex_t translating = PTHREAD_MUTEX_INITIALIZER;

static void segment_ran(unsigned int vcpu, void *udata)
{
	struct segment *site = udata;

	if (!vc.hart[vcpu].frozen && !vc.ended)
		site->runs[vcpu]++;
}

static struct segment *segment_site(uint64_t pc, uint64_t instructions)
{
	struct segment_entry *entry = vc_table_at(&sites, pc << 10 | instructions);

	if (!entry->site) {
		entry->site = calloc(1, sizeof(*entry->site) + vc.harts * sizeof(entry->site->runs[0]));
		if (!entry->site)
			abort();
		entry->site->pc = pc;
		entry->site->instructions = instructions;
	}
	return entry->site;
}

void vc_profile_segment(struct qemu_plugin_insn *first, uint64_t instructions)
{
	struct segment *site;

	pthread_mutex_lock(&translating);
	site = segment_site(qemu_plugin_insn_vaddr(first), instructions);
	pthread_mutex_unlock(&translating);
	qemu_plugin_register_vcpu_insn_exec_cb(first, segment_ran, QEMU_PLUGIN_CB_NO_REGS, site);
}

static int segment_by_address(const void *a, const void *b)
{
	const struct segment *x = *(struct segment *const *)a, *y = *(struct segment *const *)b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->instructions < y->instructions ? -1 : x->instructions > y->instructions;
}

static uint64_t segments_sorted(struct segment **list)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < sites.slots; i++) {
		const struct segment_entry *entry = vc_table_entry(&sites, i);

		if (entry)
			list[n++] = entry->site;
	}
	qsort(list, n, sizeof(*list), segment_by_address);
	return n;
}

static void segment_write(FILE *out, const struct segment *site)
{
	for (unsigned hart = 0; hart < vc.harts; hart++)
		if (site->runs[hart])
			fprintf(out, "%u 0x%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", hart, site->pc, site->instructions, site->runs[hart]);
}

void vc_profile_write(void)
{
	FILE *out = fopen(vc.options.profile, "we");
	struct segment **list = calloc(sites.used + 1, sizeof(*list));
	uint64_t n = list ? segments_sorted(list) : 0;

	for (uint64_t i = 0; out && i < n; i++)
		segment_write(out, list[i]);
	if (!out || fclose(out))
		vc_say("cannot write %s: %s", vc.options.profile, strerror(errno));
	free(list);
}
