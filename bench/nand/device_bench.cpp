// The flash of one device: its configured times, and measurements on the rig and on the machine.
// SPDX-License-Identifier: BSD-3-Clause
#include "device_bench.hpp"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "config/device_names.hpp"
#include "config/device_yaml.hpp"
#include "device_plan.hpp"
#include "flash_rig.hpp"
#include "nand_image.h"
#include "patterns/flash_patterns.h"

using nlohmann::ordered_json;

namespace nandbench {
namespace {

std::unique_ptr<hz_flashbench> block_of(const hz_device_config &flash, const std::vector<Row> &rows)
{
	auto block = std::make_unique<hz_flashbench>();
	if (rows.size() > HZ_FLASHBENCH_PATTERNS)
		throw std::runtime_error("the patterns do not fit: the device has too many dies per channel");
	block->magic = HZ_FLASHBENCH_MAGIC;
	block->patterns = rows.size();
	block->cfg = flash;
	for (size_t i = 0; i < rows.size(); i++)
		block->pattern[i] = rows[i].pattern;
	return block;
}

// --- the rig ---

struct OnRig {
	std::unique_ptr<hz_flashbench> block;
	std::vector<uint64_t> bus_ns; // that all channels were in use, by row; the erases before it included
};

uint64_t bus_in_use(rig::Rig &r)
{
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	return std::accumulate(log.channel_busy_ns, log.channel_busy_ns + r.cfg.channels, uint64_t{0});
}

OnRig run_on_rig(const hz_device_config &flash, const std::vector<Row> &rows)
{
	OnRig out{block_of(flash, rows), {}};
	rig::Rig r(flash);
	flash_patterns patterns;
	flash_patterns_init(&patterns, r.memory(), r.tsu, &r.map, out.block.get());
	for (uint32_t i = 0; i < rows.size(); i++) {
		const uint64_t before = bus_in_use(r);
		flash_patterns_run(&patterns, i, i, [](flash_patterns *) {});
		lt_host_run_until_idle();
		out.bus_ns.push_back(bus_in_use(r) - before);
	}
	return out;
}

// --- the machine ---

std::unique_ptr<hz_flashbench> read_block(const std::string &path, const hz_device_config &flash)
{
	auto block = std::make_unique<hz_flashbench>();
	std::ifstream file(path, std::ios::binary);
	if (!file.read(reinterpret_cast<char *>(block.get()), sizeof(*block)))
		throw std::runtime_error(path + " is no block of flashbench.elf");
	if (block->magic != HZ_FLASHBENCH_MAGIC || !block->finished || memcmp(&block->cfg, &flash, sizeof(flash)) != 0)
		throw std::runtime_error(path + " holds no results of this device");
	return block;
}

uint64_t tsu_work_ns(const hz_flashbench &block)
{
	return std::accumulate(block.work_ns, block.work_ns + block.cfg.tsu_count, uint64_t{0});
}

// --- judging ---

bool all_done(const hz_flashbench_pattern &wanted, const hz_flashbench_pattern &measured)
{
	for (unsigned g = 0; g < HZ_FLASHBENCH_GROUPS; g++) {
		const hz_flashbench_group &want = wanted.group[g], &got = measured.group[g];
		if (got.failed || got.done != static_cast<uint64_t>(want.channels) * want.dies * want.planes * want.count)
			return false;
	}
	return true;
}

bool as_the_formula(const Row &row, uint64_t ns)
{
	if (!row.formula_ns)
		return true;
	return row.exact ? ns == *row.formula_ns : ns >= *row.formula_ns;
}

// Operations submitted as one list take the same on both: phases begin when flash and channel are
// free, not when a hart polls.
bool as_the_rig(const Row &row, uint64_t rig_ns, uint64_t image_ns)
{
	return row.pattern.loop ? image_ns >= rig_ns || row.figure == Figure::second_mean : image_ns == rig_ns;
}

ordered_json judged(const Row &row, const OnRig &rig, const hz_flashbench *image, size_t i)
{
	const hz_flashbench_pattern &on_rig = rig.block->pattern[i];
	const uint64_t rig_ns = figure_ns(row, on_rig);
	const double until_ns = static_cast<double>(std::max(on_rig.group[0].end_ns, on_rig.group[1].end_ns));
	bool holds = all_done(row.pattern, on_rig) && as_the_formula(row, rig_ns);
	if (!rig.block->cfg.interleave_sectors)
		holds &= rig.bus_ns[i] == row.bus_ns + row.prepare_bus_ns;
	ordered_json out = {{"pattern", row.name},
			    {"operations", on_rig.group[0].done + on_rig.group[1].done},
			    {"formula_ns", row.formula_ns ? ordered_json(*row.formula_ns) : ordered_json()},
			    {"formula_is", !row.formula_ns ? "none"
					   : row.exact     ? "exact"
							   : "least"},
			    {"rig_ns", rig_ns},
			    {"channel_utilisation", static_cast<double>(row.bus_ns) / (until_ns * row.pattern.group[0].channels)}};
	if (image) {
		const uint64_t image_ns = figure_ns(row, image->pattern[i]);
		out["image_ns"] = image_ns;
		holds &= all_done(row.pattern, image->pattern[i]) && as_the_rig(row, rig_ns, image_ns);
	}
	out["holds"] = holds;
	return out;
}

// --- telling ---

std::string us(const ordered_json &ns)
{
	char text[32] = "-";
	if (!ns.is_null())
		snprintf(text, sizeof(text), "%.3f", ns.get<double>() / 1e3);
	return text;
}

void print_rows(const ordered_json &result, bool image)
{
	size_t wide = 7;
	for (const ordered_json &row : result["rows"])
		wide = std::max(wide, row["pattern"].get<std::string>().size());
	printf("%-*s %6s %13s %13s", static_cast<int>(wide), "pattern", "ops", "formula us", "rig us");
	printf(image ? " %13s %8s %8s\n" : "%s%s %8s\n", image ? "image us" : "", image ? "more %" : "", "bus %");
	for (const ordered_json &row : result["rows"]) {
		const std::string least = row["formula_is"] == "least" ? ">= " : "";
		printf("%-*s %6" PRIu64 " %13s %13s", static_cast<int>(wide), row["pattern"].get<std::string>().c_str(),
		       row["operations"].get<uint64_t>(), (least + us(row["formula_ns"])).c_str(), us(row["rig_ns"]).c_str());
		if (image)
			printf(" %13s %8.2f", us(row["image_ns"]).c_str(),
			       100 * (row["image_ns"].get<double>() / row["rig_ns"].get<double>() - 1));
		printf(" %8.1f%s\n", 100 * row["channel_utilisation"].get<double>(), row["holds"].get<bool>() ? "" : "  WRONG");
	}
}

std::string counted(uint64_t count, uint64_t all) { return std::to_string(count) + " of " + std::to_string(all); }

std::string verdict_of(const ordered_json &result, bool image)
{
	uint64_t exact = 0, with_formula = 0, same = 0, all = 0;
	std::string furthest = "none";
	double most = 0;
	for (const ordered_json &row : result["rows"]) {
		all++;
		with_formula += row["formula_is"] == "exact";
		exact += row["formula_is"] == "exact" && row["rig_ns"] == row["formula_ns"];
		if (!image)
			continue;
		const double more = row["image_ns"].get<double>() / row["rig_ns"].get<double>() - 1;
		same += row["image_ns"] == row["rig_ns"];
		if (std::abs(more) > std::abs(most))
			most = more, furthest = row["pattern"].get<std::string>();
	}
	std::string text = "Rig: " + counted(exact, with_formula) + " exact formulas are met to the nanosecond.";
	if (!image)
		return text;
	char end[300];
	snprintf(end, sizeof(end), " Image: %s patterns take what they take on the rig. A transaction costs its TSU hart %.0f ns.",
		 counted(same, all).c_str(), result["tsu_ns_per_transaction"].get<double>());
	text += end;
	if (most != 0) {
		snprintf(
			end, sizeof(end),
			" Furthest apart (%+.1f %%): %s. There an operation comes when a hart has seen the last one's end, and a die that is free "
			"other waiting operations begin meanwhile.",
			100 * most, furthest.c_str());
		text += end;
	}
	return text;
}

std::string scheduler_of(const hz_device_config &cfg)
{
	const char *const names[] = {"priority", "fifo", "fair"};
	auto or_off = [](uint64_t ns) { return ns ? std::to_string(ns / 1000) + " us" : std::string("off"); };
	return std::string("schedule ") + (is_fifo(cfg) ? "fifo" : names[cfg.schedule]) + ", read_age_limit " +
	       or_off(cfg.read_age_limit_ns) + ", suspend " + or_off(cfg.suspend_ns) + ", cache_read " + (cfg.cache_read ? "on" : "off") +
	       ", cache_program " + (cfg.cache_program ? "on" : "off") + ", interleave_sectors " + std::to_string(cfg.interleave_sectors) +
	       ", program_passes " + std::to_string(std::max(cfg.program_passes, 1u));
}

} // namespace

void write_plan(const std::string &device, const std::string &path)
{
	const hz_device_config flash = flash_of(hz::conf::load_device(device));
	const std::vector<Row> rows = plan(flash);
	const auto block = block_of(flash, rows);
	std::ofstream file(path, std::ios::binary);
	file.write(reinterpret_cast<const char *>(block.get()), sizeof(*block));
	file.close();
	if (!file)
		throw std::runtime_error("cannot write " + path);
	const uint64_t planes = static_cast<uint64_t>(flash.channels) * flash.chips_per_channel * flash.dies_per_chip *
				flash.planes_per_die;
	const uint64_t jobs = planes * 80 * 512; // transactions under way at a time, generously
	const ordered_json out = {{"address", HZ_FLASHBENCH_ADDR},
				  {"harts", flash.harts},
				  {"ram_mb", ((hz_nand_image_bytes(&flash) + jobs) >> 20) + 64},
				  {"clock", hz::conf::clock_words(flash)}};
	printf("%s\n", out.dump().c_str());
}

bool measure_device(const std::string &device, const std::string &image_block, const std::string &out)
{
	const hz_device_config config = hz::conf::load_device(device), flash = flash_of(config);
	const std::vector<Row> rows = plan(flash);
	const OnRig rig = run_on_rig(flash, rows);
	const auto image = image_block.empty() ? nullptr : read_block(image_block, flash);
	ordered_json result = {{"schema", "hartzone.bench.nand-device/1"},
			       {"device", config.name},
			       {"scheduler", scheduler_of(flash)},
			       {"rows", ordered_json::array()}};
	bool holds = true;
	for (size_t i = 0; i < rows.size(); i++) {
		result["rows"].push_back(judged(rows[i], rig, image.get(), i));
		holds &= result["rows"].back()["holds"].get<bool>();
	}
	if (image)
		result["tsu_ns_per_transaction"] = static_cast<double>(tsu_work_ns(*image)) / static_cast<double>(image->transactions);
	result["holds"] = holds;
	result["verdict"] = verdict_of(result, image != nullptr);
	printf("%s: %s\n", config.name, result["scheduler"].get<std::string>().c_str());
	print_rows(result, image != nullptr);
	printf("%s\n", result["verdict"].get<std::string>().c_str());
	if (!out.empty()) {
		std::ofstream file(out);
		file << result.dump(1, '\t') << "\n";
		if (!file)
			throw std::runtime_error("cannot write " + out);
	}
	return holds;
}

} // namespace nandbench
