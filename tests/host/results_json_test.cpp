// result.json: every promised key, the identities that must fail when figures do not add up, and the schema.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "config/device_yaml.hpp"
#include "results/run_facts.hpp"
#include "results/software.hpp"

namespace {

using namespace hz;
using nlohmann::json;

res::RunFacts balanced()
{
	res::RunFacts f;
	f.device = conf::device_defaults();
	f.elapsed_ns = 1000000;
	f.harts.harts = f.device.harts;
	for (uint32_t i = 0; i < f.harts.harts; i++) {
		f.harts.hart[i].hart = i;
		f.harts.hart[i].roles = i == 0 ? HZ_ROLE_HIL : HZ_ROLE_WORKER;
		f.harts.hart[i].elapsed_ns = 1000;
		f.harts.hart[i].work_ns = 600;
		f.harts.hart[i].spin_ns[HZ_LC_ZONE] = 100;
		f.harts.hart[i].idle_ns = 300;
	}
	res::QueueAccount q;
	q.qid = 1;
	q.submitted = q.completed = 2;
	q.of(res::Kind::read).ops = q.of(res::Kind::write).ops = 1;
	q.of(res::Kind::read).bytes = q.of(res::Kind::write).bytes = 4096;
	q.of(res::Kind::read).latency.add(50);
	q.of(res::Kind::write).latency.add(70);
	f.queues.push_back(q);
	f.ftl.host_read_sectors = f.ftl.host_write_sectors = 1;
	f.flash.program_sectors[HZ_CAUSE_HOST] = 1;
	f.flash.program_sectors[HZ_CAUSE_MAP] = 1;
	f.locks.push_back(hz_lock_entry{});
	f.software = res::software_info("/dev/null", "/dev/null", "");
	return f;
}

/* The same span on a device that had done as much before. */
TEST(ResultJson, FiguresOfASpanAreADifference)
{
	const res::RunFacts once = balanced();
	res::DeviceFigures before = once, twice = once;
	before.flash.dies = twice.flash.dies = 8;
	for (uint32_t i = 0; i < twice.harts.harts; i++) {
		hz_hart_times &h = twice.harts.hart[i];
		h.elapsed_ns *= 2, h.work_ns *= 2, h.idle_ns *= 2, h.spin_ns[HZ_LC_ZONE] *= 2;
	}
	before.energy.reads[HZ_CELLS_SLC] = before.energy.channel_sectors = 3;
	twice.energy.reads[HZ_CELLS_SLC] = 5, twice.energy.channel_sectors = 10, twice.energy.version = before.energy.version = 1;
	twice.ftl.host_read_sectors = twice.ftl.host_write_sectors = 2;
	twice.flash.program_sectors[HZ_CAUSE_HOST] = twice.flash.program_sectors[HZ_CAUSE_MAP] = 2;
	hz_lock_entry lock{};
	lock.lock_class = HZ_LC_L2P, lock.index = 7, lock.acquisitions = 5, lock.contended = 1, lock.wait_ns = lock.wait_max_ns = 60;
	before.locks[0] = lock;
	lock.acquisitions = 9, lock.contended = 2, lock.wait_ns = 70;
	twice.locks[0] = lock;
	before.namespaces = {{2, before.ftl}};
	twice.namespaces = {{1, twice.ftl}, {2, twice.ftl}};
	res::RunFacts span = once;
	static_cast<res::DeviceFigures &>(span) = twice;
	subtract(span, before);
	EXPECT_EQ(span.flash.dies, 8u);
	EXPECT_EQ(span.harts.harts, once.harts.harts);
	EXPECT_EQ(span.harts.hart[1].work_ns, once.harts.hart[1].work_ns);
	EXPECT_EQ(span.energy.version, 1u);
	EXPECT_EQ(span.energy.reads[HZ_CELLS_SLC], 2u);
	EXPECT_EQ(span.energy.channel_sectors, 7u);
	EXPECT_EQ(span.locks[0].index, 7u);
	EXPECT_EQ(span.locks[0].acquisitions, 4u);
	EXPECT_EQ(span.locks[0].wait_ns, 10u);
	EXPECT_EQ(span.locks[0].wait_max_ns, 60u) << "cannot be distinguished";
	EXPECT_EQ(span.namespaces[0].ftl.host_read_sectors, 2u) << "attached meanwhile";
	EXPECT_EQ(span.namespaces[1].ftl.host_read_sectors, 1u);
	span.attached = true;
	span.namespaces.clear();
	EXPECT_EQ(violations(span), std::vector<std::string>{});
	span.ftl.host_read_sectors = 0;
	EXPECT_EQ(violations(span).size(), 1u) << "less than this host had";
}

/* The same with a trace that two threads replayed, and nothing to complain of. */
res::RunFacts balanced_trace()
{
	res::RunFacts f = balanced();
	f.trace = {{"file", "t"},
		   {"format", "vscsi"},
		   {"format_from", "detected"},
		   {"time_unit_ns", 1000000000},
		   {"time_unit_from", "detected"},
		   {"records", 2},
		   {"span_ns", 5},
		   {"streams", 1},
		   {"split", "address"},
		   {"split_from", "detected"},
		   {"chunk_bytes", 1048576},
		   {"skipped", {{"count", 0}, {"first", json::array()}}}};
	for (int thread = 0; thread < 2; thread++)
		f.mapping.push_back({{"trace_records", 1u},
				     {"wrapped_records", 0u},
				     {"unaligned_records", 0u},
				     {"ignored_records", 0u},
				     {"address_space_bytes", 1u << 20}});
	return f;
}

TEST(ResultJson, HasEveryPromisedKey)
{
	const json r = res::result_json(balanced());
	for (const char *key : {"schema", "clock", "device", "workload", "workers",        "elapsed_ns",    "totals",
				"queues", "harts", "nand",   "waf",      "verified_bytes", "wall_s",        "digest",
				"locks",  "ftl",   "l2p",    "seed",     "host",           "deterministic", "mapping"})
		EXPECT_TRUE(r.contains(key)) << key;
	for (const char *kind : {"read", "write"})
		for (const char *key : {"ops", "bytes", "errors", "iops", "mib_s"})
			EXPECT_TRUE(r["totals"][kind].contains(key)) << key;
	for (const char *key : {"mean", "p50", "p90", "p99", "p999", "p9999", "max"})
		EXPECT_TRUE(r["totals"]["read"]["latency_ns"].contains(key)) << key;
	for (const char *key : {"id", "role", "work_ns", "spin_ns", "idle_ns", "elapsed_ns"})
		EXPECT_TRUE(r["harts"][0].contains(key)) << key;
	EXPECT_EQ(r["all_harts"], balanced().device.harts) << "not the workers alone";
	EXPECT_EQ(r["totals"]["read"]["iops"], 1000.0);
	EXPECT_EQ(r["waf"], 2.0);
	EXPECT_TRUE(r["nand"]["by_cause"].contains("host"));
	EXPECT_FALSE(r["deterministic"].get<bool>());
	EXPECT_NE(res::result_table(r).find("digest " + r["digest"].get<std::string>()), std::string::npos);
	const std::string answer = "2000 commands a second; on average a read takes ";
	EXPECT_EQ(res::result_table(r).substr(0, answer.size()), answer) << "one read and one write in a millisecond";
}

TEST(ResultJson, TheSchemaListsTheSameKeys)
{
	std::ifstream in(HZ_TREE "/docs/result.schema.json");
	const json schema = json::parse(in), r = res::result_json(balanced());
	for (const auto &[key, value] : r.items())
		EXPECT_TRUE(schema["properties"].contains(key)) << key << " is not in the schema";
	for (const json &key : schema["required"])
		EXPECT_TRUE(r.contains(key.get<std::string>())) << key;
	const json energy = schema["properties"]["energy"];
	for (const auto &[key, value] : r["energy"].items())
		EXPECT_TRUE(energy["properties"].contains(key)) << key << " of the energy is not in the schema";
	for (const auto &[key, value] : r["energy"]["parts_mj"].items())
		EXPECT_TRUE(energy["properties"]["parts_mj"]["properties"].contains(key)) << key;
	const json trace = res::result_json(balanced_trace())["trace"], &described = schema["properties"]["trace"];
	for (const auto &[key, value] : trace.items())
		EXPECT_TRUE(described["properties"].contains(key)) << key << " of the trace is not in the schema";
	for (const json &key : described["required"])
		EXPECT_TRUE(trace.contains(key.get<std::string>())) << key;
}

// Names of all keys below; the echo of the configuration is described elsewhere.
void collect(const json &value, std::set<std::string> &keys)
{
	for (const auto &[key, part] : value.items()) {
		if (value.is_object() && (key == "device" || key == "workload"))
			continue;
		if (value.is_object())
			keys.insert(key);
		if (part.is_structured())
			collect(part, keys);
	}
}

TEST(ResultJson, TheDocumentNamesEveryKey)
{
	std::stringstream text;
	text << std::ifstream(HZ_TREE "/docs/reference/results.md").rdbuf();
	std::set<std::string> keys;
	collect(res::result_json(balanced_trace()), keys);
	EXPECT_GT(keys.size(), 100u);
	for (const std::string &key : keys)
		EXPECT_TRUE(std::regex_search(text.str(), std::regex("\\b" + key + "\\b"))) << key;
}

TEST(ResultJson, FailedCommandsOfAnyPhaseAreNamed)
{
	res::RunFacts f = balanced();
	EXPECT_EQ(res::result_json(f)["failed_commands"], json({{"count", 0}, {"first", nullptr}}));
	res::QueueAccount q;
	q.failures = 2;
	q.first_failure = "queue 1, read of 1 sectors at LBA 7: x";
	f.read_back.push_back(q);
	const json r = res::result_json(f);
	EXPECT_EQ(r["failed_commands"]["count"], 2);
	EXPECT_NE(res::result_table(r).find("FAILED: 2 commands, the first: queue 1, read of 1 sectors at LBA 7: x"), std::string::npos);
}

TEST(ResultJson, ATraceIsExplained)
{
	const json r = res::result_json(balanced_trace());
	EXPECT_TRUE(res::result_json(balanced())["trace"].is_null());
	EXPECT_EQ(r["trace"]["thread_records"], json({1, 1}));
	EXPECT_EQ(r["trace"]["idle_threads"], 0);
	EXPECT_EQ(r["warnings"], json::array());
	EXPECT_NE(res::result_table(r).find(
			  "trace: vscsi (detected), times in s (detected), 2 records of 1 streams, divided by address (detected)\n"),
		  std::string::npos)
		<< res::result_table(r);
	EXPECT_EQ(res::result_table(r).find("warning"), std::string::npos);
}

TEST(ResultJson, EachWarningHasItsCause)
{
	const auto warned = [](auto change, const std::string &words) {
		res::RunFacts f = balanced_trace();
		change(f);
		const json r = res::result_json(f);
		ASSERT_EQ(r["warnings"].size(), 1u) << words;
		EXPECT_EQ(r["warnings"][0].get<std::string>().substr(0, words.size()), words);
		EXPECT_NE(res::result_table(r).find("warning: " + words), std::string::npos) << res::result_table(r);
	};
	warned(
		[](res::RunFacts &f) {
			f.trace["skipped"] = {{"count", 3}, {"first", {"t:2: x", "t:4: y"}}};
		},
		"3 lines of the trace could not be read and were skipped, the first: t:2: x");
	warned([](res::RunFacts &f) { f.mapping[0]["wrapped_records"] = 1u; },
	       "1 of 2 records lie beyond the 2.0 MiB that the replay offers and were folded into it");
	warned(
		[](res::RunFacts &f) {
			f.mapping[0]["ignored_records"] = 3u, f.mapping[0]["ignored_reset"] = 2u, f.mapping[1]["ignored_append"] = 1u;
		},
		"3 records were left out, since the mapping has no command for them: append 1, reset 2");
	warned(
		[](res::RunFacts &f) {
			f.trace["left_out"] = {{"the mark sync", 2}, {"writes of zeros (WZ)", 1}};
		},
		"the trace also says what a replay leaves out, how often each: the mark sync 2, writes of zeros (WZ) 1");
	warned([](res::RunFacts &f) { f.queues[0].late_arrivals = 1; }, "1 of 2 commands arrived later than the trace says");
	warned([](res::RunFacts &f) { f.mapping[1]["trace_records"] = 0u; },
	       "1 of 2 threads replayed nothing: the trace touches too few addresses; use fewer threads");
	warned([](res::RunFacts &f) { f.mapping[1]["trace_records"] = 0u, f.trace["split"] = "stream"; },
	       "1 of 2 threads replayed nothing: the trace has too few streams; use --split address, or fewer threads");
	warned([](res::RunFacts &f) { f.trace["time_unit_from"] = "assumed"; },
	       "the times of the trace may be in seconds or in microseconds");
	warned([](res::RunFacts &f) { f.interrupted = "verification"; }, "interrupted while the data were read back");
}

TEST(ResultJson, AnInterruptedRunIsNotRepeatable)
{
	res::RunFacts f = balanced_trace();
	f.plugin_report = R"({"deterministic": true, "reason": ""})";
	EXPECT_TRUE(res::result_json(f)["interrupted"].is_null());
	f.interrupted = "measurement";
	f.mapping[1]["trace_records"] = 0u; /* it had not come to it yet */
	const json r = res::result_json(f);
	EXPECT_EQ(r["interrupted"], "measurement");
	EXPECT_FALSE(r["deterministic"].get<bool>());
	EXPECT_EQ(r["deterministic_reason"], "interrupted");
	EXPECT_EQ(r["warnings"].size(), 1u);
}

/* Every product by hand; each key is another prime, so that none is taken for another one. */
TEST(ResultJson, EnergyIsWhatTheDeviceCountedTimesTheKeys)
{
	res::RunFacts f = balanced();
	f.device.clock.mhz = 2000;
	f.device.energy.slc_read_nj = 3000000, f.device.energy.slc_program_nj = 5000000, f.device.energy.slc_erase_nj = 7000000;
	f.device.energy.normal_read_nj = 11000000, f.device.energy.normal_program_nj = 13000000, f.device.energy.normal_erase_nj = 17000000;
	f.device.energy.channel_pj = 19000000, f.device.energy.link_pj = 23000000;
	f.device.energy.busy_pj = 29000000, f.device.energy.idle_pj = 31000000;
	f.energy = {1, 0, {2, 20}, {3, 30}, {4, 40}, {1, 1}, {1, 1}, {1, 1}, 5, {6, 7, 8}, {60, 70, 80}};
	const double harts = f.device.harts;
	const std::map<std::string, double> expected = {
		{"slc_read", 2 * 3},
		{"slc_program", 3 * 5},
		{"slc_erase", 4 * 7},
		{"normal_read", 20 * 11},
		{"normal_program", 30 * 13},
		{"normal_erase", 40 * 17},
		{"channel", 5 * 4096 * 19e-3},
		{"link", 2 * 4096 * 23e-3},             /* a sector read and one written */
		{"hart_busy", harts * 700 * 2 * 29e-3}, /* 600 ns of work and 100 ns of spinning */
		{"hart_idle", harts * 300 * 2 * 31e-3},
	};
	const json energy = res::result_json(f)["energy"];
	ASSERT_EQ(energy["parts_mj"].size(), expected.size());
	double total = 0;
	for (const auto &[part, mj] : expected) {
		EXPECT_NEAR(energy["parts_mj"][part].get<double>(), mj, mj * 1e-12) << part;
		total += mj;
	}
	EXPECT_NEAR(energy["total_mj"].get<double>(), total, total * 1e-12);
	EXPECT_NEAR(energy["mean_mw"].get<double>(), total / 1000e-9, total * 1e-3) << "over 1000 ns";
	EXPECT_NEAR(energy["mj_per_gib"].get<double>(), total * 131072, total * 1e-6) << "8 KiB";
	EXPECT_EQ(energy["operations"]["normal"]["programs"], 30);
	EXPECT_EQ(energy["held"],
		  json({{"reads", 6}, {"read_ns", 60}, {"programs", 7}, {"program_ns", 70}, {"erases", 8}, {"erase_ns", 80}}));
	EXPECT_EQ(energy["channel_bytes"], 20480);
	EXPECT_EQ(energy["link_bytes"], 8192);
}

TEST(ResultJson, EnergyWithoutAKeyFollowsTheArrayTime)
{
	res::RunFacts f = balanced();
	f.device.energy.cells_uw = 100000;
	f.device.energy.normal_erase_nj = 9;
	f.energy.programs[HZ_CELLS_NORMAL] = f.energy.erases[HZ_CELLS_NORMAL] = 1;
	f.energy.program_ns[HZ_CELLS_NORMAL] = f.energy.erase_ns[HZ_CELLS_NORMAL] = 1000000;
	f.energy.read_ns[HZ_CELLS_SLC] = 20000;
	const json parts = res::result_json(f)["energy"]["parts_mj"];
	EXPECT_DOUBLE_EQ(parts["normal_program"].get<double>(), 0.1) << "0.1 W for 1 ms";
	EXPECT_DOUBLE_EQ(parts["slc_read"].get<double>(), 0.002);
	EXPECT_DOUBLE_EQ(parts["normal_erase"].get<double>(), 9e-6) << "given";
}

TEST(ResultJson, EnergyIsShownInTheTable)
{
	res::RunFacts f = balanced();
	f.device.energy.busy_pj = f.device.energy.idle_pj = f.device.energy.link_pj = 0;
	f.device.energy.normal_program_nj = 3000000, f.energy.programs[HZ_CELLS_NORMAL] = 1;
	f.device.energy.channel_pj = 1000000, f.energy.channel_sectors = 1;
	EXPECT_NE(res::result_table(res::result_json(f)).find("energy 7.096 mJ: flash 42.3 %, channels 57.7 %, link 0.0 %, harts 0.0 %; "),
		  std::string::npos)
		<< res::result_table(res::result_json(f));
	f.ftl.host_read_sectors = f.ftl.host_write_sectors = 0;
	EXPECT_TRUE(res::result_json(f)["energy"]["mj_per_gib"].is_null());
	f.virtual_clock = false;
	EXPECT_TRUE(res::result_json(f)["energy"].is_null()) << "its time is the host's";
	EXPECT_EQ(res::result_table(res::result_json(f)).find("energy"), std::string::npos);
}

TEST(ResultJson, NamesNeedNotBeUtf8)
{
	const std::string path = testing::TempDir() + "/utf8.json";
	res::write_result({{"error", "\xff: cannot be read"}}, path);
	EXPECT_EQ(json::parse(std::ifstream(path))["error"], "\xef\xbf\xbd: cannot be read");
}

TEST(ResultJson, TheMapIsShownWhenItIsInFlash)
{
	res::RunFacts f = balanced();
	EXPECT_EQ(res::result_table(res::result_json(f)).find("map:"), std::string::npos);
	f.device.l2p_cache_bytes = 12288;
	f.ftl.l2p_hits[0] = 6, f.ftl.l2p_hits[2] = 1, f.ftl.l2p_misses[0] = 3, f.ftl.l2p_log_hits = 10;
	f.ftl.l2p_fetches = 2, f.ftl.l2p_joined = 1, f.ftl.l2p_table_pages_written = 4, f.ftl.l2p_stalls = 5;
	EXPECT_EQ(res::result_table(res::result_json(f)).find("directory of"), std::string::npos);
	f.ftl.l2p_directory_hits = 7, f.ftl.l2p_directory_misses = 2;
	f.flash.reads[HZ_CAUSE_MAP] = 2;
	f.flash.program_sectors[HZ_CAUSE_MAP] = 4;
	const json r = res::result_json(f);
	EXPECT_EQ(r["l2p"]["hit_ratio"], 0.7);
	EXPECT_EQ(r["waf"], 5.0) << "table pages are writes too";
	const std::string table = res::result_table(r);
	EXPECT_NE(table.find("map: 70.0 % of 10 lookups in the cache (page 6, chunk 0, zone 1), 10 in the log, 2 fetches, 1 joined, "
			     "4 table pages written, 5 stalls"),
		  std::string::npos)
		<< table;
	EXPECT_NE(table.find("directory of table pages: 7 of 9 lookups in the cache"), std::string::npos) << table;
}

TEST(ResultJson, ThePluginsVerdictIsPassedOn)
{
	res::RunFacts f = balanced();
	f.plugin_report = R"({"deterministic": true, "reason": "", "switches": 5})";
	const json r = res::result_json(f);
	EXPECT_TRUE(r["deterministic"].get<bool>());
	EXPECT_EQ(r["vclock"]["switches"], 5);
	f.plugin_report = "{broken";
	EXPECT_FALSE(res::result_json(f)["deterministic"].get<bool>());
}

TEST(Identities, ABalancedRunStands) { EXPECT_TRUE(res::violations(balanced()).empty()); }

TEST(Identities, EachBrokenOneIsNamed)
{
	const auto broken = [](auto change, const char *word) {
		res::RunFacts f = balanced();
		change(f);
		const auto out = res::violations(f);
		ASSERT_FALSE(out.empty()) << word;
		EXPECT_NE(out[0].find(word), std::string::npos) << out[0];
	};
	broken([](res::RunFacts &f) { f.harts.hart[2].idle_ns++; }, "hart 2");
	broken([](res::RunFacts &f) { f.harts.harts--; }, "harts instead of");
	broken([](res::RunFacts &f) { f.queues[0].submitted++; }, "submitted 3 commands, got 2");
	broken([](res::RunFacts &f) { f.queues[0].of(res::Kind::read).latency.add(1); }, "latencies");
	broken([](res::RunFacts &f) { f.queues[0].errors[1] = 1; }, "errors, but 1 by status");
	broken([](res::RunFacts &f) { f.queues[0].mismatched_sectors = 1; }, "wrong sectors");
	broken([](res::RunFacts &f) { f.ftl.host_read_sectors++; }, "the host read");
	broken([](res::RunFacts &f) { f.ftl.host_write_sectors++; }, "the host wrote");
	broken([](res::RunFacts &f) { f.namespaces = {{1, f.ftl}, {2, f.ftl}}; }, "the host read 0 bytes, namespace 2 delivered 4096");
	broken([](res::RunFacts &f) { f.namespaces = {{1, hz_log_ftl{}}}; }, "the host read 4096 bytes, namespace 1 delivered 0");
	broken([](res::RunFacts &f) { f.flash.channels = 1, f.flash.channel_busy_ns[0] = 5; }, "channel 0");
	broken([](res::RunFacts &f) { f.ftl.l2p_fetches = 65; }, "the map asked for 65 reads");
	broken([](res::RunFacts &f) { f.flash.reads[HZ_CAUSE_MAP] = 65; }, "the flash did 65");
	broken([](res::RunFacts &f) { f.ftl.l2p_table_pages_written = 66; }, "wrote 66 table pages");
	broken([](res::RunFacts &f) { f.locks[0].contended = 1; }, "part larger than its whole");
}

TEST(ResultJson, NamespacesHaveTheirPartsOfTheCounters)
{
	res::RunFacts f = balanced();
	EXPECT_EQ(res::result_json(f)["namespaces"], json::array()) << "there is one";
	hz_log_ftl none{};
	none.l2p_evictions = 7;
	f.namespaces = {{1, f.ftl}, {3, none}};
	EXPECT_EQ(res::violations(f), std::vector<std::string>{});
	const json r = res::result_json(f);
	EXPECT_EQ(r["namespaces"][0]["ftl"], r["ftl"]);
	EXPECT_EQ(r["namespaces"][1]["nsid"], 3);
	EXPECT_EQ(r["namespaces"][1]["ftl"]["host_write_bytes"], 0);
	EXPECT_EQ(r["namespaces"][1]["l2p"]["evictions"], 7);
	EXPECT_TRUE(r["namespaces"][1]["data_cache"].contains("waits"));
}

TEST(Digest, EveryDeviceSideFigureCounts)
{
	const std::string usual = res::digest_of(balanced());
	res::RunFacts f = balanced();
	f.wall_s = 5;
	EXPECT_EQ(res::digest_of(f), usual);
	f.ftl.zone_resets++;
	EXPECT_NE(res::digest_of(f), usual);
	f = balanced();
	f.queues[0].digest.u16(1);
	EXPECT_NE(res::digest_of(f), usual);
	f = balanced();
	f.harts.hart[0].events++;
	EXPECT_NE(res::digest_of(f), usual);
	f = balanced();
	f.locks[0].wait_ns++;
	EXPECT_NE(res::digest_of(f), usual);
}

} // namespace
