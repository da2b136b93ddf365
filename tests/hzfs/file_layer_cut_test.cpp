// hzfs against a model of files, with a power cut of device and program at any step.
//
// After a cut each block of a file has its content of the last sync or of a later write; sizes
// likewise. A completed sync, removal or renaming is never undone.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "devices.hpp"

namespace hz::fs {
namespace {

using store::block_bytes;
using store::Bytes;
using store::MemoryDevice;
using store::PowerLost;

struct ModelFile {
	Bytes now, synced;
	std::map<uint64_t, std::vector<Bytes>> later; // of each block, its writes since the sync
	std::set<uint64_t> sizes;                     // that it had since then
	bool durable = false;                         // it is there after a cut
	void sync()
	{
		synced = now;
		later.clear();
		sizes.clear();
		durable = true;
	}
};
using Model = std::map<std::string, ModelFile>;

// A vector of std::byte is compared byte by byte.
bool same(const Bytes &a, const Bytes &b) { return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0); }

Bytes block_at(const Bytes &bytes, uint64_t block)
{
	Bytes one(block_bytes);
	if (block * block_bytes < bytes.size())
		std::copy_n(bytes.begin() + ptrdiff_t(block * block_bytes), std::min(block_bytes, bytes.size() - block * block_bytes),
			    one.begin());
	return one;
}

class Actor {
public:
	Actor(FileLayer &layer, Model &model, unsigned seed) : layer_(layer), model_(model), random_(seed) {}

	void act()
	{
		try {
			one();
		} catch (const store::NoSpace &) {
			full++;
		}
	}

	void fill(const std::string &name, size_t bytes)
	{
		create(name);
		ModelFile &file = model_[name];
		file.now = some_bytes(bytes, 1);
		layer_.write(*layer_.open(name), 0, file.now);
		sync(name);
	}

	std::set<std::string> unsure; // names whose last change was not acknowledged
	unsigned full = 0;

private:
	std::string some_name() { return "f" + std::to_string(random_() % 8); }

	void one()
	{
		const std::string name = some_name();
		const unsigned what = random_() % 24;
		const bool there = model_.contains(name);
		if (!there)
			return create(name);
		if (what < 12)
			return write(name);
		if (what < 19)
			return sync(name);
		if (what == 19)
			return resize(name, random_() % 2 ? random_() % (model_[name].now.size() + 1) : random_() % 180000);
		if (what == 20)
			return remove(name);
		if (what == 21)
			return rename(name, some_name());
		if (what == 22)
			return layer_.sync_all(), void(std::for_each(model_.begin(), model_.end(), [](auto &one) { one.second.sync(); }));
		nameless();
	}

	void create(const std::string &name)
	{
		ASSERT_NE(layer_.create(name, Heat(random_() % heats)), nullptr);
		model_[name] = {};
	}

	void grew(ModelFile &file, uint64_t size)
	{
		file.now.resize(size);
		file.sizes.insert(size);
	}

	void note_blocks(ModelFile &file, uint64_t from, uint64_t end)
	{
		for (uint64_t block = from / block_bytes; block * block_bytes < end; block++)
			file.later[block].push_back(block_at(file.now, block));
	}

	void forget_blocks(ModelFile &file, uint64_t from, uint64_t end)
	{
		for (uint64_t block = from / block_bytes; block * block_bytes < end; block++)
			file.later[block].pop_back();
	}

	void write(const std::string &name)
	{
		ModelFile &file = model_[name];
		const uint64_t offset = random_() % 2 ? file.now.size() : random_() % 150000;
		const Bytes data = some_bytes(random_() % 3 ? random_() % 9000 + 1 : block_bytes * (1 + random_() % 12), random_());
		const uint64_t size = file.now.size(), from = std::min(offset, size),
			       until = std::min<uint64_t>(offset + data.size(), size);
		const Bytes before(file.now.begin() + ptrdiff_t(from), file.now.begin() + ptrdiff_t(until));
		const std::set<uint64_t> sizes = file.sizes;
		if (offset + data.size() > file.now.size()) {
			for (uint64_t end = offset; end < offset + data.size(); end += block_bytes) // it may be done in part
				file.sizes.insert(end / block_bytes * block_bytes);
			grew(file, offset + data.size());
		}
		std::copy(data.begin(), data.end(), file.now.begin() + ptrdiff_t(offset));
		note_blocks(file, offset, offset + data.size()); // before it is done: a cut may come when it is done in part
		try {
			layer_.write(*layer_.open(name), offset, data);
		} catch (const store::NoSpace &) {
			file.now.resize(size);
			std::copy(before.begin(), before.end(), file.now.begin() + ptrdiff_t(from));
			file.sizes = sizes;
			forget_blocks(file, offset, offset + data.size());
			throw;
		}
	}

	void sync(const std::string &name)
	{
		layer_.sync(*layer_.open(name));
		model_[name].sync();
	}

	void resize(const std::string &name, uint64_t size)
	{
		ModelFile &file = model_[name];
		const uint64_t before = file.now.size();
		layer_.resize(*layer_.open(name), size);
		grew(file, size);
		note_blocks(file, std::min(before, size), std::max(before, size));
	}

	void remove(const std::string &name)
	{
		unsure = {name};
		EXPECT_TRUE(layer_.remove(name));
		model_.erase(name);
		unsure.clear();
	}

	void rename(const std::string &from, const std::string &to)
	{
		sync(from);
		unsure = {from, to};
		EXPECT_TRUE(layer_.rename(from, to));
		if (from != to) {
			model_[to] = model_[from];
			model_.erase(from);
		}
		unsure.clear();
	}

	void nameless()
	{
		const FileLayer::Handle file = layer_.create_nameless(Heat::hot);
		const Bytes data = some_bytes(30000, random_());
		layer_.write(*file, 100, data);
		layer_.sync(*file);
		Bytes found(data.size());
		EXPECT_EQ(layer_.read(*file, 100, found), data.size());
		EXPECT_TRUE(same(found, data));
	}

	FileLayer &layer_;
	Model &model_;
	std::mt19937 random_;
};

void expect_now(FileLayer &layer, const Model &model)
{
	std::set<std::string> names;
	for (const auto &[name, file] : model) {
		names.insert(name);
		const Bytes found = content_of(layer, name);
		ASSERT_EQ(found.size(), file.now.size()) << name;
		ASSERT_TRUE(same(found, file.now)) << name;
	}
	ASSERT_EQ(layer.names(), names);
}

void expect_survived(FileLayer &layer, const Model &model, const std::set<std::string> &unsure)
{
	for (const std::string &name : layer.names())
		ASSERT_TRUE(model.contains(name) || unsure.contains(name)) << name << " was removed";
	for (const auto &[name, file] : model) {
		if (unsure.contains(name))
			continue;
		ASSERT_TRUE(layer.open(name) || !file.durable) << name << " is gone";
		if (!layer.open(name))
			continue;
		const Bytes found = content_of(layer, name);
		ASSERT_TRUE(found.size() == file.synced.size() || file.sizes.contains(found.size())) << name << ": " << found.size();
		for (uint64_t block = 0; block * block_bytes < found.size(); block++) {
			const Bytes one = block_at(found, block);
			if (same(one, block_at(file.synced, block)))
				continue;
			const auto later = file.later.find(block);
			ASSERT_NE(later, file.later.end()) << name << ", block " << block;
			// The file's end may have come to lie within the block.
			const size_t size = std::min<size_t>(block_bytes, found.size() - block * block_bytes);
			ASSERT_TRUE(std::any_of(later->second.begin(), later->second.end(),
						[&](const Bytes &was) { return std::memcmp(was.data(), one.data(), size) == 0; }))
				<< name << ", block " << block << " has what was never written there";
		}
	}
}

struct Outcome {
	uint64_t steps = 0;
	Counters counters;
	unsigned full = 0;
	uint64_t superpages = 0, split = 0;
};

// Acts until the power goes; then the files are found again, twice, the first time with a cut while they are.
Outcome cut_at(const Bed &bed, uint64_t step, unsigned seed, uint64_t kept, int actions = 160)
{
	MemoryDevice device(bed.shape);
	device.in_place_budget = bed.in_place_budget;
	FileLayer::format(device);
	Model model;
	Outcome outcome;
	std::set<std::string> unsure;
	{
		Below below(device, bed);
		FileLayer layer(below, bed.options);
		Actor actor(layer, model, seed);
		actor.fill("base", layer.space().total / 2 * block_bytes);
		device.steps = 0;
		device.steps_left = step;
		try {
			for (int i = 0; i < actions && !testing::Test::HasFatalFailure(); i++)
				actor.act();
			expect_now(layer, model);
		} catch (const PowerLost &) {
			unsure = actor.unsure;
		}
		device.steps_left = 0;
		outcome = {device.steps, layer.counters(), actor.full, below.counters().superpages, below.counters().split};
	}
	device.lose_power(kept);
	device.steps_left = step % 5;
	try {
		Below below(device, bed);
		FileLayer half(below, bed.options);
	} catch (const PowerLost &) {
	}
	device.lose_power(kept);
	Below below(device, bed);
	FileLayer again(below, bed.options);
	expect_survived(again, model, unsure);
	Model found;
	for (const std::string &name : again.names()) {
		found[name].now = content_of(again, name);
		found[name].sync();
	}
	Actor actor(again, found, seed + 1);
	for (int i = 0; i < 30; i++)
		actor.act();
	expect_now(again, found);
	return outcome;
}

// HARTZONE_CUTS: number for each bed and seed, in a longer form of the test.
int cuts_a_seed()
{
	const char *const asked = std::getenv("HARTZONE_CUTS");
	return asked ? std::max(20, std::atoi(asked)) : 20;
}

class Cut : public testing::TestWithParam<Bed> {};

TEST_P(Cut, AtAnyStepLosesNothingThatWasSynced)
{
	Counters all;
	uint64_t superpages = 0, split = 0;
	for (unsigned seed = 1; seed <= 4; seed++) {
		const Outcome whole = cut_at(GetParam(), UINT64_MAX, seed, 0);
		std::mt19937 random(seed);
		for (int i = 0; i < cuts_a_seed(); i++) {
			const uint64_t step = random() % (whole.steps + 1);
			Outcome outcome;
			ASSERT_NO_FATAL_FAILURE(outcome = cut_at(GetParam(), step, seed, random() % 3))
				<< "seed " << seed << ", step " << step;
			all.cleaned_sections += outcome.counters.cleaned_sections;
			all.in_place_blocks += outcome.counters.in_place_blocks;
			all.slack_blocks += outcome.counters.slack_blocks;
			all.over_budget += outcome.counters.over_budget;
			superpages += outcome.superpages;
			split += outcome.split;
			all.checkpoints += outcome.counters.checkpoints;
			all.copied_blocks += outcome.counters.copied_blocks;
			all.background_sections += outcome.counters.background_sections;
		}
	}
	EXPECT_EQ(all.cleaned_sections > 20, !GetParam().options.slack) << "the cleaner is part of this";
	EXPECT_GT(all.checkpoints, 200u);
	EXPECT_EQ(all.in_place_blocks > 0, GetParam().options.in_place);
	EXPECT_EQ(all.slack_blocks > 1000, GetParam().options.slack);
	EXPECT_EQ(superpages > 50 && split > 50, GetParam().superpage > 0);
	EXPECT_EQ(all.over_budget > 0, GetParam().in_place_budget > 0) << "the budget is part of this";
	EXPECT_EQ(all.copied_blocks > 0, GetParam().options.copy_offload);
	EXPECT_EQ(all.background_sections > 0, GetParam().options.background.has_value());
}

TEST_P(Cut, AtEveryStepOfAShortLife)
{
	const Outcome whole = cut_at(GetParam(), UINT64_MAX, 99, 0, 25);
	for (uint64_t step = 0; step <= whole.steps; step++)
		ASSERT_NO_FATAL_FAILURE(cut_at(GetParam(), step, 99, step % 3, 25)) << "step " << step;
}

INSTANTIATE_TEST_SUITE_P(Beds, Cut, testing::ValuesIn(beds), [](const auto &one) { return one.param.name; });

} // namespace
} // namespace hz::fs
