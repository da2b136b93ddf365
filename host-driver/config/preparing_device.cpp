/* Preparing device: the usual harts, locks and costs in place of its own. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/preparing_device.hpp"

#include "config/device_yaml.hpp"
#include "config/placement.hpp"
#include "device_fields.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace hz::conf {
namespace {

void make_usual(hz_device_config &cfg, std::string_view section)
{
	const hz_device_config usual = device_defaults();
	for (const hz_field &field : hz_device_fields)
		for (unsigned i = 0; i < field.items && field.section == section; i++)
			hz_field_write(&field, &cfg, i, hz_field_read(&field, &usual, i));
}

} // namespace

hz_device_config preparing_device(const hz_device_config &cfg)
{
	hz_device_config usual = cfg;
	memset(usual.name, 0, sizeof(usual.name));
	strcpy(usual.name, "prepared");
	make_usual(usual, "locks");
	usual.lock_stats = HZ_STATS_OFF;
	make_usual(usual, "clock");
	make_usual(usual, "hardware");
	for (const char *section : {"energy", "energy.slc", "energy.normal"})
		make_usual(usual, section);
	usual.shelf_hours = 0;
	usual.sram_bytes = usual.dram_bytes = 0;
	make_usual(usual, "harts");
	place_roles(usual, usual.tsu_count, std::max({usual.worker_count, cfg.conventional_frontiers, cfg.conventional_collectors}));
	return usual;
}

} // namespace hz::conf
