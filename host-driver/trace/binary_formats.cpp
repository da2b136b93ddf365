/* Binary traces with records of one size: vscsi in both versions, and libCacheSim's oracleGeneral. Little-endian. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/formats.hpp"

#include <bit>
#include <cstring>

namespace hz::trace {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class T> T load(std::string_view bytes, size_t at)
{
	T value;
	memcpy(&value, bytes.data() + at, sizeof(value));
	return value;
}

bool scaled_time(uint64_t time, const ParseState &state, uint64_t &out_ns, std::string &why)
{
	out_ns = time * state.time_unit_ns;
	if (time <= UINT64_MAX / state.time_unit_ns)
		return true;
	why = "time " + std::to_string(time) + ": expected one below 2^64 ns";
	return false;
}

struct ScsiCommand {
	uint16_t opcode, version;
	uint32_t bytes;
	uint64_t block, time;
};

Parsed scsi_request(const ScsiCommand &c, uint16_t version, ParseState &state, Record &r, std::string &why)
{
	if (c.version >> 8 != version) {
		why = "version " + std::to_string(c.version >> 8) + ": expected " + std::to_string(version);
		return Parsed::error;
	}
	if (!scaled_time(c.time, state, r.time_ns, why))
		return Parsed::error;
	const Parsed known = scsi_operation(c.opcode, state, r);
	if (known != Parsed::record || r.op == Op::flush)
		return known;
	const bool ok = check_offset("lbn", c.block, 512, r.offset, why) && check_size("len", c.bytes, r.bytes, why);
	return ok ? Parsed::record : Parsed::error;
}

} // namespace

/* sn, len, nSG: 4 bytes each; cmd, ver: 2; lbn, ts: 8. Usually microseconds; bytes, 512-byte blocks. */
Parsed parse_vscsi1(std::string_view b, ParseState &state, Record &r, std::string &why)
{
	return scsi_request(
		{load<uint16_t>(b, 12), load<uint16_t>(b, 14), load<uint32_t>(b, 4), load<uint64_t>(b, 16), load<uint64_t>(b, 24)}, 1,
		state, r, why);
}

/* cmd, ver: 2 bytes each; sn, len, nSG: 4; lbn, ts, rt: 8. */
Parsed parse_vscsi2(std::string_view b, ParseState &state, Record &r, std::string &why)
{
	return scsi_request(
		{load<uint16_t>(b, 0), load<uint16_t>(b, 2), load<uint32_t>(b, 8), load<uint64_t>(b, 16), load<uint64_t>(b, 24)}, 2, state,
		r, why);
}

/* Time (4 bytes, usually seconds), object (8), size (4), number of the next access of the object
 * (8). A cache trace has neither directions nor addresses: all records are reads, and object n is
 * taken as 512-byte block n, as in converted block traces; of a hash the lower 53 bits count. */
Parsed parse_oracle_general(std::string_view b, ParseState &state, Record &r, std::string &why)
{
	constexpr uint64_t most_blocks = 1ull << 53;
	r.op = Op::read;
	r.offset = load<uint64_t>(b, 4) % most_blocks * 512;
	const bool ok = scaled_time(load<uint32_t>(b, 0), state, r.time_ns, why) && check_size("size", load<uint32_t>(b, 12), r.bytes, why);
	return ok ? Parsed::record : Parsed::error;
}

} // namespace hz::trace
