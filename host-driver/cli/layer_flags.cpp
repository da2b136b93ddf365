// LayerFlags: the knobs of the cleaner have the names that Linux gives them.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/layer_flags.hpp"

#include <sstream>

#include "cli/options.hpp"
#include "config/quantity.hpp"

namespace hz::cli {

namespace {

constexpr uint64_t most_percent = 100;

bool take_share(const std::string &value, double &out)
{
	const auto percent = conf::parse_count(value);
	out = double(percent.value_or(0)) / 100;
	return percent && *percent <= most_percent;
}

bool take_number(const std::string &value, uint32_t &out)
{
	const auto number = conf::parse_count(value);
	out = uint32_t(number.value_or(0));
	return number && *number >= 1 && *number <= 65536;
}

bool take_pause(const std::string &value, uint64_t &out)
{
	const auto time = conf::parse_duration_ns(value);
	out = time.value_or(0);
	return time && *time <= 60000000000;
}

// By the names that Linux has for them.
bool take_knob(const std::string &name, const std::string &value, hz::fs::CleanerKnobs &knobs)
{
	if (name == "gc_no_zoned_gc_percent")
		return take_share(value, knobs.no_gc);
	if (name == "gc_boost_zoned_gc_percent")
		return take_share(value, knobs.boost);
	if (name == "gc_valid_thresh_ratio")
		return take_share(value, knobs.valid);
	if (name == "migration_window_granularity")
		return take_number(value, knobs.window);
	if (name == "gc_boost_gc_multiple")
		return take_number(value, knobs.boost_multiple);
	if (name == "gc_boost_gc_greedy") {
		knobs.boost_greedy = value == "1";
		return value == "0" || value == "1";
	}
	if (name == "pause")
		return take_pause(value, knobs.pause_ns);
	if (name == "boost_pause")
		return take_pause(value, knobs.boost_pause_ns);
	const auto bytes = name == "segment" ? conf::parse_bytes(value) : std::nullopt;
	knobs.segment_blocks = uint32_t(bytes.value_or(0) / 4096);
	return bytes && *bytes >= 4096 && *bytes <= (1u << 30) && *bytes % 4096 == 0;
}

std::string take_cleaner(const std::string &text, std::optional<hz::fs::CleanerKnobs> &out)
{
	out.reset();
	if (text == "off")
		return {};
	out.emplace();
	if (text == "on")
		return {};
	std::istringstream words(text + ",");
	for (std::string word; std::getline(words, word, ',');) {
		const size_t equals = word.find('=');
		if (equals == std::string::npos || !take_knob(word.substr(0, equals), word.substr(equals + 1), *out))
			return "takes off, on, or knobs with legal values such as gc_no_zoned_gc_percent=70,segment=64KiB, not '" + word +
			       "'";
	}
	return {};
}

std::string take_page_cache(const std::string &text, uint64_t &out)
{
	const auto bytes = conf::parse_bytes(text);
	out = bytes.value_or(0);
	const bool fits = out >= 4096 && out <= uint64_t(64) << 30;
	return fits ? std::string() : "takes a size from 4 KiB to 64 GiB, such as 64MiB, not '" + text + "'";
}

} // namespace

void LayerFlags::add_to(CLI::App &command)
{
	command.option_defaults()->group("The layer of files");
	add_namespace(command, ways.nsid);
	add_flag(
		command, "--in-place", ways.in_place,
		"A sync of up to 8 blocks overwrites them where they lie, as F2FS does: on a block device, or on zones with a budget for it "
		"(zones.in_place). Without: they go to the log");
	add_flag(
		command, "--slack", ways.slack,
		"Where few sections are empty, data go to dead blocks of full ones instead of having those emptied, as F2FS does (SSR): on a "
		"block device");
	add_option(
		command, "--cleaner", "off|on|KNOB=VALUE,...",
		"Clean in the background, in the phases of ZUFS, with the knobs of Linux: gc_no_zoned_gc_percent (60), gc_boost_zoned_gc_percent (25), "
		"gc_valid_thresh_ratio (95), migration_window_granularity (3 segments), gc_boost_gc_multiple (5), gc_boost_gc_greedy (1), and segment "
		"(2MiB), pause (20ms), boost_pause (10ms). Default: off, sections are emptied when room is needed. E.g. --cleaner on, --cleaner "
		"segment=64KiB,pause=1ms",
		[this](const std::string &text) { return take_cleaner(text, ways.cleaner); });
	add_flag(command, "--iotailor", ways.iotailor,
		 "On zones: what is written to each waits in host memory until it is a superpage, or is synced, as IOTailor of ZMS does; "
		 "commands have up to 512 KiB then, else 128");
	add_option(
		command, "--page-cache", "SIZE",
		"Keep the blocks last read or written in host memory, as the page cache of a kernel does: 4 KiB to 64 GiB. Default: none, each "
		"read goes to the device. E.g. --page-cache 64MiB",
		[this](const std::string &text) { return take_page_cache(text, ways.page_cache); });
	add_count(
		command, "--aged", ways.aged, 1, 95,
		"First age an empty device: make files of 128 KiB and remove every second one, until files have this percentage of the space, "
		"the file that `files update` writes included. Default: none. E.g. --aged 50");
	add_flag(command, "--copy-offload", ways.copy_offload, "On zones: the device itself moves what is cleaned (NVMe Copy)");
}

} // namespace hz::cli
