// hz-bench-nand: drives the real TSU and media in simulated time and compares its measurements with
// the configuration.
// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "device_bench.hpp"
#include "flash_rig.hpp"
#include "tsu/tsu_report.h"

using nlohmann::ordered_json;
using rig::Rig;
using rig::Txn;

namespace {

struct Preset {
	const char *name, *source;
	hz_device_config cfg;
};

// MCMQ Table I; ConZone's TLC and QLC (its section on latencies; units of 96 and 64 KiB).
std::vector<Preset> presets()
{
	hz_device_config mlc = rig::small_config();
	mlc.pages_per_block = 256;
	hz_device_config tlc = mlc;
	tlc.cell = HZ_CELL_TLC;
	tlc.pages_per_block = 192;
	tlc.page_bytes = 32768;
	tlc.program_pages = 3;
	tlc.slc = {{20000}, {75000}, 3500000, 0};
	tlc.normal = {{32000, 32000, 32000}, {937500}, 3500000, 0};
	tlc.channel_bytes_per_s = 1677721600;
	hz_device_config qlc = tlc;
	qlc.cell = HZ_CELL_QLC;
	qlc.page_bytes = 16384;
	qlc.program_pages = 4;
	qlc.normal = {{85000, 85000, 85000, 85000}, {6400000}, 3500000, 0};
	return {{"mlc", "MCMQ, Table I", mlc}, {"tlc", "ConZone, 96 KiB unit", tlc}, {"qlc", "ConZone, 64 KiB unit", qlc}};
}

const char *const page_types[] = {"LSB", "CSB", "MSB", "TSB"};

const char *page_type(const hz_device_config &cfg, uint32_t type)
{
	return cfg.cell == HZ_CELL_MLC && type == 1 ? "MSB" : page_types[type];
}

// One kind of operation: count, and the spread of its times.
struct Series {
	std::string op, page;
	uint64_t array_ns = 0, bus_ns = 0;
	std::vector<uint64_t> took;

	ordered_json to_json() const
	{
		double mean = 0, square = 0;
		for (uint64_t ns : took)
			mean += static_cast<double>(ns) / static_cast<double>(took.size());
		for (uint64_t ns : took)
			square += (static_cast<double>(ns) - mean) * (static_cast<double>(ns) - mean);
		return {{"op", op},
			{"page", page},
			{"count", took.size()},
			{"configured_array_ns", array_ns},
			{"configured_bus_ns", bus_ns},
			{"configured_ns", array_ns + bus_ns},
			{"measured_mean_ns", mean},
			{"measured_min_ns", *std::min_element(took.begin(), took.end())},
			{"measured_max_ns", *std::max_element(took.begin(), took.end())},
			{"measured_sigma_ns", std::sqrt(square / static_cast<double>(took.size()))}};
	}
};

// The TSU's hart is kept busy for a random while, so that it comes late to most events.
void disturb(std::mt19937_64 &random)
{
	static struct {
		lt_event event;
		uint64_t ns;
	} busy;
	static const lt_thread tsu_hart{"busy", 1};
	busy.ns = random() % 200000;
	lt_post(&tsu_hart, &busy.event, [](lt_event *) { clock_charge_ns(busy.ns); });
}

ordered_json measure(const Preset &preset)
{
	Rig r(preset.cfg);
	std::mt19937_64 random(1);
	const hz_device_config &cfg = r.cfg;
	const uint32_t page_sectors = r.map.shape.page_sectors, unit = r.map.shape.unit_sectors;
	std::vector<Series> all;
	auto series = [&](const char *op, const std::string &page, uint64_t array_ns, uint32_t sectors) -> Series & {
		for (Series &s : all)
			if (s.op == op && s.page == page)
				return s;
		return all.emplace_back(Series{op, page, array_ns, cfg.command_ns + r.transfer_ns(sectors), {}});
	};
	auto run = [&](Series &s, Txn &txn) {
		r.submit(txn);
		disturb(random);
		lt_host_run_until_idle();
		s.took.push_back(txn.took_ns());
	};
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t sector = 0; sector < cfg.pages_per_block * page_sectors; sector += unit) {
			uint32_t type = sector / page_sectors % cfg.cell;
			bool one_shot = cfg.program_pages > 1;
			run(series("program", one_shot ? "unit" : page_type(cfg, type), cfg.normal.program_ns[one_shot ? 0 : type], unit),
			    r.program(0, 3, sector, unit));
		}
		for (uint32_t page = 0; page < cfg.pages_per_block; page++)
			run(series("read", page_type(cfg, page % cfg.cell), cfg.normal.read_ns[page % cfg.cell], page_sectors),
			    r.read(0, 3, page * page_sectors, page_sectors));
		run(series("erase", "block", cfg.normal.erase_ns, 0), r.erase(0, 3));
		for (uint32_t sector = 0; sector < r.map.shape.slc_pages_per_block * page_sectors; sector++)
			run(series("program", "SLC 4 KiB", cfg.slc.program_ns[0], 1), r.program(0, 0, sector, 1));
		for (uint32_t sector = 0; sector < r.map.shape.slc_pages_per_block * page_sectors; sector++)
			run(series("read", "SLC 4 KiB", cfg.slc.read_ns[0], 1), r.read(0, 0, sector, 1));
		run(series("erase", "SLC block", cfg.slc.erase_ns, 0), r.erase(0, 0));
	}
	ordered_json out = {{"preset", preset.name}, {"source", preset.source}, {"operations", ordered_json::array()}};
	for (const Series &s : all)
		out["operations"].push_back(s.to_json());
	return out;
}

ordered_json audit(Rig &r)
{
	ordered_json out = ordered_json::array();
	auto add = [&](const std::string &name, const tsu_account &a) {
		out.push_back({{"resource", name},
			       {"busy_ns", a.busy_ns},
			       {"idle_ns", a.idle_ns},
			       {"elapsed_ns", a.elapsed_ns},
			       {"conserved", a.busy_ns + a.idle_ns == a.elapsed_ns}});
	};
	hz_log_flash log;
	tsu_account account;
	tsu_report(r.tsu, &log);
	for (uint32_t i = 0; i < r.cfg.channels; i++)
		tsu_channel_account(r.tsu, i, &account), add("channel " + std::to_string(i), account);
	for (uint32_t i = 0; i < log.dies; i++)
		tsu_die_account(r.tsu, i, &account), add("die " + std::to_string(i), account);
	return out;
}

// Every die of one channel always has reads waiting. Bound by the bus or by the die, the slower of
// both, plus the first array time.
ordered_json measure_utilisation(uint32_t dies)
{
	hz_device_config cfg = rig::small_config();
	const uint32_t rounds = 500;
	cfg.chips_per_channel = dies;
	cfg.media_mode = HZ_MEDIA_TIMING_ONLY;
	Rig r(cfg);
	for (uint32_t i = 0; i < rounds; i++)
		for (uint32_t die = 0; die < dies; die++)
			r.submit(r.read(die, 3, 0, 2));
	uint64_t begin = clock_now_ns();
	double elapsed = static_cast<double>(lt_host_run_until_idle() - begin);
	double bus = cfg.command_ns + static_cast<double>(r.transfer_ns(2)), cycle = bus + cfg.normal.read_ns[0];
	double period = std::max(cycle, dies * bus);
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	return {{"dies_per_channel", dies},
		{"reads", rounds * dies},
		{"elapsed_ns", elapsed},
		{"formula_elapsed_ns", rounds * period},
		{"channel_utilisation", static_cast<double>(log.channel_busy_ns[0]) / elapsed},
		{"formula_channel_utilisation", dies * bus / period},
		{"die_busy_share", static_cast<double>(log.die_busy_ns_total) / (elapsed * dies)},
		{"audit", audit(r)}};
}

ordered_json measure_multi_plane(tsu_op op, const char *name, uint32_t planes)
{
	uint64_t took[2];
	uint64_t bus = 0, array = 0;
	for (int together = 0; together < 2; together++) {
		hz_device_config cfg = rig::small_config();
		cfg.planes_per_die = planes;
		cfg.media_mode = HZ_MEDIA_TIMING_ONLY;
		Rig r(cfg);
		std::vector<Txn *> list;
		for (uint32_t plane = 0; plane < planes; plane++)
			list.push_back(op == TSU_READ      ? &r.read(plane, 3, 0, 2)
				       : op == TSU_PROGRAM ? &r.program(plane, 3, 0, 2)
							   : &r.erase(plane, 3));
		uint64_t begin = clock_now_ns();
		if (together)
			r.submit_list(list);
		else
			for (Txn *txn : list)
				r.run(*txn);
		lt_host_run_until_idle();
		took[together] = 0;
		for (Txn *txn : list)
			took[together] = together ? std::max(took[1], txn->txn.end_ns - begin) : took[0] + txn->took_ns();
		bus = cfg.command_ns + (op == TSU_ERASE ? 0 : r.transfer_ns(2));
		array = op == TSU_READ ? cfg.normal.read_ns[0] : op == TSU_PROGRAM ? cfg.normal.program_ns[0] : cfg.normal.erase_ns;
	}
	return {{"op", name},
		{"planes", planes},
		{"single_ns", took[0]},
		{"together_ns", took[1]},
		{"gain", static_cast<double>(took[0]) / static_cast<double>(took[1])},
		{"formula_gain", static_cast<double>(planes * (bus + array)) / static_cast<double>(planes * bus + array)}};
}

// Rows of one kind of operation on one die with and without cache, and programs in passes.
struct Row {
	const char *op;
	tsu_op kind;
	bool cached;
	uint32_t passes;
	uint32_t interleave;
};

// With c command, x transfer, a array, b shift, over p passes. Derived from the configuration alone.
double row_formula(const hz_device_config &cfg, const Row &row, uint32_t n, double x)
{
	const double c = cfg.command_ns, b = cfg.cache_busy_ns, read = cfg.normal.read_ns[0];
	double program = 0;
	for (uint32_t pass = 0; pass < row.passes; pass++)
		program += c + x + cfg.normal.program_ns[pass];
	if (row.kind == TSU_READ)
		return row.cached ? c + read + (n - 1) * (b + c + std::max(read, x)) + x : n * (c + read + x);
	return row.cached ? n * program - (n - 1) * (c + x - b) : n * program;
}

ordered_json measure_rows(const Row &row)
{
	hz_device_config cfg = presets()[1].cfg;
	const uint32_t n = 32;
	cfg.cache_read = cfg.cache_program = row.cached;
	cfg.cache_busy_ns = 3000;
	cfg.program_passes = row.passes;
	cfg.interleave_sectors = row.interleave;
	cfg.normal.program_ns[1] = 600000;
	Rig r(cfg);
	const uint32_t sectors = row.kind == TSU_READ ? r.map.shape.page_sectors : r.map.shape.unit_sectors;
	std::vector<Txn *> list;
	for (uint32_t i = 0; i < n; i++)
		list.push_back(row.kind == TSU_READ ? &r.read(0, 3, 0, sectors) : &r.program(0, 3, i * sectors, sectors));
	r.submit_list(list);
	lt_host_run_until_idle();
	return {{"op", row.op},
		{"cached", row.cached},
		{"passes", row.passes},
		{"interleave_sectors", row.interleave},
		{"count", n},
		{"measured_ns", list.back()->took_ns()},
		{"formula_ns", row_formula(cfg, row, n, static_cast<double>(r.transfer_ns(sectors)))},
		{"audit", audit(r)}};
}

ordered_json measure_all_rows()
{
	ordered_json out = ordered_json::array();
	for (bool cached : {false, true}) {
		out.push_back(measure_rows({"read", TSU_READ, cached, 1, 0}));
		out.push_back(measure_rows({"read in parts", TSU_READ, cached, 1, 2}));
		for (uint32_t passes : {1, 2})
			out.push_back(measure_rows({"program", TSU_PROGRAM, cached, passes, 0}));
	}
	return out;
}

// Queues of depth 2, 4 and 32 read from one die: each one's share of the reads. Fair: a third.
ordered_json measure_shares(uint32_t schedule, const char *name)
{
	hz_device_config cfg = rig::small_config();
	cfg.schedule = schedule;
	Rig r(cfg);
	const uint32_t depth[] = {2, 4, 32};
	uint64_t done[3] = {}, left = 3000;
	std::function<void(uint32_t)> next = [&](uint32_t stream) {
		Txn &txn = r.read(0, 3, 0, 2);
		txn.txn.stream = static_cast<uint8_t>(stream);
		txn.then = [&, stream](Txn &) {
			done[stream]++;
			if (left && left--)
				next(stream);
		};
		r.submit(txn);
	};
	for (uint32_t stream = 0; stream < 3; stream++)
		for (uint32_t i = 0; i < depth[stream]; i++)
			next(stream);
	lt_host_run_until_idle();
	const double all = static_cast<double>(done[0] + done[1] + done[2]);
	return {{"schedule", name},
		{"depths", depth},
		{"shares", {static_cast<double>(done[0]) / all, static_cast<double>(done[1]) / all, static_cast<double>(done[2]) / all}}};
}

ordered_json measure_scale(uint32_t dies)
{
	tsu_work work = rig::work_of_all_dies(dies);
	return {{"dies", dies},
		{"transactions", work.transactions},
		{"steps_per_transaction", static_cast<double>(work.steps) / static_cast<double>(work.transactions)}};
}

// Checks the bench's claims: a violation fails the run.
bool holds(const ordered_json &result)
{
	bool ok = true;
	for (const auto &preset : result["presets"])
		for (const auto &op : preset["operations"])
			ok &= op["measured_min_ns"] == op["configured_ns"] && op["measured_max_ns"] == op["configured_ns"];
	for (const auto &row : result["utilisation"])
		for (const auto &account : row["audit"])
			ok &= account["conserved"].get<bool>();
	for (const auto &row : result["rows"]) {
		ok &= std::abs(row["measured_ns"].get<double>() - row["formula_ns"].get<double>()) < 0.5;
		for (const auto &account : row["audit"])
			ok &= account["conserved"].get<bool>();
	}
	for (const auto &row : result["multi_plane"])
		ok &= std::abs(row["gain"].get<double>() - row["formula_gain"].get<double>()) < 1e-9;
	return ok;
}

void print(const ordered_json &result)
{
	for (const auto &preset : result["presets"]) {
		printf("%s (%s)\n  %-8s %-10s %8s %14s %14s %8s\n", preset["preset"].get<std::string>().c_str(),
		       preset["source"].get<std::string>().c_str(), "op", "page", "count", "configured us", "measured us", "sigma");
		for (const auto &op : preset["operations"])
			printf("  %-8s %-10s %8u %14.3f %14.3f %8.3f\n", op["op"].get<std::string>().c_str(),
			       op["page"].get<std::string>().c_str(), op["count"].get<uint32_t>(), op["configured_ns"].get<double>() / 1e3,
			       op["measured_mean_ns"].get<double>() / 1e3, op["measured_sigma_ns"].get<double>() / 1e3);
	}
	printf("reads on one channel\n  %6s %12s %12s %14s %14s\n", "dies", "bus", "formula", "elapsed ms", "formula ms");
	for (const auto &row : result["utilisation"])
		printf("  %6u %11.2f%% %11.2f%% %14.3f %14.3f\n", row["dies_per_channel"].get<uint32_t>(),
		       row["channel_utilisation"].get<double>() * 100, row["formula_channel_utilisation"].get<double>() * 100,
		       row["elapsed_ns"].get<double>() / 1e6, row["formula_elapsed_ns"].get<double>() / 1e6);
	printf("multi-plane\n  %-8s %6s %10s %10s\n", "op", "planes", "gain", "formula");
	for (const auto &row : result["multi_plane"])
		printf("  %-8s %6u %10.3f %10.3f\n", row["op"].get<std::string>().c_str(), row["planes"].get<uint32_t>(),
		       row["gain"].get<double>(), row["formula_gain"].get<double>());
	printf("rows of one die (tlc)\n  %-14s %6s %6s %14s %14s\n", "op", "cached", "passes", "measured us", "formula us");
	for (const auto &row : result["rows"])
		printf("  %-14s %6s %6u %14.3f %14.3f\n", row["op"].get<std::string>().c_str(), row["cached"].get<bool>() ? "yes" : "no",
		       row["passes"].get<uint32_t>(), row["measured_ns"].get<double>() / 1e3, row["formula_ns"].get<double>() / 1e3);
	printf("shares of queues of depth 2, 4 and 32\n");
	for (const auto &row : result["shares"])
		printf("  %-9s %6.1f%% %6.1f%% %6.1f%%\n", row["schedule"].get<std::string>().c_str(), row["shares"][0].get<double>() * 100,
		       row["shares"][1].get<double>() * 100, row["shares"][2].get<double>() * 100);
	printf("scheduling work\n  %6s %14s\n", "dies", "steps/txn");
	for (const auto &row : result["scale"])
		printf("  %6u %14.2f\n", row["dies"].get<uint32_t>(), row["steps_per_transaction"].get<double>());
}

// The flash layer on fixed devices.
ordered_json measure_all()
{
	ordered_json result = {{"schema", "hartzone.bench.nand/1"}, {"presets", ordered_json::array()}};
	for (const Preset &preset : presets())
		result["presets"].push_back(measure(preset));
	for (uint32_t dies : {1, 2, 4, 8})
		result["utilisation"].push_back(measure_utilisation(dies));
	for (auto [op, name] : {std::pair{TSU_READ, "read"}, {TSU_PROGRAM, "program"}, {TSU_ERASE, "erase"}})
		for (uint32_t planes : {1, 2, 4})
			result["multi_plane"].push_back(measure_multi_plane(op, name, planes));
	result["rows"] = measure_all_rows();
	for (auto [schedule, name] : {std::pair{HZ_SCHED_FIFO, "fifo"}, {HZ_SCHED_PRIORITY, "priority"}, {HZ_SCHED_FAIR, "fair"}})
		result["shares"].push_back(measure_shares(schedule, name));
	for (uint32_t dies : {4, 16, 64, 256, 1024})
		result["scale"].push_back(measure_scale(dies));
	result["holds"] = holds(result);
	return result;
}

bool measure_and_write(const std::string &path)
{
	const ordered_json result = measure_all();
	print(result);
	if (!path.empty()) {
		std::ofstream file(path);
		file << result.dump(1, '\t') << "\n";
		if (!file)
			throw std::runtime_error("cannot write " + path);
	}
	return result["holds"].get<bool>();
}

constexpr const char *usage = "usage: hz-bench-nand [--out FILE]\n"
			      "       hz-bench-nand --device FILE [--image-block FILE] [--out FILE]\n"
			      "       hz-bench-nand --device FILE --plan FILE\n"
			      "Measures the flash model in simulated time, or a device's flash; writes JSON to FILE.\n"
			      "--plan writes the parameters of flashbench.elf, --image-block reads its results.\n";

// Option → value; false for unknown ones.
bool read_options(int argc, char **argv, std::map<std::string, std::string> &options)
{
	const std::set<std::string> known = {"--out", "--device", "--image-block", "--plan"};
	for (int i = 1; i < argc; i += 2) {
		if (i + 1 == argc || !known.count(argv[i]))
			return false;
		options[argv[i]] = argv[i + 1];
	}
	return options.count("--device") || !(options.count("--plan") || options.count("--image-block"));
}

bool run_bench(std::map<std::string, std::string> &options)
{
	if (!options.count("--device"))
		return measure_and_write(options["--out"]);
	if (!options.count("--plan"))
		return nandbench::measure_device(options["--device"], options["--image-block"], options["--out"]);
	nandbench::write_plan(options["--device"], options["--plan"]);
	return true;
}

} // namespace

int main(int argc, char **argv)
{
	std::map<std::string, std::string> options;
	if (!read_options(argc, argv, options)) {
		fputs(usage, stderr);
		return argc == 2 && std::string(argv[1]) == "--help" ? 0 : 2;
	}
	try {
		return run_bench(options) ? 0 : 1;
	} catch (const std::exception &error) {
		fprintf(stderr, "hz-bench-nand: %s\n", error.what());
		return 1;
	}
}
