// Job: the data of a file derive from its name, so that reads can be verified.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/files/job.hpp"

#include <cstdio>
#include <functional>

#include "results/histogram.hpp"

namespace hz::files {

namespace {

using nlohmann::json;
using store::block_bytes;
using store::Bytes;

constexpr uint64_t small_bytes = 128 << 10, piece_bytes = 512 << 10;

Bytes content(const std::string &name, uint64_t offset, uint64_t bytes)
{
	Bytes out(bytes);
	const uint64_t seed = store::crc32c(std::as_bytes(std::span(name)));
	for (uint64_t i = 0; i < bytes; i++)
		out[i] = std::byte(((offset + i) * 2654435761u + seed) >> 13);
	return out;
}

double mib_s(uint64_t bytes, uint64_t ns) { return ns ? double(bytes) / (1 << 20) / (double(ns) / 1e9) : 0; }

constexpr const char *phase_names[fs::phases] = {"no_gc", "normal", "boosted"};

std::string small_name(uint64_t iteration, uint64_t i) { return "small-" + std::to_string(iteration) + "-" + std::to_string(i); }

} // namespace

json Job::run() { return options_.job == "update" ? update() : fragment(); }

void Job::write_file(const std::string &name, uint64_t bytes, fs::Heat heat, bool sync)
{
	const fs::FileLayer::Handle file = layer_.create(name, heat);
	if (!file)
		throw store::NoSpace("there is a file " + name + " already: begin with an empty device");
	for (uint64_t offset = 0; offset < bytes; offset += piece_bytes)
		layer_.write(*file, offset, content(name, offset, std::min(piece_bytes, bytes - offset)));
	if (sync)
		layer_.sync(*file);
}

void Job::read_file(const std::string &name, uint64_t bytes)
{
	const fs::FileLayer::Handle file = layer_.open(name);
	for (uint64_t offset = 0; offset < bytes; offset += piece_bytes) {
		Bytes data(std::min(piece_bytes, bytes - offset));
		layer_.read(*file, offset, data);
		if (data != content(name, offset, data.size()))
			throw store::Damaged("the file " + name + " is not what was written");
	}
}

json Job::update()
{
	age();
	write_file("updated", options_.file_bytes, fs::Heat::hot, true);
	const fs::FileLayer::Handle file = layer_.open("updated");
	res::Histogram latency;
	const uint64_t blocks = options_.file_bytes / block_bytes;
	device_.take_account();
	const DeviceWork before = work_of(controller_);
	const fs::Counters files = layer_.counters();
	const uint64_t begin_ns = device_.now_ns();
	for (uint64_t i = 1; i <= options_.count; i++) {
		const uint64_t before_ns = device_.now_ns();
		layer_.write(*file, random_() % blocks * block_bytes, content(std::to_string(i - 1), 0, block_bytes));
		if (i % options_.sync_every == 0 || i == options_.count)
			layer_.sync(*file);
		latency.add(device_.now_ns() - before_ns);
	}
	const double seconds = double(device_.now_ns() - begin_ns) / 1e9;
	const double rate = seconds > 0 ? double(options_.count) / seconds : 0;
	account_ = device_.take_account();
	std::printf("%llu updates of 4 KiB, %s synced: %.0f a second, %.1f us on average, %.1f us at the 99th percentile\n",
		    static_cast<unsigned long long>(options_.count),
		    options_.sync_every == 1 ? "each" : ("every " + std::to_string(options_.sync_every)).c_str(), rate,
		    latency.mean() / 1e3, double(latency.quantile(0.99)) / 1e3);
	return {{"updates", options_.count},
		{"per_second", rate},
		{"moved_blocks", layer_.counters().moved_blocks - files.moved_blocks},
		{"device", json_of(work_of(controller_) - before)},
		{"latency_ns",
		 {{"mean", latency.mean()}, {"p50", latency.quantile(0.5)}, {"p99", latency.quantile(0.99)}, {"max", latency.max()}}}};
}

// Create small files up to their part of the space.
void Job::age()
{
	const uint64_t wanted = uint64_t(options_.aged * double(layer_.space().total));
	for (uint64_t i = 1; layer_.space().used < wanted; i++)
		make_small_files(i);
}

void Job::make_small_files(uint64_t iteration)
{
	for (uint64_t i = 0; i < options_.small_files; i++)
		write_file(small_name(iteration, i), small_bytes, fs::Heat::warm, true);
	for (uint64_t i = 1; i < options_.small_files; i += 2)
		layer_.remove(small_name(iteration, i));
}

void Job::reread(uint64_t iteration)
{
	for (uint64_t i = 0; i < options_.reread; i++) {
		const uint64_t of = 1 + random_() % iteration;
		read_file(small_name(of, random_() % ((options_.small_files + 1) / 2) * 2), small_bytes);
	}
}

json Job::iteration(uint64_t number)
{
	const std::string large = "large-" + std::to_string(number);
	const DeviceWork work = work_of(controller_);
	make_small_files(number);
	const fs::Counters before = layer_.counters();
	const uint64_t begin_ns = device_.now_ns();
	write_file(large, options_.file_bytes, fs::Heat::cold, true);
	const uint64_t written_ns = device_.now_ns();
	read_file(large, options_.file_bytes);
	const uint64_t read_ns = device_.now_ns();
	reread(number);
	const store::DeviceAccount account = device_.take_account();
	store::add(account_, account);
	const fs::Counters after = layer_.counters();
	const fs::MainArea::States states = layer_.segments(
		(options_.ways.cleaner ? *options_.ways.cleaner : fs::CleanerKnobs()).segment_blocks);
	const char *const phase = phase_names[unsigned(layer_.phase())];
	std::printf("%9llu %9.1f %9.1f %8u %8u %8u  %-8s %9llu\n", static_cast<unsigned long long>(number),
		    mib_s(options_.file_bytes, written_ns - begin_ns), mib_s(options_.file_bytes, read_ns - written_ns), states.free,
		    states.dirty, states.valid, phase, static_cast<unsigned long long>(after.moved_blocks));
	return {{"write_mib_s", mib_s(options_.file_bytes, written_ns - begin_ns)},
		{"read_mib_s", mib_s(options_.file_bytes, read_ns - written_ns)},
		{"segments", {{"free", states.free}, {"dirty", states.dirty}, {"valid", states.valid}}},
		{"phase", phase},
		{"moved_blocks", after.moved_blocks},
		{"moved_meanwhile", after.moved_blocks - before.moved_blocks},
		{"cleaned_meanwhile", after.cleaned_sections - before.cleaned_sections},
		{"used_blocks", layer_.space().used},
		{"commands", store::json_of(account)},
		{"device", json_of(work_of(controller_) - work)}};
}

json Job::fragment()
{
	json all = json::array();
	const uint64_t wanted = (options_.small_files * (small_bytes / block_bytes + 1)) + options_.file_bytes / block_bytes + 2;
	std::printf("%9s %9s %9s %8s %8s %8s  %-8s %9s\n", "iteration", "wr MiB/s", "rd MiB/s", "free", "dirty", "valid", "cleaner",
		    "moved");
	for (uint64_t i = 1; i <= options_.count; i++) {
		const fs::Space space = layer_.space();
		if (space.total < space.used + wanted)
			break;
		all.push_back(iteration(i));
	}
	return {{"iterations", all}};
}

} // namespace hz::files
