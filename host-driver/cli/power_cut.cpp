// PowerCutFlag: a number is a flash operation, anything else a time.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/power_cut.hpp"

#include <cstdio>

#include "cli/options.hpp"
#include "config/quantity.hpp"
#include "shm.h"

namespace hz::cli {

namespace {

std::string take_power_cut(const std::string &text, std::string &out)
{
	const auto operation = conf::parse_count(text), time = conf::parse_duration_ns(text);
	const bool legal = operation ? *operation >= 1 : time && *time >= 1 && *time <= HZ_ARRIVAL_MOST_NS;
	if (!legal)
		return "takes the number of a flash operation from 1 on, or a device time from 1ns to 26 days such as 5ms, not '" + text +
		       "'";
	out = text;
	return {};
}

} // namespace

void PowerCutFlag::add_to(CLI::App &command, const std::string &after)
{
	add_option(command, "--power-cut-at", "NUMBER|TIME",
		   "Cut the device's power in this flash operation, counted from 1, or at this device time. " + after +
			   " E.g. --power-cut-at 2000, --power-cut-at 5ms",
		   [this](const std::string &given) { return take_power_cut(given, text); });
}

void PowerCutFlag::apply(MachineOptions &options) const
{
	options.power_cut_op = conf::parse_count(text).value_or(0);
	if (!options.power_cut_op)
		options.power_cut_ns = conf::parse_duration_ns(text).value_or(0);
}

void say_power_cut(const MachineOptions &options)
{
	std::printf("the power was cut at %s, as asked%s\n", power_cut_place(options).c_str(),
		    options.nand_image.empty() ? "; the temporary image is gone, --image keeps one" : "");
}

std::string power_cut_place(const MachineOptions &options)
{
	return options.power_cut_op ? "flash operation " + std::to_string(options.power_cut_op)
				    : std::to_string(options.power_cut_ns) + " ns of device time";
}

void say_kept(const hz_dump_report &kept)
{
	if (!kept.lost_ns)
		return;
	std::printf("on capacitors: %llu KiB of protected data came to flash in %.3f ms with %llu programs, which took %.3f mJ%s\n",
		    static_cast<unsigned long long>(kept.sectors * HZ_SECTOR_BYTES >> 10), double(kept.took_ns) / 1e6,
		    static_cast<unsigned long long>(kept.programs), double(kept.energy_pj) / 1e9,
		    kept.empty ? "; then they were empty, and the rest is lost" : "");
}

} // namespace hz::cli
