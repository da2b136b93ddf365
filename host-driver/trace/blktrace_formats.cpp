/* Linux blktrace, in blkparse's text form and in the kernel's binary form. Both have the same
 * information. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/formats.hpp"

#include <bit>
#include <cstdio>
#include <cstring>

namespace hz::trace {
namespace {

/* Events of a request with its place and size: queued, issued to the driver, completed. */
bool wanted(char event, const ParseState &state)
{
	const bool known = event == 'Q' || event == 'D' || event == 'C';
	return known && (state.event == ParseState::any_event || state.event == event);
}

enum class Kind : uint8_t { none, read, write, write_zeroes, discard, append, reset, reset_all, finish, open, close };

/* A request's operation and flags, from the bits of its action or from blkparse's letters. */
struct Request {
	Kind kind = Kind::none;
	bool flush = false, fua = false; /* of the cache, before the request; of its own data */
	uint16_t hints = 0;
	bool placed = true, sized = false; /* it has a sector; it has sectors */
};

constexpr Op op_of[] = {Op::flush, Op::read,      Op::write,  Op::write, Op::trim, Op::append,
			Op::reset, Op::reset_all, Op::finish, Op::open,  Op::close};

/* A write without data is a flush alone. */
Parsed take_request(const Request &q, ParseState &state, Record &r)
{
	const bool of_zone = q.kind >= Kind::reset;
	r.op = op_of[size_t(q.kind)];
	r.hints = q.hints;
	if (q.flush && !of_zone && (!q.sized || q.kind == Kind::none))
		r.op = Op::flush;
	else if (q.kind == Kind::none)
		return state.leave_out("requests that neither read, write nor discard (N)");
	else if (q.kind == Kind::write_zeroes)
		return state.leave_out("writes of zeros (WZ)");
	else if (of_zone ? !q.placed && q.kind != Kind::reset_all : !q.sized)
		return state.leave_out(of_zone ? "zone commands without a sector" : "reads, writes and discards without sectors");
	r.flush_first = q.flush && stores(r.op);
	r.durable = q.fua && stores(r.op);
	if (of_zone || r.op == Op::flush)
		r.bytes = 0;
	if (r.op == Op::reset_all || r.op == Op::flush)
		r.offset = 0;
	if (q.flush && !r.flush_first && r.op != Op::flush)
		state.leave_out("the flush before what does not write");
	if (q.fua && !r.durable)
		state.leave_out("FUA of what does not write");
	return Parsed::record;
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

struct KindLetters {
	std::string_view letters;
	Kind kind;
	uint16_t hints = 0;
};
/* The longer ones first. An N after a flush means no further operation. */
constexpr KindLetters kinds[] = {
	{"ZRA", Kind::reset_all}, {"ZR", Kind::reset}, {"ZA", Kind::append},       {"ZF", Kind::finish},
	{"ZO", Kind::open},       {"ZC", Kind::close}, {"WZ", Kind::write_zeroes}, {"DE", Kind::discard, hint_secure},
	{"D", Kind::discard},     {"W", Kind::write},  {"R", Kind::read},          {"N", Kind::none}};

/* FUA is an F after the kind; a barrier, of kernels before 2.6.37, was both flushes. */
void take_flag(char letter, ParseState &state, Request &q)
{
	switch (letter) {
	case 'F': q.fua = true; break;
	case 'A': q.hints |= hint_ahead; break;
	case 'S': q.hints |= hint_sync; break;
	case 'M': q.hints |= hint_metadata; break;
	case 'U':
	case 'a': q.hints |= hint_atomic; break;
	case 'B': q.flush = q.fua = true; break;
	default: state.leave_out(std::string("the letter ") + letter); break;
	}
}

/* The letters of RWBS: a flush of the cache is an F in front. */
Request request_of_letters(std::string_view rwbs, ParseState &state)
{
	Request q;
	q.flush = rwbs.starts_with('F');
	rwbs.remove_prefix(q.flush);
	const bool alone = q.flush && rwbs.starts_with('F'); /* the request is a flush itself */
	rwbs.remove_prefix(alone);
	for (const KindLetters &kind : kinds)
		if (rwbs.starts_with(kind.letters)) {
			q.kind = kind.kind;
			q.hints = kind.hints;
			rwbs.remove_prefix(kind.letters.size());
			break;
		}
	for (const char letter : rwbs)
		take_flag(letter, state, q);
	return q;
}

/* The bits of an action above its number, in both versions. */
Request request_of_bits(uint64_t bits)
{
	enum : uint64_t { read = 1, write = 2, flush = 4, sync = 8, ahead = 1 << 11, metadata = 1 << 12, discard = 1 << 13, fua = 1 << 15 };
	static constexpr Kind of_zones[] = {Kind::append, Kind::reset, Kind::reset_all, Kind::finish, Kind::open, Kind::close};
	Request q;
	q.kind = bits & discard ? Kind::discard : bits & write ? Kind::write : bits & read ? Kind::read : Kind::none;
	for (size_t i = 0; i < std::size(of_zones); i++)
		if (bits >> (16 + i) & 1)
			q.kind = of_zones[i];
	q.flush = bits & flush;
	q.fua = bits & fua;
	q.hints = uint16_t((bits & ahead ? hint_ahead : 0) | (bits & metadata ? hint_metadata : 0) | (bits & sync ? hint_sync : 0));
	return q;
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
	Request q = request_of_letters(f.field[6], state);
	q.placed = f.count > 9 && f.field[8] == "+";
	q.sized = q.placed && f.field[9] != "0";
	if ((q.placed && (q.sized || q.kind >= Kind::reset) && !take_offset(f, 7, 512, r.offset, why)) ||
	    (q.sized && !take_size(f, 9, 512, r.bytes, why)))
		return Parsed::error;
	return take_request(q, state, r);
}

namespace {

static_assert(std::endian::native == std::endian::little);

/* blk_io_trace of linux/blktrace_api.h, version 7, and blk_io_trace2, version 8: nanoseconds, 512-byte sectors, size in bytes. */
struct Event {
	uint32_t magic, sequence;
	uint64_t time, sector;
	uint32_t bytes, action, pid, device, cpu;
	uint16_t error, payload_bytes;
};
static_assert(sizeof(Event) == 48);

struct Event2 {
	uint32_t magic, sequence;
	uint64_t time, sector;
	uint32_t bytes, pid;
	uint64_t action;
	uint32_t device, cpu;
	uint16_t error, payload_bytes;
	uint8_t padding[12];
};
static_assert(sizeof(Event2) == 64);

template <class E> Parsed take_event(std::string_view bytes, uint32_t version, ParseState &state, Record &r, std::string &why)
{
	enum : uint64_t { notify = 1 << 10, magic = 0x65617400, of_cgroup = 1 << 8 };
	static constexpr char actions[] = ".QMFGSRDC";
	E event;
	memcpy(&event, bytes.data(), sizeof(event));
	if (event.magic != (magic | version)) {
		const bool swapped = __builtin_bswap32(event.magic) == (magic | version);
		char wanted_magic[16];
		snprintf(wanted_magic, sizeof(wanted_magic), "0x%08x", uint32_t(magic | version));
		why = swapped ? "the file is of a machine with the other order of bytes: convert it there with blkparse"
			      : std::string("the record does not begin with the magic number ") + wanted_magic;
		return Parsed::error;
	}
	state.payload_bytes = event.payload_bytes;
	const uint64_t number = event.action & 0xffff & ~of_cgroup, kind = uint64_t(event.action) >> 16;
	if (kind & notify || number >= sizeof(actions) - 1 || !wanted(actions[number], state))
		return Parsed::skip;
	r.time_ns = event.time;
	r.stream = event.device;
	Request q = request_of_bits(kind);
	q.sized = event.bytes != 0;
	const bool ok = (!q.sized && q.kind < Kind::reset) || check_offset("sector", event.sector, 512, r.offset, why);
	if (!ok || (q.sized && !check_size("bytes", event.bytes, r.bytes, why)))
		return Parsed::error;
	return take_request(q, state, r);
}

} // namespace

Parsed parse_blktrace(std::string_view bytes, ParseState &state, Record &r, std::string &why)
{
	return take_event<Event>(bytes, 7, state, r, why);
}

Parsed parse_blktrace2(std::string_view bytes, ParseState &state, Record &r, std::string &why)
{
	return take_event<Event2>(bytes, 8, state, r, why);
}

} // namespace hz::trace
