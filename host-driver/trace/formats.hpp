/* The trace formats: a parser of a line, or of a record of a binary file. docs/reference/traces.md describes each with its units, its direction
 * codes, and where its description is from. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "trace/field_scanner.hpp"
#include "trace/record.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace hz::trace {

enum class Parsed { record, skip, error };

/* A parser's state between the lines of one file. */
struct ParseState {
	uint64_t time_unit_ns = 1;    /* of the times in the lines; native lines are always in nanoseconds */
	uint64_t address_unit = 4096; /* native: bytes per address unit */
	bool shared_space = false;    /* native: all streams use one address space */
	bool header_seen = false;
	bool ended = false;               /* blkparse: the summary has begun */
	char event = 'Q';                 /* blkparse, blktrace: the event that is the record; any_event: each candidate */
	size_t payload_bytes = 0;         /* blktrace: of the record just parsed, to be skipped */
	bool words = false;               /* native: from version 2 on any record has words behind it */
	bool any_time = false;            /* accept a negative or missing time: for format detection */
	std::array<uint8_t, 7> columns{}; /* thesios: where the fields are, by its header */
	uint64_t clock_ns = 0;            /* fio v2: sum of the waits */
	std::map<std::string, uint64_t, std::less<>> names; /* host names, files and such → stream number */

	LeftOut left_out; /* requests that became no records, and dropped properties of those that did */

	uint64_t stream_of(std::string_view name);
	/* Parsed::skip, counted. */
	Parsed leave_out(std::string_view what);
	static constexpr size_t max_names = 4096;
	static constexpr char any_event = '*';
};

struct Format {
	std::string_view name;
	const char *expected; /* one sentence: the form of a line or record */
	/* Parses one non-empty line, or one record. error: `why` names the wrong field. */
	Parsed (*parse)(std::string_view item, ParseState &state, Record &record, std::string &why);
	const char *header;           /* the first line starts with this; nullptr: the format has none */
	uint64_t time_unit_ns;        /* usual unit of its times; 0: files differ (time_unit.hpp) */
	bool unit_is_fixed;           /* no file of this format counts in another unit */
	size_t record_bytes = 0;      /* of a binary file; 0: lines of text */
	const char *events = nullptr; /* events of a request; the first of these found in the file is the record */
};

std::span<const Format> formats();
const Format *find_format(std::string_view name); /* nullptr: unknown */
std::string format_names();

/* The parsers, one per format. */
Parsed parse_mqsim(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_msr(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_alibaba(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_tencent(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_spc(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_vscsi(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_fio_v2(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_fio_v3(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_disksim(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_fiu(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_systor(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_thesios(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_blkparse(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_blktrace(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_blktrace2(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_vscsi1(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_vscsi2(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_oracle_general(std::string_view, ParseState &, Record &, std::string &);
Parsed parse_native(std::string_view, ParseState &, Record &, std::string &);

/* As the native format spells it. */
std::string_view op_name(Op op);
std::string_view hint_name(size_t hint); /* of bit 1 << hint */

/* Shared by the parsers: a number of `unit` bytes each, or of the file's time units; false sets why. Limits sizes to 1 GiB and
 * offsets to 2^62. */
bool take_offset(const FieldList &f, size_t index, uint64_t unit, uint64_t &out, std::string &why);
bool take_size(const FieldList &f, size_t index, uint64_t unit, uint64_t &out, std::string &why);
bool take_time(const FieldList &f, size_t index, const ParseState &state, uint64_t &out_ns, std::string &why);
/* R or W, in either case. */
bool take_letter(const FieldList &f, size_t index, Op &op, std::string &why);
/* Maps a SCSI opcode to an operation; skip: no access to disk data, left out by name. */
Parsed scsi_operation(uint64_t opcode, ParseState &state, Record &r);
bool take_stream(const FieldList &f, size_t index, const char *expected, uint64_t &stream, std::string &why);
/* For a binary record, with the same limits; `value` counts units. False sets why, which names the
 * field. */
bool check_offset(const char *field, uint64_t value, uint64_t unit, uint64_t &out, std::string &why);
bool check_size(const char *field, uint64_t value, uint64_t &out, std::string &why);
/* A device number as Linux has it, from its two parts. */
inline uint64_t device_number(uint64_t major, uint64_t minor) { return major << 20 | minor; }
bool field_count(const FieldList &f, size_t wanted, std::string &why);
Parsed wrong_field(const FieldList &f, size_t index, const char *expected, std::string &why);

} // namespace hz::trace
