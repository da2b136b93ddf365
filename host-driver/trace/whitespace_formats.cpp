/* Whitespace-separated traces: MQSim, DiskSim and FIU, and fio iolog version 2 and 3. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/formats.hpp"

namespace hz::trace {
namespace {

/* fio's actions on data; "sync", "datasync" and "syncfs" are flushes. */
bool fio_operation(std::string_view word, Op &op)
{
	struct Action {
		std::string_view name;
		Op op;
	};
	static constexpr Action actions[] = {
		{"read", Op::read},  {"write", Op::write},    {"trim", Op::trim},
		{"sync", Op::flush}, {"datasync", Op::flush}, {"syncfs", Op::flush},
	};
	for (const Action &action : actions) {
		if (action.name != word)
			continue;
		op = action.op;
		return true;
	}
	return false;
}

bool fio_file_action(std::string_view word) { return word == "add" || word == "open" || word == "close"; }

/* The action is not at its place: the file name has blanks. fio cannot read such a log either. */
bool blank_in_name(const FieldList &f, size_t first, std::string &why)
{
	Op op;
	const auto action = [&op](std::string_view word) { return fio_file_action(word) || fio_operation(word, op); };
	size_t at = first + 1;
	while (at < f.count && at < FieldList::limit && !action(f.field[at]))
		at++;
	if (at == first + 1 || at >= f.count || at >= FieldList::limit)
		return false;
	const std::string_view name(f.field[first].data(), size_t(f.field[at - 1].end() - f.field[first].begin()));
	why = "the file name '" + std::string(name.substr(0, 60)) +
	      "' has a blank in it, and fields are separated by blanks: put another character in its place in all lines of the log";
	return true;
}

/* file action [offset length], the part that both versions share. */
Parsed fio_action(const FieldList &f, size_t first, ParseState &state, Record &r, std::string &why)
{
	if (f.count == first + 2 && fio_file_action(f.field[first + 1]))
		return Parsed::skip;
	if (f.field[first + 1] == "sync_file_range") /* asks no device for anything durable */
		return state.leave_out("sync_file_range");
	if (blank_in_name(f, first, why))
		return Parsed::error;
	if (!fio_operation(f.field[first + 1], r.op))
		return wrong_field(f, first + 1, "add, open, close, read, write, trim, sync, datasync, syncfs or wait", why);
	r.stream = state.stream_of(f.field[first]);
	const bool flush = r.op == Op::flush;
	if (flush && f.count == first + 2)
		return Parsed::record;
	if (!field_count(f, first + 4, why) || !take_offset(f, first + 2, 1, r.offset, why))
		return Parsed::error;
	if (flush)
		return Parsed::record;
	return take_size(f, first + 3, 1, r.bytes, why) ? Parsed::record : Parsed::error;
}

/* DiskSim's request flags. */
void take_flags(uint64_t flags, ParseState &state, Record &r)
{
	enum : uint64_t { read = 1, time_critical = 2, time_limited = 4, read_after_write = 0x40, sync = 0x80, async = 0x100 };
	r.op = flags & read ? Op::read : Op::write;
	r.hints |= flags & (time_critical | time_limited) ? hint_urgent : 0;
	r.hints |= flags & sync ? hint_sync : 0;
	if (flags & read_after_write)
		state.leave_out("the check that reads what was written");
	if (flags & ~uint64_t(read | time_critical | time_limited | read_after_write | sync | async))
		state.leave_out("other flags of DiskSim");
}

bool fio_header(std::string_view line, ParseState &state, std::string_view header, std::string &why)
{
	state.header_seen = line == header;
	if (!state.header_seen)
		why = "the first line must be '" + std::string(header) + "'";
	return state.header_seen;
}

} // namespace

/* arrival device lba sectors type: usually nanoseconds; 512-byte sectors, 0 = WRITE, 1 = READ. */
Parsed parse_mqsim(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const FieldList f = split_spaces(line);
	if (!field_count(f, 5, why) || !take_time(f, 0, state, r.time_ns, why))
		return Parsed::error;
	if (!take_stream(f, 1, "a device number", r.stream, why))
		return Parsed::error;
	if (!take_offset(f, 2, 512, r.offset, why) || !take_size(f, 3, 512, r.bytes, why))
		return Parsed::error;
	if (f.field[4] != "0" && f.field[4] != "1")
		return wrong_field(f, 4, "0 (write) or 1 (read)", why);
	r.op = f.field[4] == "0" ? Op::write : Op::read;
	return Parsed::record;
}

/* time device block blocks flags: usually milliseconds with a fraction; 512-byte blocks; flags in hexadecimal, bit 0 set in reads. */
Parsed parse_disksim(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const FieldList f = split_spaces(line);
	const bool ok = field_count(f, 5, why) && take_time(f, 0, state, r.time_ns, why) &&
			take_stream(f, 1, "a device number", r.stream, why) && take_offset(f, 2, 512, r.offset, why) &&
			take_size(f, 3, 512, r.bytes, why);
	if (!ok)
		return Parsed::error;
	const auto flags = to_unsigned(f.field[4], 16);
	if (!flags || *flags > UINT32_MAX)
		return wrong_field(f, 4, "flags in hexadecimal, 1 = read", why);
	take_flags(*flags, state, r);
	return Parsed::record;
}

/* time pid process lba sectors R|W major minor [md5]: usually nanoseconds; 512-byte sectors. The
 * hash is ignored. */
Parsed parse_fiu(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const FieldList f = split_spaces(line);
	if (!field_count(f, f.count == 8 ? 8 : 9, why) || !take_time(f, 0, state, r.time_ns, why))
		return Parsed::error;
	uint64_t process = 0, major = 0, minor = 0;
	const bool ok = take_stream(f, 1, "a process number", process, why) && take_offset(f, 3, 512, r.offset, why) &&
			take_size(f, 4, 512, r.bytes, why) && take_letter(f, 5, r.op, why) &&
			take_stream(f, 6, "a major device number", major, why) && take_stream(f, 7, "a minor device number", minor, why);
	r.stream = device_number(major, minor);
	return ok ? Parsed::record : Parsed::error;
}

/* No times; "file wait N" lets time pass, usually in microseconds. */
Parsed parse_fio_v2(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	if (!state.header_seen)
		return fio_header(line, state, "fio version 2 iolog", why) ? Parsed::skip : Parsed::error;
	const FieldList f = split_spaces(line);
	if (f.count < 2) {
		why = "expected 'file action [offset length]'";
		return Parsed::error;
	}
	if (f.field[1] == "wait") {
		uint64_t wait_ns = 0;
		if (f.count < 3 || f.count > 4)
			why = "expected 'file wait time'";
		else if (take_time(f, 2, state, wait_ns, why) && wait_ns > UINT64_MAX - state.clock_ns)
			return wrong_field(f, 2, "a wait that ends before 2^64 ns", why);
		else if (why.empty())
			state.clock_ns += wait_ns;
		return why.empty() ? Parsed::skip : Parsed::error;
	}
	r.time_ns = state.clock_ns;
	return fio_action(f, 0, state, r, why);
}

/* Every line starts with the time since the start, usually in microseconds (fio's log_io_u). */
Parsed parse_fio_v3(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	if (!state.header_seen)
		return fio_header(line, state, "fio version 3 iolog", why) ? Parsed::skip : Parsed::error;
	const FieldList f = split_spaces(line);
	if (f.count < 3) {
		why = "expected 'time file action [offset length]'";
		return Parsed::error;
	}
	if (!take_time(f, 0, state, r.time_ns, why))
		return Parsed::error;
	return fio_action(f, 1, state, r, why);
}

} // namespace hz::trace
