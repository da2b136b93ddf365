/* Strict reading of YAML mappings: every key must be known, every error names file, line and fix. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hz::conf {

/* what() is "file:line: sentence". */
struct ConfigError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* Parses a YAML file or text; syntax errors become ConfigError. `name` is used in messages. */
YAML::Node load_yaml_file(const std::string &path);
YAML::Node load_yaml_text(const std::string &text, const std::string &name);

/* One mapping. Query each key that may occur, then call finish(), which refuses every other key.
 * Values outside [low, high] are refused with the range. Absent keys leave `out` unchanged. */
class Fields {
public:
	Fields(YAML::Node node, std::string file, std::string path);

	bool has(const char *key);
	void count(const char *key, uint64_t &out, uint64_t low = 0, uint64_t high = UINT64_MAX);
	void count(const char *key, uint32_t &out, uint64_t low = 0, uint64_t high = UINT32_MAX);
	void bytes(const char *key, uint64_t &out, uint64_t low = 0, uint64_t high = UINT64_MAX);
	void bytes(const char *key, uint32_t &out, uint64_t low = 0, uint64_t high = UINT32_MAX);
	/* Bytes in the file, 4 KiB sectors in `out` and in the limits; must be whole sectors. */
	void sectors(const char *key, uint64_t &out, uint64_t low = 0, uint64_t high = UINT64_MAX / 4096);
	void duration(const char *key, uint64_t &out, uint64_t low = 0, uint64_t high = UINT64_MAX);
	void duration(const char *key, uint32_t &out, uint64_t low = 0, uint64_t high = UINT32_MAX);
	void real(const char *key, double &out, double low, double high);
	void flag(const char *key, bool &out);
	void text(const char *key, std::string &out, size_t max_length);
	/* out = index of the value in `names` + base. */
	void choice(const char *key, uint32_t &out, std::span<const std::string_view> names, uint32_t base = 0);
	/* A scalar or a list of scalars, each a duration or a count. */
	void durations(const char *key, std::vector<uint64_t> &out, size_t max_items, uint64_t low, uint64_t high);
	void counts(const char *key, std::vector<uint64_t> &out, size_t max_items, uint64_t low, uint64_t high);
	void texts(const char *key, std::vector<std::string> &out, size_t max_items);
	/* Child mapping (empty if absent) and child list. */
	Fields child(const char *key);
	std::vector<Fields> list(const char *key);
	std::vector<std::string> keys() const;
	void finish();

	[[noreturn]] void fail(const char *key, const std::string &sentence) const;
	const std::string &file() const { return file_; }

private:
	YAML::Node take(const char *key);
	std::string scalar(const char *key, const YAML::Node &value, const char *expected) const;
	std::string full_name(const char *key) const;
	struct Quantity; /* counts, sizes or durations */
	uint64_t parsed(const char *key, const YAML::Node &value, uint64_t low, uint64_t high, const Quantity &quantity) const;
	void number(const char *key, uint64_t &out, uint64_t low, uint64_t high, const Quantity &quantity);
	std::vector<YAML::Node> items(const char *key, size_t max_items);
	void numbers(const char *key, std::vector<uint64_t> &out, size_t max_items, uint64_t low, uint64_t high, const Quantity &quantity);
	static const Quantity a_count, a_size, a_duration;

	YAML::Node node_;
	std::string file_, path_;
	std::set<std::string> asked_;
};

} // namespace hz::conf
