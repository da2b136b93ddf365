// Job: rates and latencies in the device's time.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/files/job.hpp"

#include <cstdio>

#include "apps/hzfs/stack/file_stack.hpp"
#include "results/histogram.hpp"

namespace hz::files {

namespace {

using nlohmann::json;
using store::block_bytes;

double mib_s(uint64_t bytes, uint64_t ns) { return ns ? double(bytes) / (1 << 20) / (double(ns) / 1e9) : 0; }

constexpr const char *phase_names[fs::phases] = {"no_gc", "normal", "boosted"};

} // namespace

json Job::run() { return options_.job == "update" ? update() : fragment(); }

void Job::update_block(fs::File &file, uint64_t number)
{
	const uint64_t blocks = options_.file_bytes / block_bytes;
	layer_.write(file, random_() % blocks * block_bytes, fs::sample(std::to_string(number), 0, block_bytes));
	if (number % options_.sync_every == 0)
		layer_.sync(file);
}

json Job::update()
{
	fs::age(layer_, options_.ways.aged, options_.file_bytes / block_bytes);
	fs::write_sample(layer_, "updated", options_.file_bytes, fs::Heat::hot);
	const fs::FileLayer::Handle file = layer_.open("updated");
	res::Histogram latency;
	for (uint64_t i = 1; i <= options_.warm_up; i++)
		update_block(*file, options_.count + i);
	if (options_.warm_up)
		layer_.sync(*file);
	const double filled = double(layer_.space().used) / double(layer_.space().total);
	device_.take_account();
	const fs::DeviceWork before = fs::work_of(controller_);
	const fs::Counters files = layer_.counters();
	const uint64_t begin_ns = device_.now_ns();
	for (uint64_t i = 1; i <= options_.count; i++) {
		const uint64_t before_ns = device_.now_ns();
		update_block(*file, i);
		if (i == options_.count && i % options_.sync_every)
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
		{"filled", filled},
		{"per_second", rate},
		{"moved_blocks", layer_.counters().moved_blocks - files.moved_blocks},
		{"device", json_of(fs::work_of(controller_) - before)},
		{"latency_ns",
		 {{"mean", latency.mean()}, {"p50", latency.quantile(0.5)}, {"p99", latency.quantile(0.99)}, {"max", latency.max()}}}};
}

void Job::reread()
{
	for (uint64_t i = 0; i < options_.reread; i++)
		fs::read_sample(layer_, small_[random_() % small_.size()], fs::small_bytes);
}

void Job::require_hold(uint64_t wanted) const
{
	const uint64_t total = layer_.space().total;
	if (options_.hold && wanted > total * options_.hold / 100)
		throw store::NoSpace("--hold " + std::to_string(options_.hold) + ": an iteration alone needs " + std::to_string(wanted) +
				     " of " + std::to_string(total) + " blocks: hold more, or write less (--small-files, --size)");
}

// Removes files drawn at random, large ones as often as their number says.
void Job::make_room(uint64_t wanted)
{
	while (layer_.space().used + wanted > layer_.space().total * options_.hold / 100 && small_.size() + large_.size()) {
		const uint64_t drawn = random_() % (small_.size() + large_.size());
		std::vector<std::string> &names = drawn < small_.size() ? small_ : large_;
		std::string &name = names[drawn < small_.size() ? drawn : drawn - small_.size()];
		layer_.remove(name);
		name = names.back();
		names.pop_back();
	}
}

json Job::iteration(uint64_t number)
{
	const std::string large = "large-" + std::to_string(number);
	const fs::DeviceWork work = fs::work_of(controller_);
	fs::make_small_files(layer_, number, options_.small_files);
	for (uint64_t i = 0; i < options_.small_files; i += 2)
		small_.push_back(fs::small_name(number, i));
	const fs::Counters before = layer_.counters();
	const uint64_t begin_ns = device_.now_ns();
	fs::write_sample(layer_, large, options_.file_bytes, fs::Heat::cold);
	const uint64_t written_ns = device_.now_ns();
	fs::read_sample(layer_, large, options_.file_bytes);
	const uint64_t read_ns = device_.now_ns();
	large_.push_back(large);
	reread();
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
		{"device", json_of(fs::work_of(controller_) - work)}};
}

json Job::fragment()
{
	json all = json::array();
	const uint64_t wanted = options_.small_files * fs::small_blocks + options_.file_bytes / block_bytes + 2;
	require_hold(wanted);
	std::printf("%9s %9s %9s %8s %8s %8s  %-8s %9s\n", "iteration", "wr MiB/s", "rd MiB/s", "free", "dirty", "valid", "cleaner",
		    "moved");
	for (uint64_t i = 1; i <= options_.count; i++) {
		if (options_.hold)
			make_room(wanted);
		const fs::Space space = layer_.space();
		if (space.total < space.used + wanted)
			break;
		all.push_back(iteration(i));
	}
	return {{"iterations", all}};
}

} // namespace hz::files
