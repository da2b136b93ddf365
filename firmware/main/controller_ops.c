/* The HIL's view of the device behind it: the FTL, and the TSU for what the media know. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/controller_ops.h"

#include "device.h"
#include "tsu/tsu_report.h"
#include "tsu/tsu_rest.h"

static void ops_submit(void *ctx, unsigned worker, struct ftl_request *req) { ftl_submit(((struct device *)ctx)->ftl, worker, req); }

static void ops_set_watch(void *ctx, struct ftl_watch *watch) { ftl_set_watch(((struct device *)ctx)->ftl, watch); }

static uint32_t ops_changed_zones(void *ctx, uint64_t *start, uint32_t most, bool take)
{
	return ftl_changed_zones(((struct device *)ctx)->ftl, start, most, take);
}

static void ops_damage_found(void *ctx, struct ftl_damage *out) { ftl_damage_found(((struct device *)ctx)->ftl, out); }

static void ops_health(void *ctx, struct ftl_health *out) { ftl_report_health(((struct device *)ctx)->ftl, out); }

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
	ftl_publish(((struct device *)ctx)->ftl);
}

static void ops_flash_published(void *ctx, struct hz_log_flash *out) { tsu_published(((struct device *)ctx)->tsu, out); }

static uint64_t ops_in_place(void *ctx) { return ftl_in_place_sectors(((struct device *)ctx)->ftl); }

static void ops_ftl_published(void *ctx, struct hz_log_ftl *out) { ftl_published(((struct device *)ctx)->ftl, out); }

void controller_ops_init(struct controller_ops *ops, struct device *device)
{
	*ops = (struct controller_ops){
		.ctx = device,
		.submit = ops_submit,
		.set_watch = ops_set_watch,
		.changed_zones = ops_changed_zones,
		.damage_found = ops_damage_found,
		.health = ops_health,
		.power_history = ops_power_history,
		.shut_down = ops_shut_down,
		.publish = ops_publish,
		.flash_published = ops_flash_published,
		.ftl_published = ops_ftl_published,
		.in_place = ops_in_place,
	};
}
