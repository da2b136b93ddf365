/* Comma-separated traces: MSR Cambridge, SYSTOR '17, Alibaba, Tencent, SPC, vSCSI.
 *
 * Direction codes differ and even contradict each other (Tencent 0 = read, MQSim 0 = write): each parser spells its own. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/formats.hpp"

namespace hz::trace {
namespace {

constexpr uint64_t block_512 = 512;

} // namespace

/* Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime: usually 100 ns since 1601; bytes. A header line is skipped. */
Parsed parse_msr(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const FieldList f = split_commas(line);
	if (!field_count(f, 7, why))
		return Parsed::error;
	if (same_word(f.field[0], "timestamp"))
		return Parsed::skip;
	if (!take_time(f, 0, state, r.time_ns, why))
		return Parsed::error;
	if (f.field[1].empty() || to_unsigned(f.field[1]))
		return wrong_field(f, 1, "a host name", why);
	if (!to_unsigned(f.field[2]))
		return wrong_field(f, 2, "a disk number", why);
	const bool read = same_word(f.field[3], "read");
	if (!read && !same_word(f.field[3], "write"))
		return wrong_field(f, 3, "Read or Write", why);
	r.op = read ? Op::read : Op::write;
	r.stream = state.stream_of(std::string(f.field[1]) + "," + std::string(f.field[2]));
	const bool ok = take_offset(f, 4, 1, r.offset, why) && take_size(f, 5, 1, r.bytes, why);
	if (ok && !to_unsigned(f.field[6]))
		return wrong_field(f, 6, "a response time", why);
	return ok ? Parsed::record : Parsed::error;
}

/* Timestamp,Response,IOType,LUN,Offset,Size: usually seconds; R, W or blank (neither: left out);
 * bytes. A header line is skipped. */
Parsed parse_systor(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const FieldList f = split_commas(line);
	if (!field_count(f, 6, why))
		return Parsed::error;
	if (same_word(f.field[0], "timestamp"))
		return Parsed::skip;
	if (!take_time(f, 0, state, r.time_ns, why))
		return Parsed::error;
	if (f.field[2].empty())
		return state.leave_out("requests without a type");
	const bool ok = take_letter(f, 2, r.op, why) && take_stream(f, 3, "the number of a logical unit", r.stream, why) &&
			take_offset(f, 4, 1, r.offset, why) && take_size(f, 5, 1, r.bytes, why);
	return ok ? Parsed::record : Parsed::error;
}

/* device_id,opcode,offset,length,timestamp: R or W, bytes, usually microseconds. A header line is skipped. */
Parsed parse_alibaba(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const FieldList f = split_commas(line);
	if (!field_count(f, 5, why))
		return Parsed::error;
	if (same_word(f.field[0], "device_id"))
		return Parsed::skip;
	const bool ok = take_stream(f, 0, "a device number", r.stream, why) && take_letter(f, 1, r.op, why) &&
			take_offset(f, 2, 1, r.offset, why) && take_size(f, 3, 1, r.bytes, why) && take_time(f, 4, state, r.time_ns, why);
	return ok ? Parsed::record : Parsed::error;
}

/* Timestamp,Offset,Size,IOType,VolumeID: usually seconds; 512-byte sectors, 0 = read, 1 = write. */
Parsed parse_tencent(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const FieldList f = split_commas(line);
	if (!field_count(f, 5, why))
		return Parsed::error;
	if (same_word(f.field[0], "timestamp"))
		return Parsed::skip;
	const bool ok = take_time(f, 0, state, r.time_ns, why) && take_offset(f, 1, block_512, r.offset, why) &&
			take_size(f, 2, block_512, r.bytes, why);
	if (!ok)
		return Parsed::error;
	if (f.field[3] != "0" && f.field[3] != "1")
		return wrong_field(f, 3, "0 (read) or 1 (write)", why);
	r.op = f.field[3] == "0" ? Op::read : Op::write;
	return take_stream(f, 4, "a volume number", r.stream, why) ? Parsed::record : Parsed::error;
}

/* ASU,LBA,Size,Opcode,Timestamp: 512-byte sectors, bytes, R or W, usually seconds; further fields are the vendor's. */
Parsed parse_spc(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	FieldList f = split_commas(line);
	if (f.count > 5)
		f.count = 5;
	if (!field_count(f, 5, why))
		return Parsed::error;
	const bool ok = take_stream(f, 0, "a storage unit number", r.stream, why) && take_offset(f, 1, block_512, r.offset, why) &&
			take_size(f, 2, 1, r.bytes, why) && take_letter(f, 3, r.op, why) && take_time(f, 4, state, r.time_ns, why);
	return ok ? Parsed::record : Parsed::error;
}

/* version,time,op,size,lbn: seconds or microseconds, a SCSI opcode in hexadecimal (decimal 40, 42, 136, 138 are accepted), bytes, 512-byte
 * blocks. */
Parsed parse_vscsi(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const FieldList f = split_commas(line);
	if (!field_count(f, 5, why))
		return Parsed::error;
	if (same_word(f.field[0], "version"))
		return Parsed::skip;
	if (f.field[0] != "1" && f.field[0] != "2")
		return wrong_field(f, 0, "version 1 or 2", why);
	if (!take_time(f, 1, state, r.time_ns, why))
		return Parsed::error;
	std::string_view code = f.field[2];
	if (code.starts_with("0x") || code.starts_with("0X"))
		code.remove_prefix(2);
	if (code.empty() || code.size() > 3 || !to_unsigned(code, 16))
		return wrong_field(f, 2, "a SCSI opcode such as 28 or 2a", why);
	const bool decimal = code == "40" || code == "42" || code == "136" || code == "138";
	const Parsed known = scsi_operation(*to_unsigned(code, decimal ? 10 : 16), state, r);
	if (known != Parsed::record || r.op == Op::flush)
		return known;
	const bool ok = take_size(f, 3, 1, r.bytes, why) && take_offset(f, 4, block_512, r.offset, why);
	return ok ? Parsed::record : Parsed::error;
}

} // namespace hz::trace
