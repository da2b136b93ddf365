// Options of the virtual clock: each sets its member and no other, values outside of its range are refused by name.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "clock_preset.h"
#include "base/options.h"
}

namespace {

struct Parsed {
	explicit Parsed(std::vector<std::string> given, bool with_ram = true) : words(std::move(given))
	{
		if (with_ram)
			words.push_back("ram=R");
		for (std::string &word : words)
			argv.push_back(word.data());
		char text[400] = "";
		good = vc_options_parse(&options, static_cast<int>(argv.size()), argv.data(), text, sizeof(text));
		error = text;
	}
	std::vector<std::string> words;
	std::vector<char *> argv;
	vc_options options{};
	bool good;
	std::string error;
};

uint64_t number(const void *field, size_t bytes)
{
	uint64_t value = 0;
	memcpy(&value, field, bytes);
	return value;
}

// Name, member, least and most that it may be.
#define MEMBER(name, member, low, high) \
	{ \
		name, [](const vc_options &o) { return number(&o.member, sizeof(o.member)); }, low, high \
	}
#define COST(name) MEMBER(#name, cost.name, 0, HZ_MAX_COST)
const struct Number {
	const char *name;
	uint64_t (*value)(const vc_options &);
	uint64_t low, high;
} numbers[] = {
	MEMBER("harts", harts, 1, 64),
	MEMBER("mhz", mhz, 1, HZ_MAX_MHZ),
	COST(insn),
	COST(local),
	COST(remote),
	COST(far),
	COST(memory),
	COST(occupancy),
	COST(wake),
	COST(pause),
	COST(ipi),
	COST(load),
	COST(store),
	COST(mul),
	COST(div),
	COST(branch),
	COST(csr),
	MEMBER("cluster", cluster, 0, 64),
	MEMBER("layout", layout, 0, UINT64_MAX),
	COST(clean),
	COST(dispatch),
	COST(pause_multiple),
	COST(div_bit),
	COST(l2),
	MEMBER("spin-limit", spin_limit, 0, UINT64_MAX),
	MEMBER("watchdog", watchdog_ms, 50, 600000),
	MEMBER("lines", lines, 0, 1000),
	MEMBER("jitter", jitter.seed, 1, UINT64_MAX),
};

std::string word(const char *name, uint64_t value) { return std::string(name) + "=" + std::to_string(value); }

TEST(Options, NumbersHaveARange)
{
	for (const Number &n : numbers) {
		for (uint64_t value : {n.low, n.low + 1, n.high - 1, n.high}) {
			const Parsed p({"preset=free", word(n.name, value)});
			ASSERT_TRUE(p.good) << p.error;
			EXPECT_EQ(n.value(p.options), value) << n.name;
		}
		std::vector<std::string> wrong{std::string(n.name) + "=", std::string(n.name) + "=-1", word(n.name, n.low) + "x",
					       std::string(n.name) + "=99999999999999999999"};
		if (n.low)
			wrong.push_back(word(n.name, n.low - 1));
		if (n.high < UINT64_MAX)
			wrong.push_back(word(n.name, n.high + 1));
		for (const std::string &bad : wrong) {
			const Parsed p({bad});
			EXPECT_FALSE(p.good) << bad;
			EXPECT_EQ(p.error, "option " + bad + " has a value that is not allowed");
		}
	}
}

TEST(Options, EachSetsItsMemberOnly)
{
	const Parsed usual({});
	for (const Number &n : numbers) {
		const uint64_t value = n.value(usual.options) == n.low + 1 ? n.low + 2 : n.low + 1;
		const Parsed p({word(n.name, value)});
		for (const Number &other : numbers)
			EXPECT_EQ(other.value(p.options), &other == &n ? value : other.value(usual.options)) << n.name << " " << other.name;
	}
}

TEST(Options, WordsChoose)
{
	const struct {
		const char *name, *no, *yes;
		bool vc_options::*member;
	} choices[] = {{"reads", "queue", "merge", &vc_options::merge}, {"busy", "occupancy", "access", &vc_options::busy_access},
		       {"lr", "read", "write", &vc_options::lr_alone},  {"count", "segment", "insn", &vc_options::count_each},
		       {"locks", "off", "on", &vc_options::locks},      {"race-check", "off", "on", &vc_options::race_check}};
	for (const auto &c : choices) {
		EXPECT_FALSE(Parsed({std::string(c.name) + "=" + c.no}).options.*c.member);
		EXPECT_TRUE(Parsed({std::string(c.name) + "=" + c.yes}).options.*c.member);
		EXPECT_FALSE(Parsed({std::string(c.name) + "=perhaps"}).good);
	}
	EXPECT_EQ(Parsed({"data=free"}).options.data, unsigned{HZ_DATA_FREE});
	EXPECT_EQ(Parsed({"data=moves"}).options.data, unsigned{HZ_DATA_MOVES});
	EXPECT_EQ(Parsed({"data=ordered"}).options.data, unsigned{HZ_DATA_ORDERED});
	EXPECT_FALSE(Parsed({"data=perhaps"}).good);
	EXPECT_EQ(Parsed({}).options.pin, VC_PIN_AUTO);
	EXPECT_EQ(Parsed({"pin=auto"}).options.pin, VC_PIN_AUTO);
	EXPECT_EQ(Parsed({"pin=off"}).options.pin, VC_PIN_OFF);
	EXPECT_EQ(Parsed({"pin=0"}).options.pin, 0);
	EXPECT_EQ(Parsed({"pin=1023"}).options.pin, 1023);
	EXPECT_FALSE(Parsed({"pin=1024"}).good);
	EXPECT_EQ(Parsed({}).options.switch_by, unsigned{VC_SWITCH_AUTO});
	EXPECT_EQ(Parsed({"switch=auto"}).options.switch_by, unsigned{VC_SWITCH_AUTO});
	EXPECT_EQ(Parsed({"switch=user"}).options.switch_by, unsigned{VC_SWITCH_USER});
	EXPECT_EQ(Parsed({"switch=futex"}).options.switch_by, unsigned{VC_SWITCH_FUTEX});
	EXPECT_FALSE(Parsed({"switch=fibre"}).good);
}

TEST(Options, WhatNeedsTheLockProfileSaysSo)
{
	const Parsed without({"hold=500"});
	EXPECT_FALSE(without.good);
	EXPECT_NE(without.error.find("needs locks=on"), std::string::npos) << without.error;
	EXPECT_TRUE(Parsed({"hold=500", "locks=on"}).good);
	EXPECT_EQ(Parsed({}).options.hold, 1000u);
	EXPECT_EQ(Parsed({"hold=10000", "locks=on"}).options.hold, 10000u);
	EXPECT_FALSE(Parsed({"hold=99", "locks=on"}).good);
	EXPECT_FALSE(Parsed({"hold=10001", "locks=on"}).good);
}

TEST(Options, PartsOfTheInstructionsAreNamedWithTheirPace)
{
	EXPECT_EQ(Parsed({"hold=900", "locks=on"}).options.hold_class, uint64_t{VC_ANY_CLASS});
	EXPECT_EQ(Parsed({"hold=900", "hold_class=0", "locks=on"}).options.hold_class, 0u);
	EXPECT_FALSE(Parsed({"hold=900", "hold_class=16", "locks=on"}).good);
	EXPECT_NE(Parsed({"hold_class=1", "locks=on"}).error.find("is missing"), std::string::npos);
	EXPECT_EQ(Parsed({"transfer=900", "transfer_class=3", "locks=on"}).options.transfer_class, 3u);
	EXPECT_NE(Parsed({"transfer_class=1", "locks=on"}).error.find("is missing"), std::string::npos);
	EXPECT_NE(Parsed({"transfer=900"}).error.find("option transfer needs locks=on"), std::string::npos);
	const Parsed both({"pace=1100", "pace_harts=0x12"});
	EXPECT_TRUE(both.good) << both.error;
	EXPECT_EQ(both.options.pace_harts, 0x12u);
	EXPECT_NE(Parsed({"pace=1100"}).error.find("go together"), std::string::npos);
	EXPECT_NE(Parsed({"pace_harts=1"}).error.find("go together"), std::string::npos);
	EXPECT_FALSE(Parsed({"pace=99", "pace_harts=1"}).good);
	EXPECT_FALSE(Parsed({"pace=1100", "pace_harts=0"}).good);
}

TEST(Options, FilesAreNamed)
{
	const struct {
		const char *name;
		const char *vc_options::*member;
	} files[] = {{"ram", &vc_options::ram},           {"shm", &vc_options::shm},        {"nand", &vc_options::nand},
		     {"elf", &vc_options::elf},           {"report", &vc_options::report},  {"trace", &vc_options::trace},
		     {"timeline", &vc_options::timeline}, {"profile", &vc_options::profile}};
	for (const auto &f : files) {
		const Parsed p({"ram=R", std::string(f.name) + "=a=b"}, false);
		ASSERT_TRUE(p.good) << p.error;
		EXPECT_STREQ(p.options.*f.member, "a=b");
		for (const auto &other : files) {
			if (other.member != f.member && other.member != &vc_options::ram) {
				EXPECT_EQ(p.options.*other.member, nullptr);
			}
		}
		EXPECT_FALSE(Parsed({std::string(f.name) + "="}).good);
	}
	const Parsed none({}, false);
	EXPECT_FALSE(none.good);
	EXPECT_NE(none.error.find("option ram=FILE is missing"), std::string::npos);
}

TEST(Options, JitterIsASeedAndItsStrength)
{
	EXPECT_EQ(Parsed({}).options.jitter.seed, 0u);
	EXPECT_EQ(Parsed({"jitter=7"}).options.jitter.permille, 100u);
	const Parsed p({"jitter=18446744073709551615:10000"});
	EXPECT_EQ(p.options.jitter.seed, UINT64_MAX);
	EXPECT_EQ(p.options.jitter.permille, 10000u);
	EXPECT_TRUE(Parsed({"jitter=7:1"}).good);
	EXPECT_EQ(Parsed({"jitter=7:1"}).options.jitter.permille, 1u);
	for (const char *bad : {"jitter=0", "jitter=0:1", "jitter=7:", "jitter=:1", "jitter=7:0", "jitter=7:10001", "jitter=7:1:1"})
		EXPECT_FALSE(Parsed({bad}).good) << bad;
}

TEST(Options, CachesHaveAPowerOfTwoOfSets)
{
	const Parsed p({"cache_bytes=65536", "cache_ways=8"});
	ASSERT_TRUE(p.good);
	EXPECT_EQ(p.options.cache_bytes, 65536u);
	EXPECT_EQ(p.options.cache_ways, 8u);
	const Parsed odd({"cache_bytes=65536", "cache_ways=7"});
	EXPECT_FALSE(odd.good);
	EXPECT_NE(odd.error.find("cache_bytes=65536 is not possible with 7 ways"), std::string::npos) << odd.error;
	EXPECT_FALSE(Parsed({word("cache_bytes", uint64_t{HZ_MAX_CACHE_BYTES} + 1)}).good);
	EXPECT_FALSE(Parsed({word("store_buffer", HZ_MAX_STORE_BUFFER + 1)}).good);
	EXPECT_FALSE(Parsed({"cache_ways=0"}).good);
	EXPECT_TRUE(Parsed({"l2_bytes=65536", "l2_ways=16"}).good);
	EXPECT_NE(Parsed({"l2_bytes=65536", "l2_ways=7"}).error.find("l2_bytes=65536 is not possible with 7 ways"), std::string::npos);
	EXPECT_FALSE(Parsed({word("cache_ways", HZ_MAX_CACHE_WAYS + 1)}).good);
}

// What docs/internals/clock-costs.md says that others have measured.
TEST(Options, PresetsHaveWhatWasMeasured)
{
	hz_clock_costs server, small, single;
	hz_clock_preset_costs(HZ_CLOCK_SERVER, &server);
	hz_clock_preset_costs(HZ_CLOCK_SMALL, &small);
	hz_clock_preset_costs(HZ_CLOCK_SINGLE, &single);
	EXPECT_EQ(single.load, 1u);
	EXPECT_EQ(single.mul, 4u);
	EXPECT_EQ(single.div, 32u);
	EXPECT_EQ(single.csr, 2u);
	EXPECT_EQ(single.memory, small.memory);
	EXPECT_EQ(server.store_buffer, 42u);
	EXPECT_EQ(server.mhz, 3000u);
	EXPECT_EQ(server.remote, 124u);
	EXPECT_EQ(server.local, 20u);
	EXPECT_EQ(server.cluster, 14u);
	EXPECT_EQ(small.memory, 120u);
	EXPECT_EQ(small.cache_bytes, 32u << 10);
	EXPECT_EQ(small.cache_ways, 8u);
}

// The preset counts wherever it stands, single costs then change it.
TEST(Options, TurnsNeedADispatcher)
{
	EXPECT_TRUE(Parsed({"arbiter=turns", "dispatch=4"}).good);
	EXPECT_NE(Parsed({"preset=free", "arbiter=turns"}).error.find("arbiter=turns needs dispatch"), std::string::npos);
	EXPECT_FALSE(Parsed({"arbiter=lottery", "dispatch=4"}).good);
}

TEST(Options, PresetsSetEveryCost)
{
	const struct {
		const char *word;
		hz_clock_preset preset;
	} presets[] = {
#define HZ_WORD(constant, name, ...) {name, constant},
		HZ_CLOCK_PRESET_LIST(HZ_WORD)
#undef HZ_WORD
	};
	for (const auto &preset : presets) {
		hz_clock_costs from;
		hz_clock_preset_costs(preset.preset, &from);
		const Parsed p({"local=3", std::string("preset=") + preset.word});
		const vc_options &o = p.options;
		ASSERT_TRUE(p.good) << p.error;
		EXPECT_STREQ(o.preset, preset.word);
		EXPECT_EQ(o.mhz, from.mhz);
		EXPECT_EQ(o.cost.local, 3u);
		EXPECT_EQ(o.cost.insn, from.insn);
		EXPECT_EQ(o.cost.remote, from.remote);
		EXPECT_EQ(o.cost.far, from.far);
		EXPECT_EQ(o.cost.memory, from.memory);
		EXPECT_EQ(o.cost.occupancy, from.occupancy);
		EXPECT_EQ(o.cost.wake, from.wake);
		EXPECT_EQ(o.cost.pause, from.pause);
		EXPECT_EQ(o.cost.ipi, from.ipi);
		EXPECT_EQ(o.data, from.data);
		EXPECT_EQ(o.busy_access, from.busy == HZ_BUSY_ACCESS);
		EXPECT_EQ(o.lr_alone, from.lr == HZ_LR_WRITE);
		EXPECT_EQ(o.turns, from.arbiter == HZ_ARBITER_TURNS);
		EXPECT_EQ(o.cost.loop_exit, from.loop_exit);
		EXPECT_EQ(o.cost.clean, from.clean);
		EXPECT_EQ(o.cost.dispatch, from.dispatch);
		EXPECT_EQ(o.cost.pause_multiple, from.pause_multiple);
		EXPECT_EQ(o.cost.div_bit, from.div_bit);
		EXPECT_EQ(o.cost.l2, from.l2);
		EXPECT_EQ(o.l2_bytes, from.l2_bytes);
		EXPECT_EQ(o.l2_ways, from.l2_ways);
		EXPECT_EQ(o.merge, from.reads == HZ_READS_MERGE);
		EXPECT_EQ(o.cluster, from.cluster);
		EXPECT_EQ(o.cache_bytes, from.cache_bytes);
		EXPECT_EQ(o.cache_ways, from.cache_ways);
		EXPECT_EQ(o.cost.load, from.load);
		EXPECT_EQ(o.cost.store, from.store);
		EXPECT_EQ(o.cost.mul, from.mul);
		EXPECT_EQ(o.cost.div, from.div);
		EXPECT_EQ(o.cost.branch, from.branch);
		EXPECT_EQ(o.cost.csr, from.csr);
		EXPECT_EQ(o.store_buffer, from.store_buffer);
	}
	// A hit, and a line of another core of the socket: docs/internals/clock-costs.md says where from.
	EXPECT_EQ(Parsed({"preset=server"}).options.cost.local, 20u);
	EXPECT_EQ(Parsed({"preset=server"}).options.cost.remote, 124u);
	EXPECT_STREQ(Parsed({}).options.preset, presets[HZ_CLOCK_ROCKET].word);
	const Parsed unknown({"preset=nosuch"});
	EXPECT_FALSE(unknown.good);
	for (const auto &preset : presets)
		EXPECT_NE(unknown.error.find(preset.word), std::string::npos);
}

TEST(Options, UnknownWordsAreRefused)
{
	for (const char *bad : {"colour=red", "harts", "hart=1", "hartss=1", "=1", ""}) {
		const Parsed p({bad});
		EXPECT_FALSE(p.good) << bad;
		EXPECT_EQ(p.error, std::string("option ") + bad + " is unknown");
	}
}

TEST(Options, WhatIsNotSaid)
{
	const vc_options o = Parsed({}).options;
	EXPECT_EQ(o.harts, 0u);
	EXPECT_EQ(o.spin_limit, 20000000u);
	EXPECT_EQ(o.watchdog_ms, 3000u);
	EXPECT_EQ(o.lines, 16u);
}

} // namespace
