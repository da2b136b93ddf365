/* Data patterns: the content of a sector derives from the run's seed and the sector's stamp. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "workload/source.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hz::replay {

inline constexpr size_t sector_bytes = 4096;

/* Layout: words 0–3 are a mark, key, version and seed in the clear, so that a wrong sector shows
 * its origin; every further word is a mix of its number and these three. A stamp with version 0 is
 * all zeros. */
void fill_sector(std::span<std::byte, sector_bytes> sector, uint64_t seed, const wl::Stamp &stamp);
bool check_sector(std::span<const std::byte, sector_bytes> sector, uint64_t seed, const wl::Stamp &stamp);
/* The same for any version from the stamp's to `newest`, if the order of writes is unknown. */
bool check_versions(std::span<const std::byte, sector_bytes> sector, uint64_t seed, const wl::Stamp &stamp, uint64_t newest);
/* One sentence for a sector that failed the check: the expected stamp, and the one found. */
std::string describe_mismatch(std::span<const std::byte, sector_bytes> sector, uint64_t seed, const wl::Stamp &stamp, uint64_t lba);

} // namespace hz::replay
