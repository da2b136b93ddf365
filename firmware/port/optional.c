/* Functions of the port as an FTL has them that has no zones and nothing to mount. They are weak: one that the FTL of an image
 * defines takes their place. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/ftl_port.h"

#define OPTIONAL __attribute__((weak))

OPTIONAL const struct hz_mount_report *ftl_mount_report(const struct ftl *ftl)
{
	static const struct hz_mount_report nothing;

	(void)ftl;
	return &nothing;
}

OPTIONAL void ftl_damage_found(const struct ftl *ftl, struct ftl_damage *out)
{
	(void)ftl;
	*out = (struct ftl_damage){ 0 };
}

OPTIONAL void ftl_report_health(const struct ftl *ftl, struct ftl_health *out)
{
	(void)ftl;
	*out = (struct ftl_health){ .spare_percent = 100 };
}

OPTIONAL void ftl_set_watch(struct ftl *ftl, struct ftl_watch *watch) { (void)ftl, (void)watch; }

OPTIONAL uint32_t ftl_changed_zones(struct ftl *ftl, uint64_t *start, uint32_t most, bool take)
{
	(void)ftl, (void)start, (void)most, (void)take;
	return 0;
}

OPTIONAL uint64_t ftl_in_place_sectors(const struct ftl *ftl)
{
	(void)ftl;
	return 0;
}

OPTIONAL void ftl_note_placement_events(struct ftl *ftl, uint32_t handle, uint32_t types) { (void)ftl, (void)handle, (void)types; }

OPTIONAL uint32_t ftl_placement_events_noted(const struct ftl *ftl, uint32_t handle)
{
	(void)ftl, (void)handle;
	return 0;
}

OPTIONAL uint32_t ftl_placement_events(struct ftl *ftl, bool of_host, struct ftl_placement_event *out)
{
	(void)ftl, (void)of_host, (void)out;
	return 0;
}

OPTIONAL void ftl_forget_placement_events(struct ftl *ftl) { (void)ftl; }
