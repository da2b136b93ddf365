// The initial device of tests: one of everything, all else minimal. Each test sets its own subject.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iterator>

#include "device_fields.h"

namespace support {

inline hz_device_config base_config(uint32_t channels = 1, uint32_t chips_per_channel = 1, uint32_t planes_per_die = 1)
{
	hz_device_config cfg;
	hz_device_least(&cfg);
	cfg.seed = 1;
	cfg.channels = channels;
	cfg.chips_per_channel = chips_per_channel;
	cfg.dies_per_chip = 1;
	cfg.planes_per_die = planes_per_die;
	cfg.slc_program_sectors = 1;
	cfg.flush_unit_planes = 1;
	cfg.write_buffers = 2;
	cfg.harts = 2;
	cfg.tsu_count = cfg.worker_count = 1;
	cfg.tsu_hart[0] = 1;
	cfg.inflight_requests = 16;
	cfg.copies = 2;
	return cfg;
}

// As locks.granularity.default of a device file: a number of locks says nothing to a class that has one.
inline void choose_granularity(hz_device_config &cfg, uint32_t granularity)
{
	enum { SHARDED, SINGLE, ONE, UNUSED };
	constexpr int classes[] = {
#define HZ_LOCK_CLASS(constant, name, level, shards, ...) shards,
#include "lock_classes.def"
	};
	const bool word = granularity <= HZ_LOCKS_CLASS || granularity == HZ_LOCKS_GLOBAL;
	for (size_t c = 0; c < std::size(classes); c++)
		if (classes[c] == SHARDED || (classes[c] == SINGLE && word))
			cfg.lock_granularity[c] = granularity;
}

// Three 16 KiB pages a program unit, 16 units a block.
inline void use_tlc(hz_device_config &cfg)
{
	cfg.cell = HZ_CELL_TLC;
	cfg.page_bytes = 16384;
	cfg.program_pages = 3;
	cfg.pages_per_block = 48;
}

} // namespace support
