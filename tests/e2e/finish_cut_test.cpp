// Power cuts inside Zone Finish on the real firmware, each followed by orderly shutdowns: every start mounts, and the data are as written.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "config/device_yaml.hpp"
#include "session/controller.hpp"
#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"

namespace e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr uint64_t lengths[] = {5, 92}; // no multiple of a program unit on any of the devices
constexpr uint64_t unit = 32;           // sectors of one write or read
constexpr unsigned cuts = 4;            // the first so many flash operations, then a SIGKILL

// How the machine ends that finishes the zones; both 0: in order.
struct End {
	uint64_t cut_op = 0;
	bool killed = false;
};

class FinishCut : public ::testing::TestWithParam<std::string> {
protected:
	void SetUp() override
	{
		config_ = hz::conf::load_device(std::string(HZ_TREE) + "/configs/devices/" + GetParam() + ".yaml");
		config_.media_mode = HZ_MEDIA_STORE;
	}
	void TearDown() override
	{
		drop();
		fs::remove(image_);
	}

	void boot(uint64_t cut_op = 0)
	{
		drop();
		hz::MachineOptions options;
		options.config = config_;
		options.nand_image = image_;
		options.shm_bytes = 16 << 20;
		options.power_cut_op = cut_op;
		machine_ = hz::Machine::launch(options);
		controller_ = std::make_unique<hz::Controller>(*machine_);
		controller_->enable();
		queue_ = controller_->create_queue(1, {.depth = 4, .data_bytes = unit * HZ_SECTOR_BYTES});
		const auto zones = controller_->zone_report(*queue_);
		const auto first = std::ranges::find_if(zones, [](const auto &z) { return z.type == NVME_ZT_SEQUENTIAL; });
		ASSERT_NE(first, zones.end());
		first_ = first->start;
		size_ = controller_->namespace_info().zone_size_sectors;
	}
	void shut_down()
	{
		controller_->shutdown();
		controller_->disconnect();
		const auto end = machine_->wait_exit(20s);
		EXPECT_EQ(end.code, HZ_POWER_OK) << end.reason;
		drop();
	}
	void drop()
	{
		queue_.reset();
		controller_.reset();
		machine_.reset();
	}

	// Every round has two zones of its own.
	uint64_t zone(unsigned round, unsigned which) const { return first_ + (2 * round + which) * size_; }
	static std::vector<std::byte> data(uint64_t lba, uint64_t sectors)
	{
		std::vector<std::byte> bytes(sectors * HZ_SECTOR_BYTES);
		for (uint64_t i = 0; i < bytes.size(); i++)
			bytes[i] = static_cast<std::byte>((lba + i / HZ_SECTOR_BYTES) * 7 + i % HZ_SECTOR_BYTES);
		return bytes;
	}
	void write(uint64_t lba, uint64_t sectors)
	{
		for (uint64_t n; sectors; lba += n, sectors -= n) {
			n = std::min(sectors, unit);
			ASSERT_EQ(queue_->run(hz::QueuePair::write(lba, static_cast<uint32_t>(n)), data(lba, n)).status, 0);
		}
	}
	void holds(uint64_t lba, uint64_t sectors)
	{
		std::vector<std::byte> in(unit * HZ_SECTOR_BYTES);
		for (uint64_t n; sectors; lba += n, sectors -= n) {
			n = std::min(sectors, unit);
			ASSERT_EQ(queue_->run(hz::QueuePair::read(lba, static_cast<uint32_t>(n)), {}, in).status, 0) << "at " << lba;
			const auto wanted = data(lba, n);
			ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), in.begin())) << "at " << lba;
		}
	}
	void verify(unsigned rounds)
	{
		for (unsigned round = 0; round < rounds; round++)
			for (unsigned which = 0; which < std::size(lengths); which++)
				holds(zone(round, which), lengths[which]);
	}
	void finish_both(unsigned round)
	{
		for (unsigned which = 0; which < std::size(lengths); which++)
			EXPECT_EQ(queue_->run(hz::QueuePair::zone_send(zone(round, which), NVME_ZSA_FINISH)).status, 0);
	}
	// True: both zones were finished before the end.
	bool finish(unsigned round, const End &end)
	{
		try {
			boot(end.cut_op);
			std::jthread killer([&] {
				if (end.killed)
					machine_->kill();
			});
			finish_both(round);
			return !end.killed;
		} catch (const hz::PowerCut &) {
			EXPECT_TRUE(end.cut_op);
		} catch (const hz::Error &e) {
			EXPECT_TRUE(end.killed) << e.what();
		}
		drop();
		return false;
	}

	hz_device_config config_{};
	const fs::path image_ = ::testing::TempDir() + "/finish-cut-" + std::to_string(getpid()) + ".img";
	std::unique_ptr<hz::Machine> machine_;
	std::unique_ptr<hz::Controller> controller_;
	std::unique_ptr<hz::QueuePair> queue_;
	uint64_t first_ = 0, size_ = 0;
};

TEST_P(FinishCut, ThenOrderlyShutdowns)
{
	unsigned died = 0;
	for (unsigned round = 0; round <= cuts; round++) {
		SCOPED_TRACE(round < cuts ? "cut in flash operation " + std::to_string(round + 1) : std::string("SIGKILL"));
		boot();
		verify(round);
		for (unsigned which = 0; which < std::size(lengths); which++)
			write(zone(round, which), lengths[which]);
		ASSERT_EQ(queue_->run(hz::QueuePair::flush()).status, 0);
		shut_down();
		if (finish(round, {round < cuts ? round + 1 : 0, round == cuts}))
			shut_down();
		else
			died++;
		for (int start = 0; start < 2 && !HasFatalFailure(); start++) {
			boot();
			verify(round + 1);
			if (start)
				finish_both(round); // so that they are not active any more
			shut_down();
		}
	}
	EXPECT_GE(died, 2u) << "a cut must hit a finish";
}

INSTANTIATE_TEST_SUITE_P(Presets, FinishCut,
			 ::testing::Values("small", "default", "conzone-paper", "small-zms", "small-zufs", "small-zufs-f2fs", "small-plp",
					   "small-rain"),
			 [](const auto &info) {
				 std::string name = info.param;
				 std::ranges::replace(name, '-', '_');
				 return name;
			 });

} // namespace
} // namespace e2e
