// The store: files against a model of them, on a device that loses power at any step, with the collector at work; space, limits, damage.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <random>

#include "memory_device.hpp"
#include "apps/rocksdb/store/store.hpp"

namespace hz::store {
namespace {

constexpr DeviceShape small_shape{.zones = 14, .capacity = 16, .max_active = 6};

Bytes some_bytes(size_t count, uint64_t seed)
{
	Bytes bytes(count);
	for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
		const uint64_t word = (i + seed) * 0x9e3779b97f4a7c15u;
		std::memcpy(bytes.data() + i, &word, std::min(count - i, sizeof(word)));
	}
	return bytes;
}

Bytes content_of(Store &store, const std::string &path)
{
	const Store::Handle file = store.open(path);
	Bytes bytes(file ? store.size(*file) : 0);
	if (file) {
		EXPECT_EQ(store.read(*file, 0, bytes), bytes.size());
	}
	return bytes;
}

// Expected contents of the files: at least the synced bytes, and only appended ones.
struct Model {
	struct File {
		Bytes all;
		size_t synced = 0;
	};
	std::map<std::string, File> files;
};

class Actor {
public:
	Actor(Store &store, Model &model, unsigned seed) : store_(store), model_(model), random_(seed) {}

	void act()
	{
		try {
			one();
		} catch (const NoSpace &) { // the file has all of it all the same, in memory
		}
	}

	std::string unsure; // a path whose last change was not acknowledged

private:
	// One operation. The model is ahead of the store: a change of names may or may not have happened when it throws.
	void one()
	{
		const std::string path = "/f" + std::to_string(random_() % 6);
		const unsigned what = random_() % 16;
		if (what < 10 && model_.files.contains(path))
			return append(path, what < 4);
		if (what == 10)
			return remove(path);
		if (what == 11)
			return rename(path);
		create(path);
	}

	// Seldom so much that it goes to the device before it is synced; often whole blocks, behind which the next extent is contiguous.
	size_t some_size()
	{
		const size_t blocks = random_() % 10 ? random_() % 4 : 64 + random_() % 16;
		return blocks * block_bytes + (random_() % 2 ? random_() % block_bytes : 0);
	}

	void append(const std::string &path, bool sync)
	{
		Model::File &file = model_.files[path];
		const Bytes more = some_bytes(some_size(), random_());
		const Store::Handle handle = store_.open(path);
		file.all.insert(file.all.end(), more.begin(), more.end());
		store_.append(*handle, more);
		if (sync) {
			store_.sync(*handle);
			file.synced = file.all.size();
		}
	}

	void create(const std::string &path)
	{
		unsure = path;
		store_.create(path, Lifetime(random_() % lifetimes));
		model_.files[path] = {};
		unsure.clear();
	}

	void remove(const std::string &path)
	{
		unsure = path;
		EXPECT_EQ(store_.remove(path), model_.files.contains(path));
		model_.files.erase(path);
		unsure.clear();
	}

	// Synced before, as programs do that put a file in place of another.
	void rename(const std::string &path)
	{
		if (!model_.files.contains(path))
			return;
		store_.sync(*store_.open(path));
		model_.files[path].synced = model_.files[path].all.size();
		unsure = "/renamed";
		EXPECT_TRUE(store_.rename(path, "/renamed"));
		model_.files["/renamed"] = model_.files[path];
		model_.files.erase(path);
		unsure.clear();
	}

	Store &store_;
	Model &model_;
	std::mt19937 random_;
};

void expect_as_in(Store &store, const Model &model, const std::string &unsure)
{
	for (const auto &[path, file] : model.files) {
		if (path == unsure || unsure == "/renamed")
			continue;
		const Bytes found = content_of(store, path);
		ASSERT_GE(found.size(), file.synced) << path;
		ASSERT_LE(found.size(), file.all.size()) << path;
		ASSERT_TRUE(std::equal(found.begin(), found.end(), file.all.begin())) << path;
	}
}

constexpr DeviceShape cut_shape{.zones = 13, .capacity = 32, .max_active = 6};

// Acts until the power goes; then the store is opened again, twice, the first time with a cut while it is being opened. Returns how many
// blocks the collector moved.
uint64_t cut_at(MemoryDevice &device, uint64_t step, unsigned seed, uint64_t kept)
{
	Store::format(device);
	Model model;
	std::string unsure;
	uint64_t collected = 0;
	{
		Store store(device);
		Actor actor(store, model, seed);
		device.steps_left = step;
		try {
			for (int i = 0; i < 200; i++)
				actor.act();
		} catch (const PowerLost &) {
			unsure = actor.unsure;
		}
		device.steps_left = 0;
		collected = store.collected_blocks();
	}
	device.lose_power(kept);
	device.steps_left = step % 5;
	try {
		Store half(device);
		device.steps_left = 0;
	} catch (const PowerLost &) {
	}
	device.lose_power(kept);
	Store again(device);
	expect_as_in(again, model, unsure);
	return collected;
}

TEST(StoreTest, APowerCutAtAnyStepLosesNothingThatWasSynced)
{
	uint64_t collected = 0;
	for (unsigned seed = 1; seed <= 12; seed++) {
		MemoryDevice whole(cut_shape);
		cut_at(whole, UINT64_MAX, seed, 0);
		std::mt19937 random(seed);
		for (int i = 0; i < 25; i++) {
			MemoryDevice device(cut_shape);
			const uint64_t step = random() % whole.steps;
			ASSERT_NO_FATAL_FAILURE(collected += cut_at(device, step, seed, random() % 3))
				<< "seed " << seed << ", step " << step;
		}
	}
	EXPECT_GT(collected, 1000u) << "the collector is part of this";
}

TEST(StoreTest, FilesAreWhatWasAppended)
{
	MemoryDevice device(small_shape);
	Store::format(device);
	Store store(device);
	const Bytes first = some_bytes(5000, 1), second = some_bytes(70000, 2);
	const Store::Handle file = store.create("/d/a", Lifetime::brief);
	store.append(*file, first);
	store.sync(*file);
	store.append(*file, second);
	Bytes all = first;
	all.insert(all.end(), second.begin(), second.end());
	EXPECT_EQ(content_of(store, "/d/a"), all);
	for (const size_t at : {size_t(0), size_t(4095), size_t(4999), size_t(5000), size_t(60000), all.size() - 1, all.size()}) {
		Bytes part(100);
		const size_t have = std::min<size_t>(part.size(), all.size() - at);
		EXPECT_EQ(store.read(*file, at, part), have);
		EXPECT_TRUE(std::equal(part.begin(), part.begin() + ptrdiff_t(have), all.begin() + ptrdiff_t(at)));
	}
	store.make_folder("/d");
	EXPECT_EQ(store.names_in("/d"), std::set<std::string>{"a"});
	EXPECT_FALSE(store.rename("/d/b", "/d/c"));
	EXPECT_EQ(store.open("/d/b"), nullptr);
}

TEST(StoreTest, ARemovedFileIsReadByThoseWhoHaveIt)
{
	MemoryDevice device(small_shape);
	Store::format(device);
	Store store(device);
	const Bytes data = some_bytes(30000, 3);
	Store::Handle file = store.create("/a", Lifetime::lasting);
	store.append(*file, data);
	store.sync(*file);
	EXPECT_TRUE(store.remove("/a"));
	Bytes found(data.size());
	EXPECT_EQ(store.read(*file, 0, found), data.size());
	EXPECT_EQ(found, data);
	EXPECT_EQ(store.space().alive, 8u);
	const uint64_t resets = device.resets;
	file.reset();
	EXPECT_EQ(store.space().alive, 0u);
	EXPECT_EQ(device.resets, resets + 1);
}

// Files are overwritten in another order than they were written, so dead and living data share zones.
TEST(StoreTest, TheCollectorMakesRoom)
{
	MemoryDevice device(small_shape);
	Store::format(device);
	Store store(device);
	std::map<std::string, Bytes> files;
	std::mt19937 random(7);
	for (int i = 0; i < 600; i++) {
		const std::string path = "/f" + std::to_string(random() % 24);
		const Store::Handle file = store.create(path, Lifetime(2 + random() % 3));
		files[path] = some_bytes(3 * block_bytes, random());
		store.append(*file, files[path]);
		store.sync(*file);
	}
	EXPECT_GT(store.collected_blocks(), 0u);
	for (const auto &[path, data] : files)
		ASSERT_EQ(content_of(store, path), data) << path;
}

TEST(StoreTest, AFullDeviceSaysSoAndTakesDataAgain)
{
	MemoryDevice device(small_shape);
	Store::format(device);
	Store store(device);
	const Bytes data = some_bytes(8 * block_bytes, 4);
	int files = 0;
	const auto fill = [&] {
		for (;; files++) {
			const Store::Handle file = store.create("/f" + std::to_string(files), Lifetime::lasting);
			store.append(*file, data);
			store.sync(*file);
		}
	};
	EXPECT_THROW(fill(), NoSpace);
	EXPECT_GE(files, 16);
	for (int i = 0; i < files; i += 2)
		EXPECT_TRUE(store.remove("/f" + std::to_string(i)));
	EXPECT_EQ(content_of(store, "/f1"), data);
	const Store::Handle file = store.create("/again", Lifetime::lasting);
	store.append(*file, data);
	store.sync(*file);
	EXPECT_EQ(content_of(store, "/again"), data);
	EXPECT_EQ(content_of(store, "/f1"), data);
}

TEST(StoreTest, DurableDataAndOthersLieApart)
{
	MemoryDevice device(small_shape);
	Store::format(device);
	Store store(device);
	const Store::Handle journal = store.create("/1.log", Lifetime::journal), table = store.create("/1.sst", Lifetime::medium);
	for (int i = 0; i < 4; i++) {
		store.append(*journal, some_bytes(4096, 1));
		store.append(*table, some_bytes(4096, 2));
		store.sync(*journal);
		store.sync(*table);
	}
	for (const Extent &a : journal->extents)
		for (const Extent &b : table->extents)
			EXPECT_NE(a.zone, b.zone);
}

TEST(StoreTest, LostDurableDataAreReported)
{
	MemoryDevice device(small_shape);
	Store::format(device);
	uint32_t zone = 0;
	{
		Store store(device);
		const Store::Handle file = store.create("/1.log", Lifetime::journal);
		store.append(*file, some_bytes(9000, 1));
		store.sync(*file);
		zone = file->extents.at(0).zone;
	}
	device.zone[zone].data.resize(block_bytes);
	try {
		Store store(device);
		FAIL() << "a file is shorter than its sync promised";
	} catch (const Damaged &e) {
		EXPECT_NE(std::string(e.what()).find("durable data were lost"), std::string::npos) << e.what();
	}
}

// A snapshot while a file has data on the device that are not synced: it must not name them.
TEST(StoreTest, ASnapshotNamesNothingThatAPowerCutTakes)
{
	MemoryDevice device(cut_shape);
	Store::format(device);
	{
		Store store(device);
		const Store::Handle file = store.create("/1.sst", Lifetime::medium);
		store.append(*file, some_bytes(100, 1));
		store.sync(*file);
		store.append(*file, some_bytes(80 * block_bytes, 1));
		ASSERT_GT(file->extents.size(), 1u);
		for (uint64_t i = 0; i < cut_shape.capacity; i++)
			store.create("/CURRENT", Lifetime::manifest);
	}
	device.lose_power();
	Store again(device);
	EXPECT_EQ(content_of(again, "/1.sst").size(), 100u);
}

TEST(StoreTest, FilesThatClaimTheSameBlockAreRefused)
{
	MemoryDevice device(small_shape);
	device.write(MetadataLog::zones, 0, Bytes(4 * block_bytes), Safety::durable);
	const auto claim = [](const std::string &path, uint32_t block, uint64_t bytes) {
		return Change{.kind = ChangeKind::extents, .path = path, .extents = {{MetadataLog::zones, block, bytes}}};
	};
	const Change a{.kind = ChangeKind::create, .path = "/a"}, b{.kind = ChangeKind::create, .path = "/b"};
	const auto mount = [&](const std::vector<Change> &changes) {
		MetadataLog(device).format(encode(changes));
		Store store(device);
	};
	EXPECT_NO_THROW(mount({a, b, claim("/a", 0, 2 * block_bytes), claim("/b", 2, 100)}));
	EXPECT_THROW(mount({a, b, claim("/a", 0, 2 * block_bytes + 1), claim("/b", 2, 100)}), Damaged);
	EXPECT_THROW(mount({a, claim("/a", 3, 2 * block_bytes)}), Damaged) << "beyond the write pointer";
	EXPECT_THROW(mount({a, claim("/a", 0, UINT64_MAX)}), Damaged);
}

TEST(StoreTest, DevicesThatAreTooSmallAreRefused)
{
	MemoryDevice few({.zones = 5, .capacity = 16, .max_active = 0}), narrow({.zones = 14, .capacity = 16, .max_active = 2});
	EXPECT_THROW(Store::format(few), DeviceError);
	EXPECT_THROW(Store::format(narrow), DeviceError);
}

TEST(ChangeTest, BytesThatAreNoChangesAreRefused)
{
	const Bytes good = encode({{.kind = ChangeKind::rename, .path = "/a", .to = "/b"},
				   {.kind = ChangeKind::extents, .path = "/b", .first = 1, .extents = {{1, 2, 3}}}});
	EXPECT_EQ(encode(decode(good)), good);
	for (size_t bytes = 1; bytes < good.size(); bytes++)
		if (bytes != 13) { // the end of the first change
			EXPECT_THROW(decode(std::span(good).first(bytes)), Damaged) << bytes;
		}
	Bytes bad = good;
	bad[0] = std::byte(77);
	EXPECT_THROW(decode(bad), Damaged);
	Catalog catalog;
	EXPECT_THROW(catalog.apply({.kind = ChangeKind::remove, .path = "/a"}), Damaged);
}

} // namespace
} // namespace hz::store
