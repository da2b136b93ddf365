/* Writing the JSON report. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schedule/clock.h"
#include "profile/lock_profile.h"
#include "cost/line.h"
#include "profile/account.h"
#include "race/race.h"
#include "guest/symbol.h"
#include "profile/timeline.h"

static void write_costs(FILE *out)
{
	const struct vc_costs *cost = &vc.options.cost;
	const struct {
		const char *name;
		uint64_t value;
	} all[] = { { "insn", cost->insn },
		    { "local", cost->local },
		    { "remote", cost->remote },
		    { "far", cost->far },
		    { "memory", cost->memory },
		    { "occupancy", cost->occupancy },
		    { "wake", cost->wake },
		    { "pause", cost->pause },
		    { "ipi", cost->ipi },
		    { "load", cost->load },
		    { "store", cost->store },
		    { "mul", cost->mul },
		    { "div", cost->div },
		    { "branch", cost->branch },
		    { "csr", cost->csr },
		    { "div_bit", cost->div_bit },
		    { "loop_exit", cost->loop_exit },
		    { "clean", cost->clean },
		    { "dispatch", cost->dispatch },
		    { "pause_multiple", cost->pause_multiple },
		    { "l2", cost->l2 },
		    { "l2_bytes", vc.options.l2_bytes },
		    { "l2_ways", vc.options.l2_ways },
		    { "cluster", vc.options.cluster },
		    { "cache_bytes", vc.options.cache_bytes },
		    { "cache_ways", vc.options.cache_ways },
		    { "layout", vc.options.layout },
		    { "store_buffer", vc.options.store_buffer } };

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		fprintf(out, "\"%s\": %" PRIu64 ", ", all[i].name, all[i].value);
}

static void write_parameters(FILE *out)
{
#define HZ_WORD(constant, word, ...) word,
	static const char *const data_words[] = { HZ_CLOCK_DATA_LIST(HZ_WORD) };
#undef HZ_WORD
	const struct vc_options *o = &vc.options;

	fprintf(out, "  \"parameters\": {\"preset\": \"%s\", \"harts\": %u, \"mhz\": %" PRIu64 ", ", o->preset, vc.harts, o->mhz);
	write_costs(out);
	fprintf(out,
		"\"data\": \"%s\", \"reads\": \"%s\", \"busy\": \"%s\", \"arbiter\": \"%s\", \"lr\": \"%s\", \"hold\": %" PRIu64
		", \"hold_class\": %" PRIu64 ", \"transfer\": %" PRIu64 ", \"transfer_class\": %" PRIu64 ", \"pace\": %" PRIu64
		", \"pace_harts\": %" PRIu64 ", \"spin_limit_ns\": %" PRIu64 ", \"count\": \"%s\", \"race_check\": %s, \"jitter\": ",
		data_words[o->data], o->merge ? "merge" : "queue", o->busy_access ? "access" : "occupancy", o->turns ? "turns" : "arrival",
		o->lr_alone ? "write" : "read", o->hold, o->hold_class, o->transfer, o->transfer_class, o->pace, o->pace_harts,
		o->spin_limit, o->count_each ? "insn" : "segment", o->race_check ? "true" : "false");
	if (o->jitter.seed)
		fprintf(out, "{\"seed\": %" PRIu64 ", \"permille\": %" PRIu64 "}},\n", o->jitter.seed, o->jitter.permille);
	else
		fprintf(out, "null},\n");
}

/* The reason names the first flag in the order of enum vc_flag; the report has all counts. */
static void write_verdict(FILE *out)
{
	const char *reason = strcmp(vc.end, "end") ? vc.end : "";

	for (int f = VC_FLAGS - 1; f >= 0; f--)
		if (vc.flags[f])
			reason = vc_flag_name((enum vc_flag)f);
	fprintf(out, "  \"end\": \"%s\",\n  \"deterministic\": %s,\n  \"reason\": \"%s\",\n  \"flags\": {", vc.end,
		*reason ? "false" : "true", reason);
	for (int f = 0; f < VC_FLAGS; f++)
		fprintf(out, "%s\"%s\": %" PRIu64, f ? ", " : "", vc_flag_name((enum vc_flag)f), vc.flags[f]);
	fprintf(out, "},\n");
}

static void write_order(FILE *out)
{
	uint64_t total = 0;

	fprintf(out, "  \"order_hash\": \"%016" PRIx64 "\",\n  \"orders\": %" PRIu64 ",\n", vc.order_hash, vc.orders);
	fprintf(out, "  \"switches\": {");
	for (int k = 0; k < VC_KINDS; k++) {
		total += vc.switches[k];
		if (vc.switches[k])
			fprintf(out, "\"%s\": %" PRIu64 ", ", vc_kind_name((enum vc_kind)k), vc.switches[k]);
	}
	fprintf(out, "\"total\": %" PRIu64 "},\n", total);
	fprintf(out, "  \"parks\": %" PRIu64 ",\n  \"wakes\": %" PRIu64 ",\n", vc.parks, vc.wakes);
}

static void write_fetches(FILE *out, const struct vc_hart *h)
{
	fprintf(out, ", \"data\": {\"near\": %" PRIu64 ", \"far\": %" PRIu64 ", \"memory\": %" PRIu64 ", ",
		h->fetches[VC_NEAR] + h->fetches[VC_CLEAN], h->fetches[VC_FAR], h->fetches[VC_MEMORY]);
	if (vc.options.l2_bytes)
		fprintf(out, "\"l2\": %" PRIu64 ", ", h->fetches[VC_L2]);
	fprintf(out, "\"cycles\": %" PRIu64 "}", h->fetch_cycles);
}

static void write_stores(FILE *out, const struct vc_hart *h)
{
	fprintf(out, ", \"store_buffer\": {\"stores\": %" PRIu64 ", \"waited\": %" PRIu64 "}", h->stores.entered, h->stores.waited);
}

static void write_harts(FILE *out)
{
	fprintf(out, "  \"harts\": [");
	for (unsigned i = 0; i < vc.harts; i++) {
		const struct vc_hart *h = &vc.hart[i];

		fprintf(out, "%s\n    {\"hart\": %u, \"cycles\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"counted\": %" PRIu64, i ? "," : "", i,
			vc_clock(h), vc_cycles_to_ns(vc_clock(h)), vc_counted(h));
		if (vc.options.data)
			write_fetches(out, h);
		if (vc.options.store_buffer)
			write_stores(out, h);
		fprintf(out, "}");
	}
	fprintf(out, "\n  ],\n");
}

static void write_lines(FILE *out)
{
	struct vc_line *lines = calloc(vc.options.lines + 1, sizeof(*lines));
	unsigned n = lines ? vc_line_top(lines, vc.options.lines) : 0;
	char name[160];

	fprintf(out, "  \"lines\": [");
	for (unsigned i = 0; i < n; i++)
		fprintf(out,
			"%s\n    {\"line\": \"%s\", \"accesses\": %" PRIu64 ", \"transfers\": %" PRIu64 ", \"queue_cycles\": %" PRIu64
			", \"parks\": %" PRIu64 ", \"wakes\": %" PRIu64 ", \"data_transfers\": %" PRIu64 "}",
			i ? "," : "", vc_symbol(vc_line_address(&lines[i]), name, sizeof(name)), lines[i].accesses, lines[i].transfers,
			lines[i].queue_cycles, lines[i].parks, lines[i].wakes, lines[i].data_transfers);
	fprintf(out, "\n  ],\n");
	free(lines);
}

/* Cost on the host; differs between runs. */
static void write_host(FILE *out)
{
	struct timespec now;
	uint64_t ns, retired = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - vc.started_host_ns;
	for (unsigned i = 0; i < vc.harts && vc.hart[i].retired; i++)
		retired += *vc.hart[i].retired;
	fprintf(out,
		"  \"host\": {\"wall_ns\": %" PRIu64 ", \"retired\": %" PRIu64 ", \"host_waits\": %" PRIu64 ", \"host_wakes\": %" PRIu64
		", \"hand_overs\": %" PRIu64 ", \"bulk_bytes\": %" PRIu64 ", \"native_calls\": %" PRIu64 ", \"switch\": \"%s\"}\n",
		vc.started_host_ns ? ns : 0, retired, vc.host_waits, vc.host_wakes, vc.hand_overs, vc.bulk_bytes, vc.native_calls,
		vc.options.switch_by == VC_SWITCH_USER ? "user" : "futex");
}

void vc_report_write(void)
{
	char temporary[4096];
	FILE *out;

	if (!vc.options.report)
		return;
	snprintf(temporary, sizeof(temporary), "%s.tmp", vc.options.report);
	out = fopen(temporary, "we");
	if (!out) {
		vc_say("cannot write %s: %s", temporary, strerror(errno));
		return;
	}
	fprintf(out, "{\n");
	write_parameters(out);
	write_verdict(out);
	if (vc.hart[0].retired) {
		write_order(out);
		write_harts(out);
		write_lines(out);
	}
	if (vc.options.locks) {
		fprintf(out, "  \"locks\": ");
		vc_lock_profile_write_json(out);
		fprintf(out, ",\n");
	}
	if (vc.options.race_check) {
		fprintf(out, "  \"races\": [");
		vc_race_write_json(out);
		fprintf(out, "\n  ],\n");
	}
	write_host(out);
	fprintf(out, "}\n");
	if (vc.options.timeline)
		vc_timeline_write();
	if (vc.options.profile && vc.hart[0].retired)
		vc_profile_write();
	if (fclose(out) || rename(temporary, vc.options.report))
		vc_say("cannot write %s: %s", vc.options.report, strerror(errno));
}
