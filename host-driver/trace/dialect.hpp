/* Dialect of a trace file: detected once, shared by all readers of the file. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "trace/formats.hpp"
#include "trace/trace_file.hpp"

#include <string>

namespace hz::trace {

/* Source of a property of a file. */
enum class Known : uint8_t {
	given,    /* the user said so */
	format,   /* every file of the format is like that, unless the user says otherwise */
	detected, /* the file's lines show it */
	assumed,  /* not determined by the lines */
};
const char *known_name(Known known);

struct ReaderOptions {
	std::string format = "auto";
	uint64_t time_unit_ns = 0; /* 0: the format's default, or detected from the lines */
	uint64_t skip_bad = 0;     /* broken lines to pass over; the next one ends the reading */
};

struct Dialect {
	const Format *format = nullptr;
	uint64_t time_unit_ns = 1;
	Known format_from = Known::format, unit_from = Known::format;
	std::string unit_evidence; /* of a unit that was detected or assumed: the evidence in the lines */
	char event = 'Q';          /* for formats with several events per request: the one that is the record */
	uint64_t skip_bad = 0;
};

/* Examines the first lines, or records if the first 4 KiB hold a NUL byte. The first 32 determine
 * the format: all of them must fit it, or all but skip_bad, and fit no other as well. Throws
 * TraceError if none fits, or more than one (then the format must be given), or for a unit that the
 * format forbids. */
Dialect find_dialect(TraceFile &file, const ReaderOptions &options);

/* Initial state of a parser for such a file. */
ParseState first_state(const Dialect &dialect);

} // namespace hz::trace
