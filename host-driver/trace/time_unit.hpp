/* What one unit of a trace's times is, for the format whose files differ. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace hz::trace {

struct UnitGuess {
	uint64_t unit_ns;
	bool certain;    /* else the other unit is as likely */
	std::string why; /* what in the lines says so */
};

/* vscsi: the driver that records these traces counts microseconds, but conversions in circulation count whole seconds. `lines`: the
 * first ones of a file, as many as there are up to 1000.
 *
 * A time with a fraction, or a unit in which more than a million requests a second would have come, means seconds; a time that no
 * clock reaches in seconds, or less than one request a minute, means microseconds. Between the two the lines do not tell. */
UnitGuess guess_vscsi_unit(std::span<const std::string> lines);

} // namespace hz::trace
