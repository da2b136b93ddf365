/* The usual placement of roles: one thread per hart. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/placement.hpp"

#include <algorithm>
#include <cstring>

namespace hz::conf {

void place_roles(hz_device_config &cfg, uint32_t tsus, uint32_t workers)
{
	cfg.tsu_count = std::min<uint32_t>(tsus, HZ_MAX_TSU);
	cfg.worker_count = std::min<uint32_t>(workers, HZ_MAX_WORKERS);
	memset(cfg.hil_hart, 0, sizeof(cfg.hil_hart));
	memset(cfg.tsu_hart, 0, sizeof(cfg.tsu_hart));
	memset(cfg.worker_hart, 0, sizeof(cfg.worker_hart));
	const uint32_t hils = cfg.hil_count;
	for (uint32_t i = 0; i < hils; i++)
		cfg.hil_hart[i] = uint8_t(i);
	for (uint32_t i = 0; i < cfg.tsu_count; i++)
		cfg.tsu_hart[i] = uint8_t(hils + i);
	for (uint32_t i = 0; i < cfg.worker_count; i++)
		cfg.worker_hart[i] = uint8_t(hils + cfg.tsu_count + i);
	cfg.harts = hils + cfg.tsu_count + cfg.worker_count;
}

} // namespace hz::conf
