// The main job on the real firmware image: right data, balanced books, the same digest every time. Needs QEMU.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cli/run_queues.hpp"
#include "cli/run_workload.hpp"
#include "config/device_yaml.hpp"
#include "nand_image.h"
#include "session/machine/qemu_command.hpp"
#include "workload/source.hpp"

namespace {

using namespace hz;

res::RunFacts run(const std::string &device, const std::string &workload, uint64_t seed = 1, uint64_t divisor = 1,
		  const char *plugin_options = "")
{
	MachineOptions machine;
	machine.plugin_options = plugin_options;
	machine.config = conf::load_device(std::string(HZ_TREE) + "/configs/devices/" + device + ".yaml");
	wl::Workload w = wl::load_workload(std::string(HZ_TREE) + "/configs/workloads/" + workload + ".yaml");
	w.seed = seed;
	wl::shrink(w, divisor);
	return cli::run_workload(machine, w, workload);
}

void expect_good(const res::RunFacts &facts)
{
	const nlohmann::json result = res::result_json(facts);
	EXPECT_EQ(result["violations"], nlohmann::json::array());
	EXPECT_EQ(result["totals"]["errors"], nlohmann::json::array());
	EXPECT_GT(result["verified_bytes"].get<uint64_t>(), 0u);
	EXPECT_TRUE(result["deterministic"].get<bool>()) << result["deterministic_reason"];
}

TEST(RunSmall, TheSameSeedGivesTheSameDigestAndAnotherOneDoesNot)
{
	const res::RunFacts first = run("small", "small");
	expect_good(first);
	for (int again = 0; again < 3; again++)
		EXPECT_EQ(res::digest_of(run("small", "small")), res::digest_of(first));
	EXPECT_NE(res::digest_of(run("small", "small", 2)), res::digest_of(first));
}

TEST(RunSmall, WhoVerifiesNothingWritesZeros)
{
	wl::Workload w = wl::load_workload(std::string(HZ_TREE) + "/configs/workloads/small.yaml");
	EXPECT_FALSE(cli::queue_options(w, {}, 0).writes_zeros) << "patterns lie in the buffers of the ids";
	w.verify = false;
	EXPECT_TRUE(cli::queue_options(w, {}, 0).writes_zeros);
}

TEST(RunDefault, TheRecordedTraceIsRepeatable)
{
	const res::RunFacts first = run("default", "default");
	expect_good(first);
	EXPECT_EQ(res::digest_of(run("default", "default")), res::digest_of(first));
}

TEST(RunDefault, AppendsOverwritesAndTheirCost)
{
	expect_good(run("default", "append"));
	const res::RunFacts facts = run("default", "overwrite");
	expect_good(facts);
	EXPECT_GT(facts.mapping[0]["gc_runs"].get<uint64_t>(), 0u);
}

TEST(RunDefault, AGibibyteOfMixedZonedIoFromEightThreads)
{
	const res::RunFacts facts = run("default", "mixed");
	expect_good(facts);
	uint64_t bytes = 0;
	for (const res::QueueAccount &queue : facts.queues)
		bytes += queue.of(res::Kind::read).bytes + queue.of(res::Kind::write).bytes;
	EXPECT_GE(bytes, 1ull << 30);
	EXPECT_EQ(facts.queues.size(), 8u);
}

/* A preset's workload, and its part to run. */
struct PresetRun {
	const char *workload;
	uint64_t divisor;
};

PresetRun run_for(const std::string &preset)
{
	static const std::map<std::string, PresetRun> others = {{"conzone-f2fs", {"f2fs-like", 32}},
								{"conzone-f2fs-patched", {"f2fs-like", 32}},
								{"conzone-qlc", {"small", 2}},
								{"conzone-1tb", {"small", 4}},
								{"mcmq", {"small", 4}},
								{"zufs", {"small", 4}},
								{"zms", {"small", 4}}};
	const auto other = others.find(preset);
	return other == others.end() ? PresetRun{"small", 1} : other->second;
}

/* Every preset boots, runs, and gives its data back where it stores any. */
TEST(RunPresets, EachServesAShortWorkload)
{
	for (const auto &file : std::filesystem::directory_iterator(HZ_TREE "/configs/devices")) {
		const std::string device = file.path().stem();
		SCOPED_TRACE(device);
		const auto [workload, divisor] = run_for(device);
		const res::RunFacts facts = run(device, workload, 1, divisor);
		if (facts.device.media_mode == HZ_MEDIA_STORE)
			expect_good(facts);
		EXPECT_EQ(res::violations(facts), std::vector<std::string>());
		EXPECT_EQ(res::result_json(facts)["failed_commands"]["count"], 0);
	}
}

// So many threads and such a depth, read only, under the mapping that any device takes.
wl::Workload deep(unsigned threads, unsigned depth)
{
	return wl::parse_workload("mapping: direct\nthreads: " + std::to_string(threads) +
					  "\ncommon: {read_ratio: 1, block: 4 KiB, total_ops: 20, queue_depth: " + std::to_string(depth) +
					  "}\n",
				  "deep");
}

// The numbers that a sentence names.
std::vector<unsigned> numbers_of(const std::string &sentence)
{
	std::vector<unsigned> found;
	for (size_t at = 0; (at = sentence.find_first_of("0123456789", at)) != sentence.npos;) {
		size_t used;
		found.push_back(static_cast<unsigned>(std::stoul(sentence.substr(at), &used)));
		at += used;
	}
	return found;
}

std::string refusal_of(unsigned threads, unsigned depth, const hz_device_config &config)
{
	try {
		EXPECT_LE(cli::shared_bytes(deep(threads, depth), config), most_shm_bytes(hz_nand_image_bytes(&config)));
		return "";
	} catch (const wl::WorkloadError &e) {
		return e.what();
	}
}

/* Whatever the options allow works, or the sentence has the numbers that do, and no larger ones would. */
TEST(RunPresets, EachTakesAllThreadsAndDepthsOrSaysHowMany)
{
	constexpr unsigned threads = HZ_MAX_IO_QUEUES, depth = HZ_MAX_QUEUE_DEPTH - 1;
	for (const auto &file : std::filesystem::directory_iterator(HZ_TREE "/configs/devices")) {
		SCOPED_TRACE(file.path());
		const hz_device_config config = conf::load_device(file.path());
		for (const auto &[t, d] : {std::pair{threads, 8u}, {32u, 16u}, {8u, 64u}, {3u, 256u}})
			EXPECT_EQ(refusal_of(t, d, config), "") << "on any device";
		for (const auto &[t, d] : {std::pair{threads, depth}, {threads, 32u}, {4u, depth}, {1u, depth}}) {
			const std::string words = refusal_of(t, d, config);
			if (words.empty())
				continue;
			SCOPED_TRACE(words);
			const std::string fits = words.substr(words.find("that fit:"));
			const std::vector<unsigned> named = numbers_of(fits);
			ASSERT_TRUE(named.size() == 2 || named.size() == 4);
			if (named.size() == 4) {
				EXPECT_EQ(refusal_of(named[0], named[1], config), "");
				EXPECT_NE(refusal_of(named[0] + 1, named[1], config), "");
				EXPECT_EQ(named[1], d);
			}
			EXPECT_EQ(refusal_of(t, named.back(), config), "");
			EXPECT_NE(refusal_of(t, named.back() + 1, config), "");
			EXPECT_EQ(named[named.size() - 2], t);
		}
	}
}

/* The largest region next to an image that takes the whole upper window, and next to a smaller one. */
TEST(RunPresets, TheMostThatFitsStarts)
{
	for (const auto &[device, threads, depth] : {std::tuple{"mcmq", 62u, 15u}, {"small-legacy", 64u, 64u}}) {
		MachineOptions machine;
		machine.config = conf::load_device(std::string(HZ_TREE "/configs/devices/") + device + ".yaml");
		const res::RunFacts facts = cli::run_workload(machine, deep(threads, depth), device);
		EXPECT_EQ(res::result_json(facts)["failed_commands"]["count"], 0) << device;
	}
}

/* Zones of two superblocks, TLC and SLC, are written over the seam, reset, written again, and read back as a whole. */
TEST(RunPresets, PatchedZonesAreFilledAndReadBack)
{
	const wl::Workload fill = wl::parse_workload("name: fill\nmapping: direct\nthreads: 2\ncommon: {read_ratio: 0.2, block: 256 KiB, "
						     "queue_depth: 4, zones: 3, total_bytes: 80 MiB}\n",
						     "fill");
	MachineOptions machine;
	machine.config = conf::load_device(HZ_TREE "/configs/devices/conzone-patched.yaml");
	const res::RunFacts facts = cli::run_workload(machine, fill, "fill");
	expect_good(facts);
	const nlohmann::json result = res::result_json(facts);
	EXPECT_GE(result["read_back"]["bytes"].get<uint64_t>(), 64u << 20);
	EXPECT_GT(result["ftl"]["zone_resets"].get<uint64_t>(), 0u);
	EXPECT_GT(result["l2p"]["hits"]["zone"].get<uint64_t>(), 0u) << "a zone with a patch is one entry";
}

TEST(RunPresets, ABlockDeviceReplaysTheTraceWithoutALayer)
{
	const res::RunFacts facts = run("legacy", "default", 1);
	expect_good(facts);
	EXPECT_EQ(facts.workload["mapping"], "direct");
	EXPECT_FALSE(res::result_json(facts)["mapping"].contains("host_waf"));
}

TEST(RunPresets, AFailedCommandIsAnExitCodeWithASentence)
{
	const std::string folder = testing::TempDir(), device = folder + "/faulty.yaml", out = folder + "/faulty.txt";
	std::ofstream(device) << "name: faulty\nfaults: {read_fail_ppb: 20000000}\n";
	const std::string command = std::string(HZ_PROGRAM) + " run --device " + device + " --workload random-read --quick >/dev/null 2>" +
				    out;
	EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
	std::stringstream said;
	said << std::ifstream(out).rdbuf();
	EXPECT_NE(said.str().find("commands failed, the first: queue "), std::string::npos) << said.str();
	EXPECT_NE(said.str().find("Unrecovered Read Error"), std::string::npos) << said.str();
}

/* Zones, buffers, SLC and budgets change hands all the time: more zones are written than there are buffers. */
TEST(RunRaceCheck, TheFirmwareIsFreeOfDataRaces)
{
	struct {
		const char *device, *workload;
		uint64_t divisor;
	} const runs[] = {
		{"small", "small", 1},
		{"small", "append", 16},
		{"default", "mixed", 64},
	};
	for (const auto &[device, workload, divisor] : runs)
		for (uint64_t seed : {1, 4}) {
			const res::RunFacts facts = run(device, workload, seed, divisor, "race-check=on");
			EXPECT_NE(facts.plugin_report.find("\"races\""), std::string::npos);
			EXPECT_EQ(res::races_of(facts), std::vector<std::string>()) << workload << " " << seed;
		}
}

} // namespace
