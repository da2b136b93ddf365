/* Profile of counted instructions by segment. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hot_spots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

/* One per segment, however often QEMU translates it. Counted by the token holder only. */
struct site {
	uint64_t pc, instructions;
	uint64_t runs[]; /* by hart */
};
struct entry {
	uint64_t tag; /* pc and number of instructions: a block may be cut differently when it is translated again */
	struct site *site;
};

static struct vc_table sites = { .entry_bytes = sizeof(struct entry) };
static pthread_mutex_t translating = PTHREAD_MUTEX_INITIALIZER;

static void ran(unsigned int vcpu, void *udata)
{
	struct site *site = udata;

	if (!vc.hart[vcpu].frozen && !vc.ended)
		site->runs[vcpu]++;
}

static struct site *site_of(uint64_t pc, uint64_t instructions)
{
	struct entry *entry = vc_table_at(&sites, pc << 10 | instructions);

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
	struct site *site;

	pthread_mutex_lock(&translating);
	site = site_of(qemu_plugin_insn_vaddr(first), instructions);
	pthread_mutex_unlock(&translating);
	qemu_plugin_register_vcpu_insn_exec_cb(first, ran, QEMU_PLUGIN_CB_NO_REGS, site);
}

static int by_address(const void *a, const void *b)
{
	const struct site *x = *(struct site *const *)a, *y = *(struct site *const *)b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->instructions < y->instructions ? -1 : x->instructions > y->instructions;
}

static uint64_t sorted(struct site **list)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < sites.slots; i++) {
		const struct entry *entry = vc_table_entry(&sites, i);

		if (entry)
			list[n++] = entry->site;
	}
	qsort(list, n, sizeof(*list), by_address);
	return n;
}

static void write_site(FILE *out, const struct site *site)
{
	for (unsigned hart = 0; hart < vc.harts; hart++)
		if (site->runs[hart])
			fprintf(out, "%u 0x%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", hart, site->pc, site->instructions, site->runs[hart]);
}

void vc_profile_write(void)
{
	FILE *out = fopen(vc.options.profile, "we");
	struct site **list = calloc(sites.used + 1, sizeof(*list));
	uint64_t n = list ? sorted(list) : 0;

	for (uint64_t i = 0; out && i < n; i++)
		write_site(out, list[i]);
	if (!out || fclose(out))
		vc_say("cannot write %s: %s", vc.options.profile, strerror(errno));
	free(list);
}
