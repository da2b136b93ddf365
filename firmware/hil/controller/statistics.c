/* Counters since the last reset. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/statistics.h"

#include "lt/arena.h"

void statistics_init(struct statistics *statistics, struct arena *arena, const struct controller_ops *device)
{
	statistics->device = device;
	statistics->base = arena_alloc_model(arena, 1, sizeof(*statistics->base), "HIL statistics base");
}

void statistics_restart(struct statistics *statistics)
{
	const struct controller_ops *device = statistics->device;

	device->flash_published(device->ctx, &statistics->base->flash);
	device->ftl_published(device->ctx, &statistics->base->ftl);
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
	subtract_counters(out, &statistics->base->flash, offsetof(struct hz_log_flash, reads), sizeof(*out));
	out->dies = dies;
}

void statistics_ftl(const struct statistics *statistics, struct hz_log_ftl *out)
{
	statistics->device->ftl_published(statistics->device->ctx, out);
	subtract_counters(out, &statistics->base->ftl, offsetof(struct hz_log_ftl, host_read_sectors), sizeof(*out));
}
