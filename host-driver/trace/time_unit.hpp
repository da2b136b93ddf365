/* Time unit of a trace, for the one format whose files differ. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace hz::trace {

struct UnitGuess {
	uint64_t unit_ns;
	bool certain;    /* else the other unit is as likely */
	std::string why; /* the evidence in the lines */
};

/* vscsi: the driver that records these traces counts microseconds, but conversions in circulation
 * count whole seconds. `lines`: the first ones of a file, up to 1000.
 *
 * A time with a fraction, or a unit that would give more than a million requests a second, means
 * seconds; a time beyond any clock in seconds, or less than one request a minute, means
 * microseconds. Between the two the lines are ambiguous. */
UnitGuess guess_vscsi_unit(std::span<const std::string> lines);

} // namespace hz::trace
