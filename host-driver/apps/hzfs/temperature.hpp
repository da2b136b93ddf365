// Temperature: data with a similar expected lifetime are written together, as in F2FS; each
// temperature has its own log if zones suffice.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace hz::fs {

// Heat of a file, set by its creator: hot data are overwritten or deleted soon (journals), cold
// ones hardly ever.
enum class Heat : uint8_t { hot, warm, cold };
inline constexpr unsigned heats = 3;

// Nodes hold addresses of data: inodes are hot, maps are warm, maps and data moved by the cleaner
// are cold.
enum class Temperature : uint8_t { hot_node, warm_node, cold_node, hot_data, warm_data, cold_data };
inline constexpr unsigned temperatures = 6;
inline Temperature of_data(Heat heat) { return Temperature(unsigned(Temperature::hot_data) + unsigned(heat)); }

// The log of a temperature with 6, 4 or 2 logs. Log 0 is always for inodes only, since they form a
// chain.
inline unsigned log_of(Temperature temperature, unsigned logs)
{
	constexpr uint8_t of_four[temperatures] = {0, 1, 3, 2, 2, 3};
	if (logs == temperatures)
		return unsigned(temperature);
	return logs == 4 ? of_four[unsigned(temperature)] : temperature != Temperature::hot_node;
}

} // namespace hz::fs
