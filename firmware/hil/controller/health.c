/* Health, error log, and counters since the last reset. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/health.h"

#include "hil/queue/queues.h"
#include "lt/arena.h"
#include "nvme.h"

/* Health. */

/* Raise an event for each present critical warning in `warnings`. */
static void tell_warnings(struct health *health, uint32_t warnings)
{
	if (health->warning & warnings & NVME_WARNING_SPARE)
		async_events_raise(health->events, NVME_AEN_SMART, NVME_AEN_SMART_SPARE);
	if (health->warning & warnings & NVME_WARNING_RELIABILITY)
		async_events_raise(health->events, NVME_AEN_SMART, NVME_AEN_SMART_RELIABILITY);
}

/* Raise a notice of zones changed by the device, if it is enabled and the list has not been read. */
static void tell_zones(struct health *health)
{
	if (!(health->events->enabled & NVME_NOTICE_ZONES))
		return;
	for (uint32_t i = 0; i < health->namespaces; i++)
		if (health->device->changed_zones(health->device->ctx, i, NULL, 0, false))
			async_events_raise_zones(health->events, i);
}

void health_tell(struct health *health)
{
	tell_warnings(health, health->events->enabled);
	tell_zones(health);
}

/* Losses found by mount go into the error log; they are no command's error: queue and command id are all ones. */
static void note_damage(struct health *health, uint32_t number)
{
	struct ftl_damage damage;
	uint64_t losses, before;

	health->device->damage_found(health->device->ctx, number, &damage);
	losses = damage.lost_sectors + damage.unknown_sectors + damage.records;
	if (!losses)
		return;
	before = health->errors->media_errors;
	error_log_add(health->errors, UINT16_MAX, UINT16_MAX, NVME_UNRECOVERED_READ, damage.first_lba, number + 1);
	health->errors->media_errors = before + losses;
	health->warning |= NVME_WARNING_RELIABILITY;
}

/* Retired superblocks never come back, so the warning stays from then on. */
static void check_spare(struct health *health)
{
	struct ftl_health device;

	health->device->health(health->device->ctx, &device);
	if (device.spare_percent >= HEALTH_SPARE_THRESHOLD || health->warning & NVME_WARNING_SPARE)
		return;
	health->warning |= NVME_WARNING_SPARE;
	tell_warnings(health, health->events->enabled & NVME_WARNING_SPARE);
}

static void on_change(struct ftl_watch *watch)
{
	struct health *health = (struct health *)((char *)watch - offsetof(struct health, watch));

	check_spare(health);
	tell_zones(health);
}

void health_init(struct health *health, const struct controller_ops *device, uint32_t namespaces, struct error_log *errors,
		 struct async_events *events, const struct lt_thread *thread)
{
	*health = (struct health){
		.watch = { .thread = thread, .changed = on_change },
		.device = device,
		.namespaces = namespaces,
		.errors = errors,
		.events = events,
	};
	for (uint32_t i = 0; i < namespaces; i++)
		note_damage(health, i);
	check_spare(health);
	device->set_watch(device->ctx, &health->watch);
}

/* Error log. */

void error_log_init(struct error_log *log, struct arena *arena)
{
	log->entry = arena_alloc(arena, HIL_ERROR_ENTRIES, sizeof(*log->entry), "HIL error log");
}

void error_log_add(struct error_log *log, uint16_t sqid, uint16_t cid, uint16_t status, uint64_t lba, uint32_t nsid)
{
	uint64_t number = ++log->errors;

	log->media_errors += failure_is_of_media(status);
	log->entry[(number - 1) % HIL_ERROR_ENTRIES] = (struct nvme_error_entry){
		.error_count = number,
		.sqid = sqid,
		.cid = cid,
		.status_field = (uint16_t)(status << 1),
		.parameter_location = 0xffff,
		.lba = lba,
		.nsid = nsid,
	};
}

void error_log_copy(const struct error_log *log, struct nvme_error_entry *out)
{
	for (uint64_t i = 0; i < HIL_ERROR_ENTRIES && i < log->errors; i++)
		out[i] = log->entry[(log->errors - 1 - i) % HIL_ERROR_ENTRIES];
}

/* Counters since the last reset. */

enum { COUNTERS = offsetof(struct hz_log_ftl, host_read_sectors) }; /* from here on, in a record of the FTL */

void statistics_init(struct statistics *statistics, struct arena *arena, const struct controller_ops *device, uint32_t namespaces)
{
	statistics->device = device;
	statistics->namespaces = namespaces;
	statistics->media = arena_alloc_model(arena, 1, sizeof(*statistics->media), "HIL statistics base");
	statistics->ftl = arena_alloc_model(arena, namespaces, sizeof(*statistics->ftl), "HIL statistics base of namespaces");
}

void statistics_restart(struct statistics *statistics)
{
	const struct controller_ops *device = statistics->device;

	device->flash_published(device->ctx, &statistics->media->flash, &statistics->media->energy);
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

	statistics->device->flash_published(statistics->device->ctx, out, NULL);
	dies = out->dies;
	subtract_counters(out, &statistics->media->flash, offsetof(struct hz_log_flash, reads), sizeof(*out));
	out->dies = dies;
}

void statistics_energy(const struct statistics *statistics, struct hz_log_energy *out)
{
	struct hz_log_flash flash;

	statistics->device->flash_published(statistics->device->ctx, &flash, out);
	subtract_counters(out, &statistics->media->energy, offsetof(struct hz_log_energy, reads), sizeof(*out));
}

/* Add the counters of a namespace. */
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
