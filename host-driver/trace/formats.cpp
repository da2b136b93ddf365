/* The table of trace formats and the helpers shared by their parsers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/formats.hpp"

#include <cstdio>

namespace hz::trace {
namespace {

constexpr uint64_t us = 1000, ms = 1000000, s = 1000000000;
constexpr Format table[] = {
	{"native", "'time_ns stream operation [address [length]]' after a 'hartzone-trace 2' line", parse_native, "hartzone-trace", 1,
	 true},
	{"fio2", "'file action [offset length]' after 'fio version 2 iolog'", parse_fio_v2, "fio version 2 iolog", us, false},
	{"fio3", "'time file action [offset length]' after 'fio version 3 iolog'", parse_fio_v3, "fio version 3 iolog", us, false},
	{"mqsim", "'arrival device lba sectors type', type 0 = write, 1 = read", parse_mqsim, nullptr, 1, false},
	{"msr", "'filetime,host,disk,Read|Write,offset,size,response'", parse_msr, nullptr, 100, false},
	{"alibaba", "'device,R|W,offset,length,time'", parse_alibaba, nullptr, us, false},
	{"tencent", "'time,offset_sectors,size_sectors,0|1,volume', 0 = read, 1 = write", parse_tencent, nullptr, s, false},
	{"spc", "'asu,lba,size_bytes,R|W,time'", parse_spc, nullptr, s, false},
	{"vscsi", "'version,time,scsi_opcode,size_bytes,lbn'", parse_vscsi, nullptr, 0, false},
	{"disksim", "'time device block blocks flags', bit 0 of the hexadecimal flags: 1 = read", parse_disksim, nullptr, ms, false},
	{"fiu", "'time pid process lba sectors R|W major minor [md5]'", parse_fiu, nullptr, 1, false},
	{"systor", "'time,response,R|W,lun,offset,size'", parse_systor, nullptr, s, false},
	{"thesios", "the columns that a first line 'filename,…' names", parse_thesios, "filename,", s, false},
	{"blkparse", "'major,minor cpu sequence time pid action rwbs sector + sectors [process]'", parse_blkparse, nullptr, s, false, 0,
	 "QDC"},
	{"blktrace", "the kernel's blk_io_trace, version 7", parse_blktrace, nullptr, 1, true, 48, "QDC"},
	{"blktrace2", "the kernel's blk_io_trace2, version 8", parse_blktrace2, nullptr, 1, true, 64, "QDC"},
	{"vscsi1", "sn, len, nSG (4 bytes each), cmd, ver (2), lbn, ts (8)", parse_vscsi1, nullptr, us, false, 32},
	{"vscsi2", "cmd, ver (2 bytes each), sn, len, nSG (4), lbn, ts, rt (8)", parse_vscsi2, nullptr, us, false, 40},
	{"oracle-general", "time, object, size, next access (4, 8, 4 and 8 bytes)", parse_oracle_general, nullptr, s, false, 24},
};

constexpr uint64_t max_size = 1ull << 30, max_offset = 1ull << 62;

} // namespace

std::span<const Format> formats() { return table; }

const Format *find_format(std::string_view name)
{
	for (const Format &format : table)
		if (format.name == name)
			return &format;
	return nullptr;
}

std::string format_names()
{
	std::string out;
	for (const Format &format : table)
		out += (out.empty() ? "" : ", ") + std::string(format.name);
	return out;
}

uint64_t ParseState::stream_of(std::string_view name)
{
	const auto found = names.find(name);
	if (found != names.end())
		return found->second;
	if (names.size() >= max_names)
		return max_names; /* bounded memory: all further names share one stream */
	return names.emplace(std::string(name), names.size()).first->second;
}

Parsed ParseState::leave_out(std::string_view what)
{
	const auto found = left_out.find(what);
	if (found == left_out.end())
		left_out.emplace(what, 1);
	else
		found->second++;
	return Parsed::skip;
}

Parsed wrong_field(const FieldList &f, size_t index, const char *expected, std::string &why)
{
	why = field_error(index + 1, f.field[index], expected);
	return Parsed::error;
}

bool field_count(const FieldList &f, size_t wanted, std::string &why)
{
	if (f.count == wanted)
		return true;
	why = "the line has " + (f.count > FieldList::limit ? "too many" : std::to_string(f.count)) + " fields instead of " +
	      std::to_string(wanted);
	return false;
}

bool take_offset(const FieldList &f, size_t index, uint64_t unit, uint64_t &out, std::string &why)
{
	const auto value = to_unsigned(f.field[index]);
	if (!value || *value > max_offset / unit)
		return wrong_field(f, index, "an offset", why) == Parsed::record;
	out = *value * unit;
	return true;
}

bool take_size(const FieldList &f, size_t index, uint64_t unit, uint64_t &out, std::string &why)
{
	const auto value = to_unsigned(f.field[index]);
	if (!value || *value == 0 || *value > max_size / unit)
		return wrong_field(f, index, "a size above 0 and up to 1 GiB", why) == Parsed::record;
	out = *value * unit;
	return true;
}

bool take_letter(const FieldList &f, size_t index, Op &op, std::string &why)
{
	const bool read = same_word(f.field[index], "r"), write = same_word(f.field[index], "w");
	op = read ? Op::read : Op::write;
	return read || write || wrong_field(f, index, "R or W", why) == Parsed::record;
}

/* WRITE AND VERIFY writes to the medium, so it is durable when it ends. */
Parsed scsi_operation(uint64_t opcode, ParseState &state, Record &r)
{
	switch (opcode) {
	case 0x08:
	case 0x28:
	case 0x88:
	case 0xa8: r.op = Op::read; return Parsed::record;
	case 0x2e:
	case 0x8e:
	case 0xae: r.durable = true; [[fallthrough]];
	case 0x0a:
	case 0x2a:
	case 0x8a:
	case 0xaa: r.op = Op::write; return Parsed::record;
	case 0x35:
	case 0x91: r.op = Op::flush; return Parsed::record;
	default: break;
	}
	char name[32];
	snprintf(name, sizeof(name), "SCSI command %02xh", unsigned(opcode));
	return state.leave_out(name);
}

bool take_stream(const FieldList &f, size_t index, const char *expected, uint64_t &stream, std::string &why)
{
	const auto number = to_unsigned(f.field[index]);
	stream = number.value_or(0);
	return number || wrong_field(f, index, expected, why) == Parsed::record;
}

bool check_offset(const char *field, uint64_t value, uint64_t unit, uint64_t &out, std::string &why)
{
	out = value * unit;
	if (value <= max_offset / unit)
		return true;
	why = std::string(field) + " " + std::to_string(value) + ": expected an offset";
	return false;
}

bool check_size(const char *field, uint64_t value, uint64_t &out, std::string &why)
{
	out = value;
	if (value > 0 && value <= max_size)
		return true;
	why = std::string(field) + " " + std::to_string(value) + ": expected a size above 0 and up to 1 GiB";
	return false;
}

bool take_time(const FieldList &f, size_t index, const ParseState &state, uint64_t &out_ns, std::string &why)
{
	const std::string_view field = f.field[index];
	const bool below = field.size() > 1 && field.front() == '-' && to_scaled(field.substr(1), state.time_unit_ns);
	const auto value = state.any_time && (below || field.empty()) ? std::optional<uint64_t>(0) : to_scaled(field, state.time_unit_ns);
	if (!value)
		return wrong_field(f, index,
				   below           ? "a time from 0 on: add as much to all times of the file as the earliest is below 0"
				   : field.empty() ? "a time: there is none; a request without one cannot be replayed in its order"
						   : "a time",
				   why) == Parsed::record;
	out_ns = *value;
	return true;
}

} // namespace hz::trace
