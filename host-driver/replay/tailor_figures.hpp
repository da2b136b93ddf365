/* TailorFigures: IOTailor's counters and its cost for the host, as JSON for a result. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "results/histogram.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <string_view>

namespace hz::replay {

/* Why a command with less than a superpage left. */
enum class Release : uint8_t { rest, flush, durable, zone_command, hold, memory, idle };
inline constexpr size_t releases = 7;
inline constexpr std::array<std::string_view, releases> release_names = {"rest", "flush",  "durable", "zone_command",
									 "hold", "memory", "idle"};

struct TailorFigures {
	uint64_t writes = 0, sectors = 0;         /* that the workload made */
	uint64_t split = 0;                       /* of them: cut at the end of a superpage */
	uint64_t grouped = 0;                     /* of them: sharing a command with another one, at least in part */
	uint64_t superpages = 0;                  /* that left whole */
	std::array<uint64_t, releases> partial{}; /* that left with less */
	uint64_t passed = 0;                      /* commands that are no writes to sequential zones */
	uint64_t most_held_sectors = 0;           /* of a thread */
	res::Histogram held_ns;                   /* of each write: from its begin until its last part left */
	res::Histogram latency_ns;                /* of each write: until it ended */

	void merge(const TailorFigures &other);
};

/* docs/reference/results.md, "iotailor". */
nlohmann::json json_of(const TailorFigures &figures);

} // namespace hz::replay
