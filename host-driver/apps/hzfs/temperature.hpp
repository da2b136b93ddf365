// Temperature: what is written together because it is overwritten about as soon, as in F2FS; each has a log of its own where zones suffice.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace hz::fs {

// Of a file, from who makes it: hot data are overwritten or deleted soon (journals), cold ones hardly ever.
enum class Heat : uint8_t { hot, warm, cold };
inline constexpr unsigned heats = 3;

// Nodes say where data lie: inodes are hot, maps are warm, maps that the cleaner has moved are cold, as are data that it has moved.
enum class Temperature : uint8_t { hot_node, warm_node, cold_node, hot_data, warm_data, cold_data };
inline constexpr unsigned temperatures = 6;
inline Temperature of_data(Heat heat) { return Temperature(unsigned(Temperature::hot_data) + unsigned(heat)); }

// The log of a temperature where there are 6, 4 or 2. Log 0 is always that of inodes alone, since they make a chain.
inline unsigned log_of(Temperature temperature, unsigned logs)
{
	constexpr uint8_t of_four[temperatures] = {0, 1, 3, 2, 2, 3};
	if (logs == temperatures)
		return unsigned(temperature);
	return logs == 4 ? of_four[unsigned(temperature)] : temperature != Temperature::hot_node;
}

} // namespace hz::fs
