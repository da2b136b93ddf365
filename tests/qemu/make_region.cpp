// make_region DEVICE.yaml HARTS VIRTUAL OUT: writes ivshmem #0 as the host driver would, for tests that are not written in C++.
// Prints the size of the NAND image that belongs to it.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>

#include "config/device_yaml.hpp"
#include "config/placement.hpp"
#include "nand_image.h"
#include "shm.h"

namespace {

// HIL on hart 0, TSU on a hart of its own from three harts on, workers on the rest, up to 60 of them; further harts stay without a role.
void place(hz_device_config &cfg, uint32_t harts)
{
	if (harts > 2) {
		hz::conf::place_roles(cfg, 1, std::min<uint32_t>(harts - 2, HZ_MAX_WORKERS));
	} else {
		cfg.tsu_count = cfg.worker_count = 1;
		cfg.hil_hart[0] = cfg.tsu_hart[0] = 0;
		cfg.worker_hart[0] = static_cast<uint8_t>(harts - 1);
	}
	cfg.harts = harts;
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc != 5)
		return 2;
	auto harts = static_cast<uint32_t>(std::atoi(argv[2]));
	hz_device_config cfg = hz::conf::load_device(argv[1]);
	place(cfg, harts);
	hz::conf::require_legal(cfg, argv[1]);
	hz_shm_header header = {};
	header.magic = HZ_SHM_MAGIC;
	header.version = HZ_SHM_VERSION;
	header.header_bytes = sizeof(header);
	header.region_bytes = 64 << 20;
	header.virtual_clock = static_cast<uint32_t>(std::atoi(argv[3]));
	std::ofstream file(argv[4], std::ios::binary | std::ios::trunc);
	file.write(reinterpret_cast<const char *>(&header), sizeof(header));
	file.seekp(HZ_SHM_CONFIG_OFFSET);
	file.write(reinterpret_cast<const char *>(&cfg), sizeof(cfg));
	file.seekp(static_cast<std::streamoff>(header.region_bytes) - 1);
	file.put(0);
	std::printf("%llu\n", static_cast<unsigned long long>(hz_nand_image_bytes(&cfg)));
	return file.good() ? 0 : 1;
} catch (const std::exception &error) {
	std::fprintf(stderr, "make_region: %s\n", error.what());
	return 1;
}
