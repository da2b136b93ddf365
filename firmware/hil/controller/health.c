/* Health. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/health.h"

/* Of critical warnings that stand, those in `warnings`. */
static void tell_warnings(struct health *health, uint32_t warnings)
{
	if (health->warning & warnings & NVME_WARNING_SPARE)
		async_events_raise(health->events, NVME_AEN_SMART, NVME_AEN_SMART_SPARE);
	if (health->warning & warnings & NVME_WARNING_RELIABILITY)
		async_events_raise(health->events, NVME_AEN_SMART, NVME_AEN_SMART_RELIABILITY);
}

/* Zones that the device has changed, if the host asks for that and has not read of them. */
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

/* What mount found lost goes into the error log; no command's error: queue and command id are all ones. */
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

/* What is retired never comes back, so the warning stands from then on. */
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
