/* The HIL's view of the device behind it: the FTL, and the TSU for figures of the media. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/controller_ops.h"

#include "device.h"
#include "tsu/tsu_report.h"
#include "tsu/tsu_image.h"

static struct ftl *ftl_of(void *ctx, uint32_t number) { return ((struct device *)ctx)->namespaces.ftl[number]; }

static void ops_submit(void *ctx, unsigned worker, struct ftl_request *req, uint32_t number)
{
	ftl_submit(ftl_of(ctx, number), worker, req);
}

static void ops_set_watch(void *ctx, struct ftl_watch *watch)
{
	for (uint32_t i = 0; i < ((struct device *)ctx)->namespaces.count; i++)
		ftl_set_watch(ftl_of(ctx, i), watch);
}

static uint32_t ops_changed_zones(void *ctx, uint32_t number, uint64_t *start, uint32_t most, bool take)
{
	return ftl_changed_zones(ftl_of(ctx, number), start, most, take);
}

static void ops_damage_found(void *ctx, uint32_t number, struct ftl_damage *out) { ftl_damage_found(ftl_of(ctx, number), out); }

static void ops_health(void *ctx, struct ftl_health *out) { ftl_namespaces_health(&((struct device *)ctx)->namespaces, out); }

static struct namespace_record ops_namespace_record(void *ctx, uint32_t number)
{
	struct nand_namespace kept = tsu_namespace_state(((struct device *)ctx)->tsu, number);

	return (struct namespace_record){ kept.sectors, kept.state, kept.created };
}

static void ops_keep_namespace(void *ctx, uint32_t number, struct namespace_record record)
{
	tsu_set_namespace(((struct device *)ctx)->tsu, number, (struct nand_namespace){ record.sectors, record.state, record.created });
}

static void ops_controller_record(void *ctx, struct hz_nand_controller *out) { tsu_controller(((struct device *)ctx)->tsu, out); }

static void ops_keep_controller(void *ctx, const struct hz_nand_controller *record)
{
	tsu_set_controller(((struct device *)ctx)->tsu, record);
}

static void ops_power_history(void *ctx, struct power_history *out)
{
	struct nand_history history;

	tsu_history(((struct device *)ctx)->tsu, &history);
	*out = (struct power_history){ history.power_cycles, history.unsafe_shutdowns, history.powered_ns };
}

static void ops_shut_down(void *ctx, bool done) { tsu_shut_down(((struct device *)ctx)->tsu, done); }

static void ops_publish(void *ctx)
{
	tsu_publish(((struct device *)ctx)->tsu);
	for (uint32_t i = 0; i < ((struct device *)ctx)->namespaces.count; i++)
		ftl_publish(ftl_of(ctx, i));
}

static void ops_flash_published(void *ctx, struct hz_log_flash *out, struct hz_log_energy *energy)
{
	tsu_published(((struct device *)ctx)->tsu, out);
	if (energy)
		tsu_energy_published(((struct device *)ctx)->tsu, energy);
}

static uint64_t ops_in_place(void *ctx)
{
	uint64_t sectors = 0;

	for (uint32_t i = 0; i < ((struct device *)ctx)->namespaces.count; i++)
		sectors += ftl_in_place_sectors(ftl_of(ctx, i));
	return sectors;
}

static void ops_note_placement_events(void *ctx, uint32_t number, uint32_t handle, uint32_t types)
{
	ftl_note_placement_events(ftl_of(ctx, number), handle, types);
}

static uint32_t ops_placement_events_noted(void *ctx, uint32_t number, uint32_t handle)
{
	return ftl_placement_events_noted(ftl_of(ctx, number), handle);
}

static uint32_t ops_placement_events(void *ctx, uint32_t number, bool of_host, struct ftl_placement_event *out)
{
	return ftl_placement_events(ftl_of(ctx, number), of_host, out);
}

static void ops_forget_placement_events(void *ctx, uint32_t number) { ftl_forget_placement_events(ftl_of(ctx, number)); }

static void ops_ftl_published(void *ctx, uint32_t number, struct hz_log_ftl *out)
{
	ftl_published(((struct device *)ctx)->namespaces.ftl[number], out);
}

void controller_ops_init(struct controller_ops *ops, struct device *device)
{
	*ops = (struct controller_ops){
		.ctx = device,
		.submit = ops_submit,
		.set_watch = ops_set_watch,
		.changed_zones = ops_changed_zones,
		.damage_found = ops_damage_found,
		.health = ops_health,
		.namespace_record = ops_namespace_record,
		.keep_namespace = ops_keep_namespace,
		.controller_record = ops_controller_record,
		.keep_controller = ops_keep_controller,
		.power_history = ops_power_history,
		.shut_down = ops_shut_down,
		.publish = ops_publish,
		.flash_published = ops_flash_published,
		.ftl_published = ops_ftl_published,
		.in_place = ops_in_place,
		.note_placement_events = ops_note_placement_events,
		.placement_events_noted = ops_placement_events_noted,
		.placement_events = ops_placement_events,
		.forget_placement_events = ops_forget_placement_events,
	};
}
