/* Google's Thesios traces: comma-separated, the columns as the first line names them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/formats.hpp"

#include <algorithm>

namespace hz::trace {
namespace {

enum Column { file_name, file_offset, op_type, size, start_time, columns, service_class = columns };
constexpr std::string_view column_names[columns] = {"filename", "file_offset", "op_type", "request_io_size_bytes", "start_time"};

Parsed read_column_names(const FieldList &f, ParseState &state, std::string &why)
{
	for (size_t c = 0; c < columns; c++) {
		size_t at = 0;
		while (at < f.count && at < FieldList::limit && f.field[at] != column_names[c])
			at++;
		if (at == f.count || at == FieldList::limit) {
			why = "the first line names no column '" + std::string(column_names[c]) + "'";
			return Parsed::error;
		}
		state.columns[c] = uint8_t(at);
	}
	state.columns[columns + 1] = uint8_t(f.count);
	state.columns[service_class] = uint8_t(std::find(f.field, std::end(f.field), "service_class") - f.field);
	state.header_seen = true;
	return Parsed::skip;
}

/* The request's priority; other classes have no mark. */
void take_class(std::string_view word, Record &r)
{
	if (same_word(word, "latency_sensitive"))
		r.hints |= hint_urgent;
	if (same_word(word, "throughput_oriented"))
		r.hints |= hint_background;
}

/* FNV-1a: a trace names millions of files, too many for a table. */
uint64_t number_of(std::string_view name)
{
	uint64_t hash = 0xcbf29ce484222325;
	for (const char c : name)
		hash = (hash ^ uint8_t(c)) * 0x100000001b3;
	return hash;
}

} // namespace

/* Offsets and sizes are bytes of a file, times usually seconds. Each file is a stream. */
Parsed parse_thesios(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const FieldList f = split_commas(line);
	if (!state.header_seen)
		return read_column_names(f, state, why);
	const auto &at = state.columns;
	if (!field_count(f, at[columns + 1], why) || !take_time(f, at[start_time], state, r.time_ns, why))
		return Parsed::error;
	const bool read = same_word(f.field[at[op_type]], "read");
	if (!read && !same_word(f.field[at[op_type]], "write"))
		return wrong_field(f, at[op_type], "READ or WRITE", why);
	r.op = read ? Op::read : Op::write;
	if (at[service_class] < FieldList::limit)
		take_class(f.field[at[service_class]], r);
	r.stream = number_of(f.field[at[file_name]]);
	const bool ok = take_offset(f, at[file_offset], 1, r.offset, why) && take_size(f, at[size], 1, r.bytes, why);
	return ok ? Parsed::record : Parsed::error;
}

} // namespace hz::trace
