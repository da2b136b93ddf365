// A recalled preparation takes a source to the state after the device's answers: its next commands
// are equal to the nanosecond.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "flat_device.hpp"
#include "replay/direct_blocks.hpp"
#include "replay/log_shim.hpp"
#include "replay/recorded_phase.hpp"
#include "replay/tailor.hpp"
#include "replay_harness.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "workload/block_generator.hpp"
#include "workload/zone_generator.hpp"

namespace {

using namespace hz;
using namespace hz::replay;

using MakeSource = std::function<std::unique_ptr<wl::Source>()>;
using MakeDevice = std::function<std::unique_ptr<Port>()>;

constexpr unsigned depth = 8;

ThreadOptions options_of(uint64_t start_ns, unsigned ahead)
{
	ThreadOptions options;
	options.seed = 5;
	options.start_ns = start_ns;
	options.queue_depth = depth;
	options.ahead = ahead;
	return options;
}

struct Prepared {
	std::unique_ptr<Port> device;
	std::unique_ptr<wl::Source> source;
	RecordedPhase phase;
	res::QueueAccount account;
};

/* The phase begins so late that a time of the device in place of one since then would let a held command go. */
constexpr uint64_t start_ns = 900000000, later_ns = 2000000000;

Prepared prepared_on(const MakeDevice &device, const MakeSource &source, unsigned ahead)
{
	Prepared out{device(), source(), {}, {}};
	RecordingPort recorder(*out.device, start_ns);
	out.account = run_phase_on(recorder, *out.source, options_of(start_ns, ahead));
	out.phase = recorder.recorded();
	return out;
}

std::unique_ptr<wl::Source> recalled(const MakeSource &make, const RecordedPhase &phase, unsigned ahead)
{
	auto source = make();
	RecordedPort port(1, 4000, recorded_phase(nlohmann::json::from_cbor(nlohmann::json::to_cbor(to_json(phase)))));
	ThreadOptions options = options_of(0, ahead);
	options.verify = false;
	run_phase_on(port, *source, options);
	port.require_end();
	return source;
}

std::string measured_on(Port &device, wl::Source &source)
{
	source.begin_measurement();
	const res::QueueAccount account = run_phase_on(device, source, options_of(later_ns, 0));
	EXPECT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
	EXPECT_GT(account.completed, 100u);
	std::string out = account.digest.text();
	for (const wl::LiveSector &sector : source.live())
		out += " " + std::to_string(sector.lba) + ":" + std::to_string(sector.stamp.key) + "." +
		       std::to_string(sector.stamp.version);
	return out;
}

void expect_recalled(const MakeDevice &device, const MakeSource &source)
{
	for (const unsigned ahead : {0u, 5u}) {
		Prepared ahead_of = prepared_on(device, source, ahead), other = prepared_on(device, source, 0);
		EXPECT_GT(ahead_of.account.completed, 10u);
		EXPECT_EQ(ahead_of.phase.answers.size(), ahead_of.account.completed);
		const auto again = recalled(source, ahead_of.phase, 5 - ahead);
		EXPECT_EQ(measured_on(*other.device, *again), measured_on(*ahead_of.device, *ahead_of.source)) << "ahead " << ahead;
	}
}

wl::ThreadSpec mixed(double prefill)
{
	wl::ThreadSpec spec;
	spec.prefill = prefill;
	spec.total_ops = 400;
	spec.blocks = {{1, 2}, {4, 1}};
	spec.read_pattern = wl::Pattern::random;
	return spec;
}

MakeDevice zoned_device(const wl::ZoneShare &share)
{
	return [share] { return std::make_unique<FakeDevice>(share, depth + 8, 3); };
}

TEST(RecordedPhase, RecallsZonesThatWereWrittenSideBySide)
{
	const wl::ZoneShare share = share_of(0, 12, 200);
	for (const bool append : {false, true}) {
		wl::ThreadSpec spec = mixed(0.4);
		spec.open_zones = 3;
		spec.append = append;
		expect_recalled(zoned_device(share), [=] { return std::make_unique<wl::ZoneGenerator>(spec, share, 9); });
	}
}

TEST(RecordedPhase, RecallsALog)
{
	const wl::ZoneShare share = share_of(0, 12, 200);
	wl::ThreadSpec spec = mixed(1);
	spec.write_pattern = wl::Pattern::random;
	expect_recalled(zoned_device(share), [=] {
		const LogOptions options;
		return std::make_unique<LogShim>(
			share, options, std::make_unique<wl::BlockGenerator>(spec, LogShim::space_of(share, options.over_provisioning), 9));
	});
}

TEST(RecordedPhase, RecallsGroupedWrites)
{
	const wl::ZoneShare share = share_of(0, 12, 192);
	wl::ThreadSpec spec = mixed(0.4);
	spec.open_zones = 2;
	expect_recalled(zoned_device(share), [=] {
		TailorRules rules;
		rules.unit = 24;
		rules.memory = 96;
		rules.zone_size = share.zone_size;
		rules.zone_capacity = share.zone_capacity;
		rules.max_transfer = share.max_transfer;
		return std::make_unique<Tailor>(rules, std::make_unique<wl::ZoneGenerator>(spec, share, 9));
	});
}

MakeSource blocks_in_place(uint64_t seed = 9)
{
	return [seed] {
		wl::ThreadSpec spec = mixed(0.9);
		spec.write_pattern = wl::Pattern::random;
		const FlatSpace space{0, 2048, 2048, 1, 32, true};
		return std::make_unique<DirectBlocks>(space, std::make_unique<wl::BlockGenerator>(spec, space.sectors(), seed));
	};
}

std::unique_ptr<Port> block_device() { return std::make_unique<FlatDevice>(2048, depth + 8, 3); }

TEST(RecordedPhase, RecallsBlocksInPlace) { expect_recalled(block_device, blocks_in_place()); }

TEST(RecordedPhase, ASourceWithoutCommandsHasNothingToRecall)
{
	RecordedPort port(1, 4000, {{}, res::Digest().value()});
	port.require_end();
}

// A recording belongs to one preparation only.
void expect_misfit(const RecordedPhase &phase) { EXPECT_THROW(recalled(blocks_in_place(), phase, 0), Error); }

TEST(RecordedPhase, AnotherPreparationIsRefused)
{
	const RecordedPhase phase = prepared_on(block_device, blocks_in_place(), 0).phase;
	RecordedPhase wrong = phase;
	wrong.asked++;
	expect_misfit(wrong);
	wrong = phase;
	wrong.answers.pop_back();
	expect_misfit(wrong);
	wrong = phase;
	wrong.answers.push_back({phase.answers.size(), 0, 1, 2});
	expect_misfit(wrong);
	wrong = phase;
	wrong.answers[3].command = phase.answers[2].command;
	expect_misfit(wrong);
	wrong = phase;
	wrong.answers[0].command = UINT64_MAX;
	expect_misfit(wrong);
}

TEST(RecordedPhase, WhatIsNoRecordIsRefused)
{
	const nlohmann::json good = to_json(prepared_on(block_device, blocks_in_place(), 0).phase);
	EXPECT_EQ(to_json(recorded_phase(good)), good);
	for (const char *name : {"asked", "command", "result", "arrival_ns", "completed_ns"}) {
		nlohmann::json bad = good;
		bad.erase(name);
		EXPECT_THROW(recorded_phase(bad), Error) << name;
		bad[name] = "text";
		EXPECT_THROW(recorded_phase(bad), Error) << name;
	}
	for (const char *name : {"command", "result", "arrival_ns", "completed_ns"}) {
		nlohmann::json longer = good, shorter = good;
		longer[name].push_back(1);
		EXPECT_THROW(recorded_phase(longer), Error) << name;
		shorter[name].erase(0);
		EXPECT_THROW(recorded_phase(shorter), Error) << name;
	}
	for (const nlohmann::json &none : {nlohmann::json(), nlohmann::json(3), nlohmann::json::array()})
		EXPECT_THROW(recorded_phase(none), Error);
}

// Any change of its file: it is refused, or has no effect.
TEST(RecordedPhase, DamageIsRefused)
{
	const RecordedPhase phase = prepared_on(block_device, blocks_in_place(), 0).phase;
	const std::vector<uint8_t> good = nlohmann::json::to_cbor(to_json(phase));
	std::mt19937_64 random(4);
	unsigned refused = 0;
	for (int i = 0; i < 300; i++) {
		std::vector<uint8_t> bad = good;
		for (uint64_t changes = 1 + random() % 3; changes; changes--)
			bad[random() % bad.size()] = uint8_t(random());
		if (random() % 8 == 0)
			bad.resize(random() % bad.size());
		const nlohmann::json read = nlohmann::json::from_cbor(bad, true, false);
		try {
			recalled(blocks_in_place(), recorded_phase(read), 0);
		} catch (const Error &) {
			refused++;
		}
	}
	EXPECT_GT(refused, 60u);
}

TEST(RecordedPhase, AnInterruptEndsIt)
{
	const RecordedPhase phase = prepared_on(block_device, blocks_in_place(), 0).phase;
	set_interrupted(true);
	EXPECT_THROW(recalled(blocks_in_place(), phase, 0), Interrupted);
	set_interrupted(false);
}

// Every key of the measurement may change: the device that was prepared is the same.
TEST(Preparation, HangsOnNothingOfTheMeasurement)
{
	const wl::Workload base = wl::parse_workload("threads: 2\ncommon: {total_ops: 300, prefill: 0.5}\n", "w");
	const std::string usual = wl::workload_to_json(wl::preparation_of(base)).dump();
	for (const char *keys : {"read_ratio: 0.9", "trim_ratio: 0.1", "pattern: random", "write_pattern: random", "block: 8 KiB",
				 "blocks: [{size: 4 KiB}, {size: 64 KiB}]", "distribution: zipf", "zipf_theta: 0.5", "think: 3us",
				 "think_distribution: exponential", "reset_when_full: false", "durable_ratio: 0.5", "flush_every: 4",
				 "total_ops: 7", "total_bytes: 1 MiB"}) {
		const wl::Workload other = wl::parse_workload(
			"name: other\nthreads: 2\ncommon: {total_ops: 300, prefill: 0.5}\neach: [{" + std::string(keys) + "}]\n", "v");
		EXPECT_EQ(wl::workload_to_json(wl::preparation_of(other)).dump(), usual) << keys;
		const wl::ZoneShare share = share_of(0, 12, 200);
		const auto phase_of = [&](const wl::ThreadSpec &spec) {
			return to_json(prepared_on(
					       zoned_device(share),
					       [&] {
						       wl::ThreadSpec zoned = spec;
						       zoned.trim_ratio = 0; // not on sequential zones
						       return std::make_unique<wl::ZoneGenerator>(zoned, share, 9);
					       },
					       0)
					       .phase);
		};
		EXPECT_EQ(phase_of(other.threads[0]), phase_of(base.threads[0])) << keys;
	}
}

TEST(Preparation, HangsOnWhereAndHowMuchIsWritten)
{
	const std::string head = "threads: 2\ncommon: {total_ops: 300, prefill: 0.5}\n";
	std::set<std::string> all = {wl::workload_to_json(wl::preparation_of(wl::parse_workload(head, "w"))).dump()};
	const std::vector<std::string> changes = {"seed: 2",
						  "verify: false",
						  "turnaround: 5us",
						  "mapping: log",
						  "mapping: log\nover_provisioning: 0.3",
						  "iotailor: {unit: 64 KiB}",
						  "namespaces: [1, 2]",
						  "shared: true\nverify: false",
						  "each: [{queue_depth: 3}]",
						  "each: [{area: conventional}]",
						  "each: [{zones: 2}]",
						  "each: [{zones: 2, first_zone: 1}]",
						  "each: [{zones: 2, first_zone: 1, zone_step: 2}]",
						  "each: [{open_zones: 2}]",
						  "each: [{zone_depth: 2}]",
						  "each: [{append: true}]",
						  "each: [{span: 0.5}]",
						  "each: [{span_bytes: 1 MiB}]",
						  "each: [{prefill: 0.6}]"};
	for (const std::string &change : changes)
		EXPECT_TRUE(
			all.insert(wl::workload_to_json(wl::preparation_of(wl::parse_workload(head + change + "\n", "w"))).dump()).second)
			<< change;
}

TEST(Preparation, OfATraceHangsOnWhatItReads)
{
	const auto preparation = [](const std::string &keys) {
		return wl::workload_to_json(wl::preparation_of(wl::parse_workload("trace: {file: a" + keys + "}\n", "w"))).dump();
	};
	const std::string usual = preparation("");
	for (const char *keys : {", time_unit: 1us", ", timing: open", ", time_scale: 3", ", durable: false"})
		EXPECT_EQ(preparation(keys), usual) << keys;
	EXPECT_EQ(preparation(", threads: 1, order: streams, think_scale: 2"), preparation(", threads: 1"));
	for (const char *keys : {", format: msr", ", skip_bad: 1", ", threads: 3", ", queue_depth: 3", ", split: stream",
				 ", offsets: refuse", ", preload: false", ", max_ops: 5", ", repeat: 2"})
		EXPECT_NE(preparation(keys), usual) << keys;
}

} // namespace
