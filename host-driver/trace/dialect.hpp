/* How a trace file is to be read: found out once, the same for everyone who reads the file. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "trace/formats.hpp"
#include "trace/trace_file.hpp"

#include <string>

namespace hz::trace {

/* Where a property of a file is known from. */
enum class Known : uint8_t {
	given,    /* the user said so */
	format,   /* every file of the format is like that, unless the user says otherwise */
	detected, /* the file's lines show it */
	assumed,  /* the lines do not tell */
};
const char *known_name(Known known);

struct ReaderOptions {
	std::string format = "auto";
	uint64_t time_unit_ns = 0; /* 0: as the format says, or as the lines show */
	uint64_t skip_bad = 0;     /* broken lines to pass over; the next one ends the reading */
};

struct Dialect {
	const Format *format = nullptr;
	uint64_t time_unit_ns = 1;
	Known format_from = Known::format, unit_from = Known::format;
	std::string unit_evidence; /* of a unit that was detected or assumed: what in the lines says so */
	char event = 'Q';          /* of formats with several events of a request: which of them is the record */
	uint64_t skip_bad = 0;
};

/* Looks at the first lines, or records if the first 4 KiB hold a NUL byte. A format is told by the first 32: all of them must fit it, or
 * all but skip_bad, and fit no other as well. Throws TraceError when none fits, or more than one (then the format must be given), or for
 * a unit that the format forbids. */
Dialect find_dialect(TraceFile &file, const ReaderOptions &options);

/* Of a parser at the beginning of such a file. */
ParseState first_state(const Dialect &dialect);

} // namespace hz::trace
