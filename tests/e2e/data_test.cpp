// Data over the public library: more than 1 GiB of mixed zoned I/O from 8 threads on the default device, everything verified.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "hartzone.h"

namespace {

constexpr unsigned threads = 8, zones_each = 3;
constexpr uint64_t bytes_each = 132ull << 20;
constexpr uint32_t sizes[] = {1, 4, 16, 64, 128, 128, 128};

struct Zone {
	std::vector<uint64_t> stamps; // one per block written
	bool full = false;
};

// One thread's zones, and commands on them until enough bytes have moved.
class Client {
public:
	Client(hartzone_device *device, unsigned number, const hartzone_info &info)
		: queue_(hartzone_queue_open(device, number + 1, 128)), info_(info), first_(number * zones_each), random_(number),
		  zones_(zones_each), data_(128 * size_t(HARTZONE_BLOCK_BYTES) / 8)
	{
	}
	~Client() { EXPECT_EQ(hartzone_queue_close(queue_), 0); }

	void work()
	{
		ASSERT_NE(queue_, nullptr) << hartzone_error_text(HARTZONE_ERROR);
		while (moved_ < bytes_each && !::testing::Test::HasFailure())
			step(roll(zones_each));
		for (unsigned z = 0; z < zones_each; z++)
			for (uint64_t at = 0; at < zones_[z].stamps.size(); at += 128)
				read(z, at, static_cast<uint32_t>(std::min<uint64_t>(128, zones_[z].stamps.size() - at)));
	}
	uint64_t moved() const { return moved_; }
	unsigned resets = 0, finishes = 0, appends = 0;

private:
	uint32_t roll(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
	uint64_t start(unsigned z) const { return (first_ + z) * info_.zone_blocks; }
	void good(int code) { ASSERT_EQ(code, 0) << hartzone_error_text(code); }

	void step(unsigned z)
	{
		Zone &zone = zones_[z];
		const uint32_t dice = roll(100);
		if (zone.full && dice < 40) {
			good(hartzone_zone_reset(queue_, start(z)));
			zone = Zone();
			resets++;
		} else if (!zone.full && !zone.stamps.empty() && dice < 1) {
			good(hartzone_zone_finish(queue_, start(z)));
			zone.full = true;
			finishes++;
		} else if (dice < 3) {
			good(hartzone_flush(queue_));
		} else if (!zone.full && dice < 55) {
			write(z);
		} else if (!zone.stamps.empty()) {
			const uint64_t at = random_() % zone.stamps.size();
			read(z, at, static_cast<uint32_t>(std::min<uint64_t>(sizes[roll(7)], zone.stamps.size() - at)));
		}
	}
	void write(unsigned z)
	{
		Zone &zone = zones_[z];
		const uint64_t at = zone.stamps.size();
		const auto blocks = static_cast<uint32_t>(std::min<uint64_t>(sizes[roll(7)], info_.zone_capacity - at));
		for (uint32_t i = 0; i < blocks; i++) {
			zone.stamps.push_back(random_() | 1);
			for (unsigned w = 0; w < 512; w++)
				data_[i * 512 + w] = word(zone.stamps.back(), w);
		}
		uint64_t place = start(z) + at;
		if (roll(2)) {
			good(hartzone_append(queue_, start(z), blocks, data_.data(), &place));
			EXPECT_EQ(place, start(z) + at);
			appends++;
		} else {
			good(hartzone_write(queue_, place, blocks, data_.data()));
		}
		zone.full = zone.stamps.size() == info_.zone_capacity;
		moved_ += uint64_t(blocks) * HARTZONE_BLOCK_BYTES;
	}
	void read(unsigned z, uint64_t at, uint32_t blocks)
	{
		good(hartzone_read(queue_, start(z) + at, blocks, data_.data()));
		uint64_t wrong = 0;
		for (uint32_t i = 0; i < blocks; i++)
			for (unsigned w = 0; w < 512; w++)
				wrong |= data_[i * 512 + w] ^ word(zones_[z].stamps[at + i], w);
		EXPECT_EQ(wrong, 0u) << "zone " << first_ + z << " reads wrong from block " << at;
		moved_ += uint64_t(blocks) * HARTZONE_BLOCK_BYTES;
	}
	static uint64_t word(uint64_t stamp, unsigned w) { return stamp * (2 * w + 1); }

	hartzone_queue *queue_;
	hartzone_info info_;
	unsigned first_;
	std::mt19937_64 random_;
	std::vector<Zone> zones_;
	std::vector<uint64_t> data_;
	uint64_t moved_ = 0;
};

class Data : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Clock, Data, ::testing::Bool(), [](const auto &i) { return i.param ? "virtual" : "real"; });

TEST_P(Data, AGibibyteFromEightThreads)
{
	const std::string file = std::string(HZ_TREE) + "/tests/e2e/data.yaml";
	const hartzone_options options{
		.device_file = file.c_str(), .image_file = nullptr, .firmware = nullptr, .real_clock = !GetParam(), .workers = 0};
	hartzone_device *device = hartzone_launch(&options);
	ASSERT_NE(device, nullptr) << hartzone_error_text(HARTZONE_ERROR);
	hartzone_info info;
	ASSERT_EQ(hartzone_get_info(device, &info), 0);
	uint64_t moved = 0;
	unsigned resets = 0, finishes = 0, appends = 0;
	{
		std::vector<std::unique_ptr<Client>> clients;
		for (unsigned i = 0; i < threads; i++)
			clients.push_back(std::make_unique<Client>(device, i, info));
		std::vector<std::jthread> running;
		for (auto &client : clients)
			running.emplace_back([&client] { client->work(); });
		running.clear();
		for (auto &client : clients) {
			moved += client->moved();
			resets += client->resets;
			finishes += client->finishes;
			appends += client->appends;
		}
	}
	EXPECT_GE(moved, 1ull << 30);
	EXPECT_GT(resets, threads);
	EXPECT_GT(finishes, 0u);
	EXPECT_GT(appends, 100u);
	EXPECT_EQ(hartzone_close(device), 0);
}

} // namespace
