// CleanerPolicy: when the background cleaner runs, how much it moves per round, and from which
// section, as in F2FS on zoned devices.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "apps/hzfs/main_area.hpp"

namespace hz::fs {

// The knobs of ZUFS (FAST 2026, Table 1) and their values there; pauses are those of Linux.
struct CleanerKnobs {
	double no_gc = 0.60;           // gc_no_zoned_gc_percent: no cleaning above this share of empty sections
	double boost = 0.25;           // gc_boost_zoned_gc_percent: below this one it is boosted
	double valid = 0.95;           // gc_valid_thresh_ratio: sections with more that is alive are left alone
	uint32_t window = 3;           // migration_window_granularity: segments of a section per round
	uint32_t boost_multiple = 5;   // gc_boost_gc_multiple: windows of a boosted round
	bool boost_greedy = true;      // gc_boost_gc_greedy: a boosted one takes the section with least alive
	uint32_t segment_blocks = 512; // 2 MiB
	uint64_t pause_ns = 20000000;  // of device time, between two rounds
	uint64_t boost_pause_ns = 10000000;
};

enum class Phase : uint8_t { no_gc, normal, boosted };
inline constexpr unsigned phases = 3;

Phase phase_of(const CleanerKnobs &knobs, uint32_t empty, uint32_t sections);
// Cost-benefit: space gained times age, divided by the data to move. now: in blocks written by all
// logs, as Section::touched.
std::optional<uint32_t> background_victim(const CleanerKnobs &knobs, Phase phase, const std::vector<Section> &sections,
					  uint32_t section_blocks, uint64_t now);

} // namespace hz::fs
