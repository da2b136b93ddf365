/* YAML → struct hz_device_config: every key of the table of fields, section by section. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/device_yaml.hpp"

#include "clock_preset.h"
#include "config/device_names.hpp"
#include "config/idle_keys.hpp"
#include "config/placement.hpp"
#include "config/quantity.hpp"
#include "config/rule_sentence.hpp"
#include "config_check.h"
#include "lt/lock_kind.h"
#include "namespaces.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace hz::conf {
namespace {

void read_text(Fields &f, const hz_field &field, hz_device_config &cfg)
{
	char *at = reinterpret_cast<char *>(&cfg) + field.offset;
	std::string text(at, strnlen(at, field.items));
	f.text(field.key, text, field.items - 1u);
	memset(at, 0, field.items);
	memcpy(at, text.data(), text.size());
}

/* A single value applies to all page types. */
void read_page_times(Fields &f, const hz_field &field, hz_device_config &cfg)
{
	std::vector<uint64_t> values;
	f.durations(field.key, values, field.items, field.least, field.most);
	for (unsigned i = 0; i < field.items && !values.empty(); i++)
		hz_field_write(&field, &cfg, i, values[std::min<size_t>(i, values.size() - 1)]);
}

void read_hart_list(Fields &f, const hz_field &field, hz_device_config &cfg)
{
	std::vector<uint64_t> harts;
	f.counts(field.key, harts, field.items, field.least, field.most);
	if (harts.empty())
		return;
	for (unsigned i = 0; i < harts.size(); i++)
		hz_field_write(&field, &cfg, i, harts[i]);
	const uint32_t length = uint32_t(harts.size());
	memcpy(reinterpret_cast<char *>(&cfg) + field.length_offset, &length, sizeof(length));
}

/* "3", "0-3" or "all" as the record keeps it. */
uint32_t read_range(Fields &f, const hz_field &field, const std::string &text)
{
	if (text == "all")
		return 0;
	const size_t dash = std::min(text.find('-'), text.size());
	const auto first = parse_count(text.substr(0, dash)), last = parse_count(text.substr(dash == text.size() ? 0 : dash + 1));
	if (!first || !last || *last < *first || *last >= UINT16_MAX)
		f.fail(field.key, "'" + text + "' is not all, a number such as 0, or a range such as 0-3");
	return hz_range_word(uint32_t(*first), uint32_t(*last));
}

/* The first list determines the number of namespaces, unless `count` does. */
void read_ranges(Fields &f, const hz_field &field, hz_device_config &cfg)
{
	std::vector<std::string> ranges;
	f.texts(field.key, ranges, field.items);
	if (ranges.size() > 1 && cfg.namespaces == 1 && !f.has("count"))
		cfg.namespaces = uint32_t(ranges.size());
	if (ranges.size() > 1 && ranges.size() != cfg.namespaces)
		f.fail(field.key, "names " + std::to_string(ranges.size()) + " ranges, but there are " + std::to_string(cfg.namespaces) +
					  " namespaces: give one range for all, or one for each");
	for (unsigned i = 0; i < cfg.namespaces && !ranges.empty(); i++)
		hz_field_write(&field, &cfg, i, read_range(f, field, ranges[ranges.size() > 1 ? i : 0]));
}

enum class Sharding { SHARDED, SINGLE, ONE, UNUSED };
constexpr Sharding sharding[] = {
#define HZ_LOCK_CLASS(constant, name, level, shards, ...) Sharding::shards,
#include "lock_classes.def"
};

struct Granularity {
	std::string_view word;
	uint32_t value;
};
constexpr Granularity granularities[] = {{"fine", HZ_LOCKS_FINE}, {"class", HZ_LOCKS_CLASS}, {"global", HZ_LOCKS_GLOBAL}};

/* One of the first `words` words, or a number of locks. */
void read_granularity_of(Fields &f, const char *key, uint32_t &value, size_t words)
{
	std::string text, all;
	if (!f.has(key))
		return;
	f.text(key, text, 64);
	for (const Granularity &known : std::span(granularities).first(words)) {
		if (text == known.word) {
			value = known.value;
			return;
		}
		all += std::string(known.word) + ", ";
	}
	if (text.empty() || text.find_first_not_of("0123456789") != text.npos)
		f.fail(key, "'" + text + "' is not one of " + all + "or a number of locks");
	f.count(key, value, HZ_LOCKS_CLASS + 1, HZ_MAX_LOCK_SHARDS);
}

/* A number has no meaning for a class with one lock, nor a word for a class without locks. */
uint32_t granularity_of(uint32_t c, uint32_t all)
{
	const bool word = all <= HZ_LOCKS_CLASS || all == HZ_LOCKS_GLOBAL;
	return sharding[c] == Sharding::SHARDED || (sharding[c] == Sharding::SINGLE && word) ? all : uint32_t{HZ_LOCKS_FINE};
}

void read_granularities(Fields &section, const hz_field &field, hz_device_config &cfg)
{
	Fields f = section.child(field.key);
	uint32_t all = HZ_LOCKS_FINE;
	read_granularity_of(f, "default", all, 3);
	for (uint32_t c = 0; c < HZ_LOCK_CLASSES; c++) {
		uint32_t value = granularity_of(c, all);
		hz_field_write(&field, &cfg, c, value);
		const std::string name(lock_class_names()[c]);
		read_granularity_of(f, name.c_str(), value, 2);
		if (f.has(name.c_str()) && sharding[c] != Sharding::SHARDED)
			f.fail(name.c_str(), sharding[c] == Sharding::SINGLE ? "there is one lock of this class: remove the key"
									     : "no lock is divided by this class: remove the key");
		if (f.has(name.c_str()) && all == HZ_LOCKS_GLOBAL)
			f.fail(name.c_str(), "one lock stands for all classes, as locks.granularity.default says: remove one of the two");
		hz_field_write(&field, &cfg, c, value);
	}
	f.finish();
}

/* Refuses keys of classes without a lock. */
void read_kinds(Fields &section, const hz_field &field, hz_device_config &cfg)
{
	const bool global = cfg.lock_granularity[HZ_LC_ZONE] == HZ_LOCKS_GLOBAL;
	Fields f = section.child(field.key);
	uint32_t all = 0;
	f.choice("default", all, lock_kind_names());
	for (uint32_t c = 0; c < HZ_LOCK_CLASSES; c++) {
		const std::string name(lock_class_names()[c]);
		uint32_t value = f.has("default") ? all : uint32_t(hz_field_read(&field, &cfg, c));
		f.choice(name.c_str(), value, lock_kind_names());
		if (f.has(name.c_str()) && sharding[c] == Sharding::UNUSED)
			f.fail(name.c_str(), "no lock of a device is of this class: remove the key");
		if (f.has(name.c_str()) && (sharding[c] == Sharding::ONE) != global)
			f.fail(name.c_str(), global ? "the one lock that stands for all is of class 'global': remove the key"
						    : "only locks.granularity.default: global has a lock of this class: remove the key");
		hz_field_write(&field, &cfg, c, value);
	}
	f.finish();
}

uint32_t choice(Fields &f, const hz_field &field, uint64_t value)
{
	uint32_t chosen = uint32_t(value);
	f.choice(field.key, chosen, words_of(field), uint32_t(field.least));
	return chosen;
}

void read_field(Fields &f, const hz_field &field, hz_device_config &cfg)
{
	uint64_t value = hz_field_read(&field, &cfg, 0);
	switch (field.unit) {
	case HZ_UNIT_TEXT: return read_text(f, field, cfg);
	case HZ_UNIT_PAGE_NS: return read_page_times(f, field, cfg);
	case HZ_UNIT_HARTS: return read_hart_list(f, field, cfg);
	case HZ_UNIT_RANGES: return read_ranges(f, field, cfg);
	case HZ_UNIT_KIND_BY_CLASS: return read_kinds(f, field, cfg);
	case HZ_UNIT_GRANULARITY_BY_CLASS: return read_granularities(f, field, cfg);
	case HZ_UNIT_COUNT: f.count(field.key, value, field.least, field.most); break;
	case HZ_UNIT_BYTES: f.bytes(field.key, value, field.least, field.most); break;
	case HZ_UNIT_SECTORS: f.sectors(field.key, value, field.least, field.most); break;
	case HZ_UNIT_NS: f.duration(field.key, value, field.least, field.most); break;
	case HZ_UNIT_CHOICE: value = choice(f, field, value); break;
	}
	hz_field_write(&field, &cfg, 0, value);
}

/* Either counts (`hils: 1`, `tsus: 1`, `workers: 4`: one hart each) or explicit lists (`hil: [0]`, `tsu: [1]`, `worker: [2, 3]`). */
void place_harts(Fields &f, hz_device_config &cfg)
{
	const bool lists = f.has("tsu") || f.has("worker") || f.has("hil") || f.has("count");
	for (const char *count : {"hils", "tsus", "workers"})
		if (lists && f.has(count))
			f.fail(count, "give either counts (hils, tsus, workers) or lists (hil, tsu, worker, count)");
	for (const hz_field &field : hz_device_fields)
		if (!strcmp(field.member, "hil_count") || !strcmp(field.member, "tsu_count") || !strcmp(field.member, "worker_count"))
			read_field(f, field, cfg);
	place_roles(cfg, cfg.tsu_count, cfg.worker_count);
}

/* Single costs change the preset. */
void take_clock_preset(Fields &f, hz_device_config &cfg)
{
	for (const hz_field &field : hz_device_fields)
		if (!strcmp(field.member, "clock.preset"))
			hz_clock_preset_costs(static_cast<hz_clock_preset>(choice(f, field, cfg.clock.preset)), &cfg.clock);
}

/* The section and those below it: "" holds all. */
void read_section(Fields f, std::string_view section, hz_device_config &cfg)
{
	if (section == "harts")
		place_harts(f, cfg);
	if (section == "clock")
		take_clock_preset(f, cfg);
	std::vector<std::string> below;
	for (const hz_field &field : hz_device_fields) {
		const std::string_view path = field.section;
		const size_t start = section.empty() ? 0 : section.size() + 1;
		if (path == section)
			read_field(f, field, cfg);
		else if (path.starts_with(section) && (section.empty() || path[section.size()] == '.'))
			below.emplace_back(path.substr(start, path.find('.', start) - start));
	}
	below.erase(std::unique(below.begin(), below.end()), below.end());
	for (const std::string &key : below)
		read_section(f.child(key.c_str()), section.empty() ? key : std::string(section) + "." + key, cfg);
	f.finish();
}

struct KeyPlace {
	int line = 0; // from 0
	bool given = true;
};

/* Where a key "section.key" is given; its section where it is not; the first line where that is not either. */
KeyPlace place_of_key(YAML::Node node, const std::string &key)
{
	KeyPlace place;
	for (size_t at = 0; at < key.size() && place.given; at = std::min(key.find('.', at), key.size()) + 1) {
		const std::string part = key.substr(at, key.find('.', at) - at);
		const auto is_part = [&](const auto &item) { return item.first.IsScalar() && item.first.Scalar() == part; };
		const auto found = node.IsMap() ? std::find_if(node.begin(), node.end(), is_part) : node.end();
		place.given = found != node.end();
		if (!place.given)
			break;
		place.line = std::max(found->first.Mark().line, 0);
		node.reset(YAML::Node(found->second));
	}
	return place;
}

[[noreturn]] void refuse(const YAML::Node &tree, const std::string &file, const std::string &key, const std::string &sentence)
{
	throw ConfigError(file + ":" + std::to_string(place_of_key(tree, key).line + 1) + ": " + sentence);
}

/* The key of a class whose data several harts change without a lock; empty if none. */
std::string key_without_lock(const hz_device_config &cfg)
{
	const std::set<uint8_t> harts(cfg.worker_hart, cfg.worker_hart + cfg.worker_count);
	const Sharding one = cfg.lock_granularity[HZ_LC_ZONE] == HZ_LOCKS_GLOBAL ? Sharding::ONE : Sharding::SINGLE;
	for (uint32_t c = 0; harts.size() > 1 && c < HZ_LOCK_CLASSES; c++)
		if (cfg.lock_kind[c] == LT_LOCK_NONE &&
		    (sharding[c] == one || (one == Sharding::SINGLE && sharding[c] == Sharding::SHARDED)))
			return "locks.kind." + std::string(lock_class_names()[c]);
	return "";
}

const char *const none_on_several_harts =
	" is none, but workers run on several harts, and only a lock keeps them apart: choose another kind, or "
	"one worker";

hz_device_config read_device(YAML::Node root, const std::string &file)
{
	hz_device_config cfg = device_defaults();
	const YAML::Node tree = root;
	read_section(Fields(std::move(root), file, ""), "", cfg);
	char text[512];
	if (const char *sentence = hz_machine_config_check(&cfg, text, sizeof(text)))
		refuse(tree, file, key_of(sentence), in_words_of_the_file(sentence));
	if (const std::string key = key_without_lock(cfg); !key.empty())
		refuse(tree, file, key, key + none_on_several_harts);
	const IdleKey idle = idle_key(cfg, [&tree](const std::string &key) { return place_of_key(tree, key).given; });
	if (!idle.key.empty())
		refuse(tree, file, idle.key, idle.key + " has no effect here, since " + idle.why + ": remove the key");
	return cfg;
}

} // namespace

hz_device_config device_defaults()
{
	hz_device_config cfg;
	hz_device_defaults(&cfg);
	strcpy(cfg.name, "unnamed");
	place_roles(cfg, cfg.tsu_count, cfg.worker_count);
	std::fill_n(cfg.lock_kind, size_t{HZ_LOCK_CLASSES}, uint8_t(LT_LOCK_TTAS));
	return cfg;
}

void require_legal(const hz_device_config &cfg, const std::string &file)
{
	char text[512];
	if (const char *sentence = hz_machine_config_check(&cfg, text, sizeof(text)))
		throw ConfigError(file + ": " + in_words_of_the_file(sentence));
	if (const std::string key = key_without_lock(cfg); !key.empty())
		throw ConfigError(file + ": " + key + none_on_several_harts);
}

hz_device_config load_device(const std::string &path) { return read_device(load_yaml_file(path), path); }

hz_device_config parse_device(const std::string &text, const std::string &name) { return read_device(load_yaml_text(text, name), name); }

} // namespace hz::conf
