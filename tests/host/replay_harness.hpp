// Runs a phase of a source on a fake device; or both phases, reads back their data, and returns the
// measurement's account.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fake_device.hpp"
#include "replay/read_back.hpp"
#include "replay/replay_thread.hpp"

namespace hz::replay {

inline res::QueueAccount run_phase_on(Port &port, wl::Source &source, const ThreadOptions &options)
{
	const std::atomic<bool> stop{false};
	ReplayThread thread(port, source, options);
	if (thread.prime())
		thread.run(stop);
	EXPECT_EQ(thread.account().submitted, thread.account().completed);
	return thread.account();
}

inline res::QueueAccount run_both(Port &device, wl::Source &source, unsigned depth, uint64_t seed = 5, unsigned ahead = 0)
{
	ThreadOptions options;
	options.seed = seed;
	options.queue_depth = depth;
	options.ahead = ahead;
	const res::QueueAccount prepared = run_phase_on(device, source, options);
	EXPECT_EQ(prepared.mismatched_sectors, 0u) << prepared.first_mismatch;
	source.begin_measurement();
	options.start_ns = prepared.last_completion_ns + 1000000;
	const res::QueueAccount measured = run_phase_on(device, source, options);
	ReadBack left(source.live(), 32);
	options.start_ns = measured.last_completion_ns + 1000000;
	const res::QueueAccount swept = run_phase_on(device, left, options);
	EXPECT_EQ(swept.mismatched_sectors, 0u) << swept.first_mismatch;
	EXPECT_EQ(swept.verified_bytes, left.live().size() * 4096);
	return measured;
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
