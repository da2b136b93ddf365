/* Preparing device: the usual harts, locks and costs in place of its own. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/preparing_device.hpp"

#include "config/device_yaml.hpp"
#include "config/placement.hpp"
#include "config_check.h"
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

bool is_legal(const hz_device_config &cfg)
{
	char text[512];
	return !hz_device_config_check(&cfg, text, sizeof(text));
}

} // namespace

hz_device_config preparing_device(const hz_device_config &cfg)
{
	hz_device_config own_harts = cfg;
	memset(own_harts.name, 0, sizeof(own_harts.name));
	strcpy(own_harts.name, "prepared");
	make_usual(own_harts, "locks");
	own_harts.lock_stats = HZ_STATS_OFF;
	make_usual(own_harts, "clock");
	own_harts.shelf_hours = 0;
	own_harts.sram_bytes = own_harts.dram_bytes = 0;
	hz_device_config usual_harts = own_harts;
	make_usual(usual_harts, "harts");
	place_roles(usual_harts, usual_harts.tsu_count, std::max(usual_harts.worker_count, cfg.conventional_frontiers));
	return is_legal(usual_harts) ? usual_harts : own_harts;
}

} // namespace hz::conf
