/* What Linux's blktrace records, as blkparse prints it and as the kernel writes it. Both say the same of a request. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/formats.hpp"

#include <bit>
#include <cstring>

namespace hz::trace {
namespace {

/* Of a request's many events these tell its place and size: queued, issued to the driver, completed. */
bool wanted(char event, const ParseState &state)
{
	const bool known = event == 'Q' || event == 'D' || event == 'C';
	return known && (state.event == ParseState::any_event || state.event == event);
}

/* A flush may come alone or before data. Neither data nor a flush: nothing to replay. */
Parsed request(bool read, bool write, bool discard, bool flush, bool sized, Record &r)
{
	if (!sized && !flush)
		return Parsed::skip;
	r.op = !sized ? Op::flush : discard ? Op::trim : write ? Op::write : Op::read;
	return !sized || discard || write || read ? Parsed::record : Parsed::skip;
}

/* "8,16" */
bool take_device(std::string_view field, uint64_t &stream)
{
	const size_t comma = field.find(',');
	const auto major = to_unsigned(field.substr(0, comma));
	const auto minor = comma == field.npos ? std::nullopt : to_unsigned(field.substr(comma + 1));
	stream = device_number(major.value_or(0), minor.value_or(0));
	return major && minor && *major < 1 << 12 && *minor < 1 << 20;
}

/* The letters of RWBS: a flush of the cache is an F in front, force unit access one behind. */
Parsed take_letters(std::string_view rwbs, bool sized, Record &r)
{
	const bool flush = rwbs.starts_with('F');
	if (flush)
		rwbs.remove_prefix(1);
	const char kind = rwbs.empty() ? 0 : rwbs.front();
	return request(kind == 'R', kind == 'W', kind == 'D', flush, sized, r);
}

} // namespace

/* major,minor cpu sequence time pid action rwbs sector + sectors [process]: usually seconds; 512-byte sectors. Other events have other
 * ends, messages have action m, and a summary per processor follows the last event. */
Parsed parse_blkparse(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	if (state.ended || line.starts_with("CPU") || line.starts_with("Total (")) {
		state.ended = true;
		return Parsed::skip;
	}
	const FieldList f = split_spaces(line);
	if (f.count < 6)
		return field_count(f, 7, why) ? Parsed::record : Parsed::error;
	if (!take_device(f.field[0], r.stream))
		return wrong_field(f, 0, "a device such as 8,16", why);
	if (!to_unsigned(f.field[1]) || !to_unsigned(f.field[2]))
		return wrong_field(f, to_unsigned(f.field[1]) ? 2 : 1, "a number", why);
	if (!take_time(f, 3, state, r.time_ns, why))
		return Parsed::error;
	if (f.field[5].size() > 2)
		return wrong_field(f, 5, "an action such as Q or D", why);
	if (f.count < 7 || f.field[5].size() != 1 || !wanted(f.field[5].front(), state))
		return Parsed::skip;
	const bool sized = f.count > 9 && f.field[8] == "+" && f.field[9] != "0";
	if (sized && (!take_offset(f, 7, 512, r.offset, why) || !take_size(f, 9, 512, r.bytes, why)))
		return Parsed::error;
	return take_letters(f.field[6], sized, r);
}

/* struct blk_io_trace of linux/blktrace_api.h, version 7: nanoseconds, 512-byte sectors, size in bytes. */
Parsed parse_blktrace(std::string_view bytes, ParseState &state, Record &r, std::string &why)
{
	struct {
		uint32_t magic, sequence;
		uint64_t time, sector;
		uint32_t bytes, action, pid, device, cpu;
		uint16_t error, payload_bytes;
	} event;
	static_assert(sizeof(event) == 48 && std::endian::native == std::endian::little);
	enum : uint32_t { read = 1, write = 2, flush = 4, notify = 1 << 10, discard = 1 << 13 };
	enum : uint32_t { magic = 0x65617407, swapped = 0x07746165, of_cgroup = 1 << 8 };
	static constexpr char actions[] = ".QMFGSRDC";
	memcpy(&event, bytes.data(), sizeof(event));
	if (event.magic != magic) {
		why = event.magic == swapped ? "the file is of a machine with the other order of bytes: convert it there with blkparse"
					     : "the record does not begin with the magic number 0x65617407";
		return Parsed::error;
	}
	state.payload_bytes = event.payload_bytes;
	const uint32_t action = event.action & 0xffff & ~of_cgroup, kind = event.action >> 16;
	if (kind & notify || action >= sizeof(actions) - 1 || !wanted(actions[action], state))
		return Parsed::skip;
	r.time_ns = event.time;
	r.stream = event.device;
	const bool sized = event.bytes != 0;
	if (sized && (!check_offset("sector", event.sector, 512, r.offset, why) || !check_size("bytes", event.bytes, r.bytes, why)))
		return Parsed::error;
	return request(kind & read, kind & write, kind & discard, kind & flush, sized, r);
}

} // namespace hz::trace
