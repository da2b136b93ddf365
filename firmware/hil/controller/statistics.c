/* Counters since the last reset. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/statistics.h"

#include "lt/arena.h"
#include "nvme.h"

enum { COUNTERS = offsetof(struct hz_log_ftl, host_read_sectors) }; /* from here on, in a record of the FTL */

void statistics_init(struct statistics *statistics, struct arena *arena, const struct controller_ops *device, uint32_t namespaces)
{
	statistics->device = device;
	statistics->namespaces = namespaces;
	statistics->flash = arena_alloc_model(arena, 1, sizeof(*statistics->flash), "HIL statistics base");
	statistics->ftl = arena_alloc_model(arena, namespaces, sizeof(*statistics->ftl), "HIL statistics base of namespaces");
}

void statistics_restart(struct statistics *statistics)
{
	const struct controller_ops *device = statistics->device;

	device->flash_published(device->ctx, statistics->flash);
	for (uint32_t i = 0; i < statistics->namespaces; i++)
		device->ftl_published(device->ctx, i, &statistics->ftl[i]);
}

/* Both records are 64-bit counters from `first` to their end. */
static void subtract_counters(void *from, const void *base, size_t first, size_t bytes)
{
	for (size_t i = first / 8; i < bytes / 8; i++)
		((uint64_t *)from)[i] -= ((const uint64_t *)base)[i];
}

void statistics_flash(const struct statistics *statistics, struct hz_log_flash *out)
{
	uint64_t dies;

	statistics->device->flash_published(statistics->device->ctx, out);
	dies = out->dies;
	subtract_counters(out, statistics->flash, offsetof(struct hz_log_flash, reads), sizeof(*out));
	out->dies = dies;
}

/* Adds what a namespace has counted. */
static void add_ftl(const struct statistics *statistics, uint32_t number, struct hz_log_ftl *sum)
{
	struct hz_log_ftl part;

	statistics->device->ftl_published(statistics->device->ctx, number, &part);
	sum->version = part.version;
	subtract_counters(&part, &statistics->ftl[number], COUNTERS, sizeof(part));
	for (size_t i = COUNTERS / 8; i < sizeof(part) / 8; i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)&part)[i];
}

void statistics_ftl(const struct statistics *statistics, uint32_t nsid, struct hz_log_ftl *out)
{
	*out = (struct hz_log_ftl){ 0 };
	for (uint32_t i = 0; i < statistics->namespaces; i++)
		if (nsid == 0 || nsid == NVME_NSID_ALL || nsid == i + 1)
			add_ftl(statistics, i, out);
}
