/* Strict reading of YAML mappings. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/yaml_fields.hpp"

#include "config/quantity.hpp"
#include "config/yaml_documents.hpp"

#include <yaml-cpp/depthguard.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace hz::conf {
namespace {

std::string place(const std::string &file, int line) { return file + ":" + std::to_string(line + 1) + ": "; }

int line_of(const YAML::Node &node) { return node.IsDefined() && node.Mark().line >= 0 ? node.Mark().line : 0; }

/* Letters that differ at the same or a shifted place: enough to suggest a key for a typing slip. */
size_t edit_distance(std::string_view a, std::string_view b)
{
	std::vector<size_t> row(b.size() + 1);
	for (size_t j = 0; j <= b.size(); j++)
		row[j] = j;
	for (size_t i = 1; i <= a.size(); i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b.size(); j++) {
			const size_t change = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
		}
	}
	return row[b.size()];
}

std::string join(const std::set<std::string> &names)
{
	std::string out;
	for (const std::string &name : names)
		out += (out.empty() ? "" : ", ") + name;
	return out;
}

std::string unknown_key(const std::string &key, const std::set<std::string> &known)
{
	std::string text = "unknown key '" + key + "'";
	for (const std::string &name : known)
		if (edit_distance(key, name) <= 2)
			return text + ": did you mean '" + name + "'?";
	return text + ": allowed here are " + join(known);
}

/* An empty file, or one with a second document after "---", is refused: its author made a mistake. */
YAML::Node only_document(const std::string &text, const std::string &name)
{
	if (const auto line = second_document_line(text))
		throw ConfigError(place(name, *line) +
				  "the YAML document ends here, and the text after it would be ignored: remove the second "
				  "document with its '---', or the stray comma");
	YAML::Node node = YAML::Load(text);
	if (node.IsNull())
		throw ConfigError(
			name +
			":1: the file says nothing: write 'key: value' lines (docs/reference/config.md), or leave the option out for the default");
	return node;
}

} // namespace

YAML::Node load_yaml_text(const std::string &text, const std::string &name)
{
	/* yaml-cpp 0.7 recurses per nesting level without a limit; no file of ours nests deeper than four. */
	size_t depth = 0;
	for (const char c : text) {
		depth += c == '[' || c == '{';
		depth -= depth && (c == ']' || c == '}');
		if (depth > 64)
			throw ConfigError(name + ":1: lists are nested more than 64 deep");
	}
	try {
		return only_document(text, name);
	} catch (const YAML::DeepRecursion &error) {
		throw ConfigError(place(name, std::max(error.mark.line, 0)) +
				  "the nesting is too deep: no file of ours nests deeper than four levels");
	} catch (const YAML::Exception &error) {
		throw ConfigError(place(name, std::max(error.mark.line, 0)) + "this is not YAML: " + error.msg);
	}
}

YAML::Node load_yaml_file(const std::string &path)
{
	std::ifstream in(path, std::ios::binary);
	const std::string text{std::istreambuf_iterator<char>(in), {}};
	if (!in)
		throw ConfigError(path + ":1: the file cannot be read: give the path of an existing YAML file");
	return load_yaml_text(text, path);
}

Fields::Fields(YAML::Node node, std::string file, std::string path) : node_(std::move(node)), file_(std::move(file)), path_(std::move(path))
{
	if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap())
		throw ConfigError(place(file_, line_of(node_)) + (path_.empty() ? "the file" : "'" + path_ + "'") +
				  " must hold 'key: value' lines");
}

std::string Fields::full_name(const char *key) const { return path_.empty() ? key : path_ + "." + key; }

void Fields::fail(const char *key, const std::string &sentence) const
{
	int line = line_of(node_);
	if (key && node_.IsMap())
		for (const auto &item : node_)
			if (item.first.IsScalar() && item.first.Scalar() == key)
				line = line_of(item.first);
	throw ConfigError(place(file_, line) + (key ? full_name(key) + ": " : "") + sentence);
}

YAML::Node Fields::take(const char *key)
{
	asked_.insert(key);
	if (!node_.IsMap())
		return YAML::Node(YAML::NodeType::Undefined);
	return static_cast<const YAML::Node &>(node_)[key];
}

bool Fields::has(const char *key) { return take(key).IsDefined(); }

std::string Fields::scalar(const char *key, const YAML::Node &value, const char *expected) const
{
	if (!value.IsScalar())
		fail(key, std::string("expected ") + expected);
	return value.Scalar();
}

struct Fields::Quantity {
	const char *expected;
	std::optional<uint64_t> (*parse)(std::string_view text);
	std::string (*text)(uint64_t value);
};
const Fields::Quantity Fields::a_count = {"a whole number", parse_count, [](uint64_t value) { return std::to_string(value); }};
const Fields::Quantity Fields::a_size = {"a size such as 16 KiB", parse_bytes, bytes_text};
const Fields::Quantity Fields::a_duration = {"a duration such as 937.5us", parse_duration_ns, duration_text};

uint64_t Fields::parsed(const char *key, const YAML::Node &value, uint64_t low, uint64_t high, const Quantity &quantity) const
{
	const std::string text = scalar(key, value, quantity.expected);
	const auto number = quantity.parse(text);
	if (!number)
		fail(key, "'" + text + "' is not " + quantity.expected);
	if (*number < low || *number > high)
		fail(key, "'" + text + "' is out of range: " + quantity.text(low) + " to " + quantity.text(high));
	return *number;
}

void Fields::number(const char *key, uint64_t &out, uint64_t low, uint64_t high, const Quantity &quantity)
{
	const YAML::Node value = take(key);
	if (value.IsDefined())
		out = parsed(key, value, low, high, quantity);
}

#define HZ_FIELD_PAIR(method, quantity) \
	void Fields::method(const char *key, uint64_t &out, uint64_t low, uint64_t high) { number(key, out, low, high, quantity); } \
	void Fields::method(const char *key, uint32_t &out, uint64_t low, uint64_t high) \
	{ \
		uint64_t wide = out; \
		number(key, wide, low, std::min<uint64_t>(high, UINT32_MAX), quantity); \
		out = uint32_t(wide); \
	}
HZ_FIELD_PAIR(count, a_count)
HZ_FIELD_PAIR(bytes, a_size)
HZ_FIELD_PAIR(duration, a_duration)
#undef HZ_FIELD_PAIR

void Fields::sectors(const char *key, uint64_t &out, uint64_t low, uint64_t high)
{
	uint64_t size = 0;
	if (!has(key))
		return;
	bytes(key, size, low * 4096, high * 4096);
	if (size % 4096)
		fail(key, "must be a multiple of 4 KiB");
	out = size / 4096;
}

void Fields::real(const char *key, double &out, double low, double high)
{
	const YAML::Node value = take(key);
	if (!value.IsDefined())
		return;
	const std::string text = scalar(key, value, "a number");
	const auto parsed = parse_real(text);
	if (!parsed || *parsed < low || *parsed > high) {
		std::ostringstream range;
		range << "'" << text << "' must be a number from " << low << " to " << high;
		fail(key, range.str());
	}
	out = *parsed;
}

void Fields::flag(const char *key, bool &out)
{
	const YAML::Node value = take(key);
	if (!value.IsDefined())
		return;
	const std::string text = scalar(key, value, "true or false");
	if (text != "true" && text != "false")
		fail(key, "'" + text + "' is neither true nor false");
	out = text == "true";
}

void Fields::text(const char *key, std::string &out, size_t max_length)
{
	const YAML::Node value = take(key);
	if (!value.IsDefined())
		return;
	const std::string text = scalar(key, value, "a text");
	if (text.size() > max_length)
		fail(key, "is longer than " + std::to_string(max_length) + " characters");
	out = text;
}

void Fields::choice(const char *key, uint32_t &out, std::span<const std::string_view> names, uint32_t base)
{
	const YAML::Node value = take(key);
	if (!value.IsDefined())
		return;
	const std::string text = scalar(key, value, "a name");
	std::string all;
	for (size_t i = 0; i < names.size(); i++) {
		if (names[i] == text) {
			out = uint32_t(i) + base;
			return;
		}
		if (!names[i].empty())
			all += (all.empty() ? "" : ", ") + std::string(names[i]);
	}
	fail(key, "'" + text + "' is not one of " + all);
}

std::vector<YAML::Node> Fields::items(const char *key, size_t max_items)
{
	const YAML::Node value = take(key);
	std::vector<YAML::Node> items;
	if (!value.IsDefined())
		return items;
	for (size_t i = 0; value.IsSequence() && i < value.size(); i++)
		items.push_back(value[i]);
	if (!value.IsSequence())
		items.push_back(value);
	if (items.empty() || items.size() > max_items)
		fail(key, "takes one value or a list of up to " + std::to_string(max_items));
	return items;
}

void Fields::numbers(const char *key, std::vector<uint64_t> &out, size_t max_items, uint64_t low, uint64_t high, const Quantity &quantity)
{
	if (!has(key))
		return;
	out.clear();
	for (const YAML::Node &item : items(key, max_items))
		out.push_back(parsed(key, item, low, high, quantity));
}

void Fields::texts(const char *key, std::vector<std::string> &out, size_t max_items)
{
	for (const YAML::Node &item : items(key, max_items))
		out.push_back(scalar(key, item, "a text"));
}

void Fields::durations(const char *key, std::vector<uint64_t> &out, size_t max_items, uint64_t low, uint64_t high)
{
	numbers(key, out, max_items, low, high, a_duration);
}

void Fields::counts(const char *key, std::vector<uint64_t> &out, size_t max_items, uint64_t low, uint64_t high)
{
	numbers(key, out, max_items, low, high, a_count);
}

Fields Fields::child(const char *key)
{
	YAML::Node value = take(key);
	if (value.IsDefined() && !value.IsMap() && !value.IsNull())
		fail(key, "expected 'key: value' lines below it");
	return Fields(value.IsDefined() ? value : YAML::Node(YAML::NodeType::Undefined), file_, full_name(key));
}

std::vector<Fields> Fields::list(const char *key)
{
	const YAML::Node value = take(key);
	std::vector<Fields> out;
	if (!value.IsDefined())
		return out;
	if (!value.IsSequence())
		fail(key, "expected a list ('- key: value' lines)");
	for (size_t i = 0; i < value.size(); i++)
		out.emplace_back(value[i], file_, full_name(key) + "[" + std::to_string(i) + "]");
	return out;
}

std::vector<std::string> Fields::keys() const
{
	std::vector<std::string> out;
	if (node_.IsMap())
		for (const auto &item : node_)
			if (item.first.IsScalar())
				out.push_back(item.first.Scalar());
	return out;
}

void Fields::finish()
{
	if (!node_.IsMap())
		return;
	std::set<std::string> met;
	for (const auto &item : node_) {
		const std::string where = place(file_, line_of(item.first));
		if (!item.first.IsScalar())
			throw ConfigError(where + "a key must be a plain word");
		const std::string &key = item.first.Scalar();
		if (!asked_.count(key))
			throw ConfigError(where + (path_.empty() ? "" : path_ + ": ") + unknown_key(key, asked_));
		if (!met.insert(key).second)
			throw ConfigError(where + "key '" + key + "' is given twice: remove one");
	}
}

} // namespace hz::conf
