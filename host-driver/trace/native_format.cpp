/* The native trace format: a header line, then `time stream operation [address [length]] [words]` (docs/reference/traces.md). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/formats.hpp"

#include <algorithm>

namespace hz::trace {
namespace {

constexpr std::string_view header = "hartzone-trace", durable = "durable", flush_first = "flush-first",
			   after_word = "after=", think_word = "think=";
constexpr uint64_t most_think_ns = 3600ull * 1000000000;
constexpr std::string_view hint_names[hints] = {"sync", "metadata", "ahead", "atomic", "secure", "urgent", "background"};

struct Verb {
	std::string_view name;
	Op op;
	bool address, length;
};
constexpr Verb verbs[] = {
	{"read", Op::read, true, true},      {"write", Op::write, true, true},
	{"append", Op::append, true, true},  {"trim", Op::trim, true, true},
	{"flush", Op::flush, false, false},  {"reset", Op::reset, true, false},
	{"finish", Op::finish, true, false}, {"open", Op::open, true, false},
	{"close", Op::close, true, false},   {"reset-all", Op::reset_all, false, false},
};

/* "unit=BYTES" or "space=shared" */
bool read_property(std::string_view text, ParseState &state)
{
	if (text == "space=shared")
		return state.shared_space = true;
	const auto unit = text.starts_with("unit=") ? to_unsigned(text.substr(5)) : std::nullopt;
	if (!unit || *unit < 1 || *unit > 65536)
		return false;
	state.address_unit = *unit;
	return true;
}

/* hartzone-trace 2 [unit=BYTES] [space=shared] */
Parsed read_header(const FieldList &f, ParseState &state, std::string &why)
{
	why = "the first line must be 'hartzone-trace 2' (or 1), optionally followed by unit=512 or such, and by space=shared";
	if (f.count < 2 || f.count > 4 || f.field[0] != header)
		return Parsed::error;
	state.words = f.field[1] == "2";
	if (f.field[1] != "1" && !state.words) {
		why = "version '" + std::string(f.field[1].substr(0, 20)) + "' is unknown: this program reads versions 1 and 2";
		return Parsed::error;
	}
	for (size_t i = 2; i < f.count; i++)
		if (!read_property(f.field[i], state))
			return wrong_field(f, i, "unit=BYTES from 1 to 65536, or space=shared", why);
	why.clear();
	state.header_seen = true;
	return Parsed::skip;
}

/* "4096" or, counted from the start of zone 3, "z3+128" or "z3". */
bool take_address(std::string_view text, const ParseState &state, Record &r)
{
	std::string_view number = text;
	if (!text.empty() && text.front() == 'z') {
		const size_t plus = text.find('+');
		const auto zone = to_unsigned(text.substr(1, plus == text.npos ? plus : plus - 1));
		if (!zone || *zone > UINT32_MAX)
			return false;
		r.zoned = true;
		r.zone = uint32_t(*zone);
		number = plus == text.npos ? "0" : text.substr(plus + 1);
	}
	const auto value = to_unsigned(number);
	if (!value || *value > (1ull << 62) / state.address_unit)
		return false;
	r.offset = *value * state.address_unit;
	return true;
}

const Verb *find_verb(std::string_view word)
{
	for (const Verb &verb : verbs)
		if (verb.name == word)
			return &verb;
	return nullptr;
}

/* "after=STREAM:RECORDS" into the first free place of the record. */
bool take_after(std::string_view word, Record &r)
{
	const std::string_view text = word.substr(after_word.size());
	const size_t colon = text.find(':');
	const auto free = std::find(r.after.begin(), r.after.end(), After{});
	if (colon == text.npos || free == r.after.end())
		return false;
	const auto stream = to_unsigned(text.substr(0, colon)), records = to_unsigned(text.substr(colon + 1));
	if (!stream || !records || !*records)
		return false;
	*free = {*stream, *records};
	return true;
}

bool take_think(std::string_view word, Record &r)
{
	const auto ns = to_unsigned(word.substr(think_word.size()));
	r.think_ns = ns.value_or(0);
	return ns && *ns <= most_think_ns;
}

/* Words after the fields of an operation, in any order. Version 1 has `durable` only. */
bool take_words(const FieldList &f, size_t index, const ParseState &state, Record &r, std::string &why)
{
	for (; index < f.count; index++) {
		const std::string_view word = f.field[index];
		if (state.words && word.starts_with(after_word)) {
			if (!take_after(word, r))
				return wrong_field(f, index, "after=STREAM:RECORDS with one record at least, and twice at most", why) ==
				       Parsed::record;
			continue;
		}
		if (state.words && word.starts_with(think_word)) {
			if (!take_think(word, r))
				return wrong_field(f, index, "think=NANOSECONDS, an hour at most", why) == Parsed::record;
			continue;
		}
		const size_t hint = size_t(std::find(hint_names, hint_names + hints, word) - hint_names);
		const bool is_durable = word == durable, is_flush = word == flush_first && state.words;
		if ((is_durable || is_flush) && !stores(r.op))
			return wrong_field(f, index, "nothing: only of a write or append is durability asked", why) == Parsed::record;
		if (!is_durable && !is_flush && (hint == hints || !state.words))
			return wrong_field(f, index,
					   state.words ? "one of the words behind an operation (docs/reference/traces.md)"
						       : "durable or nothing",
					   why) == Parsed::record;
		r.durable |= is_durable;
		r.flush_first |= is_flush;
		r.hints |= hint < hints ? 1u << hint : 0;
	}
	return true;
}

} // namespace

std::string_view hint_name(size_t hint) { return hint_names[hint]; }

std::string_view op_name(Op op)
{
	for (const Verb &verb : verbs)
		if (verb.op == op)
			return verb.name;
	return {};
}

Parsed parse_native(std::string_view line, ParseState &state, Record &r, std::string &why)
{
	const size_t comment = line.find('#');
	const FieldList f = split_spaces(line.substr(0, comment));
	if (f.count == 0)
		return Parsed::skip;
	if (!state.header_seen)
		return read_header(f, state, why);
	if (f.count < 3) {
		why = "expected 'time stream operation [address [length]] [words]'";
		return Parsed::error;
	}
	if (!take_time(f, 0, state, r.time_ns, why))
		return Parsed::error;
	const auto stream = to_unsigned(f.field[1]);
	if (!stream)
		return wrong_field(f, 1, "a stream number", why);
	r.stream = *stream;
	r.shared_space = state.shared_space;
	const Verb *verb = find_verb(f.field[2]);
	if (!verb)
		return wrong_field(f, 2, "read, write, append, trim, flush, reset, reset-all, finish, open or close", why);
	r.op = verb->op;
	const size_t fields = 3u + verb->address + verb->length;
	if (f.count < fields || f.count > FieldList::limit)
		return field_count(f, fields, why) ? Parsed::record : Parsed::error;
	if (!take_words(f, fields, state, r, why))
		return Parsed::error;
	if (verb->address && !take_address(f.field[3], state, r))
		return wrong_field(f, 3, "an address such as 4096 or z3+128", why);
	if (verb->length && !take_size(f, 4, state.address_unit, r.bytes, why))
		return Parsed::error;
	return Parsed::record;
}

} // namespace hz::trace
