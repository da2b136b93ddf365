// Runs both phases of a source on a fake device, reads back what they left, and hands back the measurement's account.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fake_device.hpp"
#include "replay/read_back.hpp"
#include "replay/replay_thread.hpp"

namespace hz::replay {

inline res::QueueAccount run_both(Port &device, wl::Source &source, unsigned depth, uint64_t seed = 5, unsigned ahead = 0)
{
	const std::atomic<bool> stop{false};
	ThreadOptions options;
	options.seed = seed;
	options.queue_depth = depth;
	options.ahead = ahead;
	ReplayThread prepare(device, source, options);
	if (prepare.prime())
		prepare.run(stop);
	EXPECT_EQ(prepare.account().mismatched_sectors, 0u) << prepare.account().first_mismatch;
	source.begin_measurement();
	options.start_ns = prepare.account().last_completion_ns + 1000000;
	ReplayThread measure(device, source, options);
	if (measure.prime())
		measure.run(stop);
	EXPECT_EQ(measure.account().submitted, measure.account().completed);
	ReadBack left(source.live(), 32);
	options.start_ns = measure.account().last_completion_ns + 1000000;
	ReplayThread sweep(device, left, options);
	if (sweep.prime())
		sweep.run(stop);
	EXPECT_EQ(sweep.account().mismatched_sectors, 0u) << sweep.account().first_mismatch;
	EXPECT_EQ(sweep.account().verified_bytes, left.live().size() * 4096);
	return measure.account();
}

inline wl::ZoneShare share_of(uint32_t first, uint32_t zones, uint64_t capacity)
{
	wl::ZoneShare share;
	share.first_zone = first;
	share.zones = zones;
	share.zone_capacity = capacity;
	share.zone_size = 1;
	while (share.zone_size < capacity)
		share.zone_size *= 2;
	share.max_transfer = share.max_append = 32;
	return share;
}

} // namespace hz::replay
