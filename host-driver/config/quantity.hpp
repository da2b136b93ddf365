/* Numbers with units as people write them in YAML: sizes (16 KiB), durations (937.5us) and plain counts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hz::conf {

/* Bytes. Units B, KiB, MiB, GiB, TiB (powers of 1024) and KB, MB, GB, TB (powers of 1000); none =
 * bytes. The value must be a whole number of bytes. Empty on anything else. */
std::optional<uint64_t> parse_bytes(std::string_view text);

/* Nanoseconds. Units ns, us, ms, s; none = nanoseconds. Whole nanoseconds only. */
std::optional<uint64_t> parse_duration_ns(std::string_view text);

/* A non-negative integer; underscores may group digits. */
std::optional<uint64_t> parse_count(std::string_view text);

/* In the largest unit that gives a whole number: "16 KiB", "937500 ns", "0". */
std::string bytes_text(uint64_t bytes);
std::string duration_text(uint64_t ns);

/* A finite decimal number. */
std::optional<double> parse_real(std::string_view text);

} // namespace hz::conf
