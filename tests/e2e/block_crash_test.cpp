// Durability of a block namespace on the real image: random overwrites with flushes, kill -9 of QEMU at any command, again and again.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <unistd.h>
#include <vector>

#include "config/device_yaml.hpp"
#include "session/controller.hpp"
#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"

namespace e2e {
namespace {

namespace fs = std::filesystem;

constexpr unsigned slots = 9, largest = 8;
constexpr uint64_t words_per_sector = HZ_SECTOR_BYTES / 8;

// Versions of one sector: after a crash its version is between the last flushed and the last issued
// one.
struct Block {
	uint64_t durable = 0, acked = 0, issued = 0;
	bool busy = false; // a write is under way: another would leave the order open
};

struct Command {
	uint64_t lba = 0;
	uint32_t sectors = 0;         // 0: a flush
	std::vector<uint64_t> covers; // of a flush: every block's acked version when it was issued
};

class BlockRig {
public:
	explicit BlockRig(const std::string &device)
		: config_(hz::conf::load_device(std::string(HZ_TREE) + "/configs/devices/" + device + ".yaml"))
	{
		fs::create_directory(folder_);
	}
	~BlockRig()
	{
		drop();
		fs::remove_all(folder_);
	}

	void boot()
	{
		drop();
		hz::MachineOptions options;
		options.config = config_;
		options.nand_image = folder_ / "image";
		options.shm_bytes = 16 << 20;
		machine_ = hz::Machine::launch(options);
		controller_ = std::make_unique<hz::Controller>(*machine_);
		controller_->enable();
		queue_ = controller_->create_queue(1, {.depth = slots, .data_bytes = largest * HZ_SECTOR_BYTES});
		blocks_.resize(controller_->namespace_info().size_sectors);
	}

	// Reads everything; each version must be legal, and is expected again from now on.
	void verify()
	{
		std::vector<std::byte> data(largest * HZ_SECTOR_BYTES);
		for (uint64_t lba = 0; lba < blocks_.size(); lba += largest) {
			const auto sectors = static_cast<uint32_t>(std::min<uint64_t>(largest, blocks_.size() - lba));
			ASSERT_EQ(queue_->run(hz::QueuePair::read(lba, sectors), {}, data).status, 0);
			for (uint32_t i = 0; i < sectors; i++) {
				Block &block = blocks_[lba + i];
				const uint64_t found = version_in(&data[i * HZ_SECTOR_BYTES], lba + i);
				ASSERT_GE(found, block.durable) << "sector " << lba + i << " lost what was flushed";
				ASSERT_LE(found, block.issued) << "sector " << lba + i;
				lost += found < block.issued;
				block = {found, found, found, false};
			}
		}
	}

	// False when the machine died, as asked, at the command of this number.
	bool run(unsigned commands, unsigned kill_at)
	{
		commands_.assign(slots, {});
		unsigned issued = 0, outstanding = 0;
		const uint64_t start_ns = controller_->log_harts().now_ns + 100000;
		uint64_t cause_ns = start_ns;
		try {
			queue_->open(start_ns);
			do {
				for (; issued < commands && outstanding < slots - 1; outstanding++) {
					if (++issued == kill_at)
						machine_->kill();
					issue(cause_ns);
				}
				queue_->promise_nothing_more();
				for (const hz::Completion &done : queue_->wait()) {
					finish(done);
					cause_ns = done.completed_ns + queue_->turnaround_ns();
					outstanding--;
				}
			} while (outstanding || issued < commands);
			queue_->close();
			return true;
		} catch (const hz::Error &e) {
			EXPECT_NE(std::string(e.what()).find("QEMU was killed by signal 9"), std::string::npos) << e.what();
			return false;
		}
	}

	uint64_t roll(uint64_t below) { return random_() % below; }
	uint64_t lost = 0, flushes = 0;

private:
	static uint64_t word(uint64_t lba, uint64_t version, uint64_t w) { return (lba * 0x9e3779b97f4a7c15ull ^ version) * (2 * w + 1); }
	static void fill(std::byte *sector, uint64_t lba, uint64_t version)
	{
		for (uint64_t w = 0; w < words_per_sector; w++) {
			const uint64_t value = w ? word(lba, version, w) : version;
			std::memcpy(sector + w * 8, &value, 8);
		}
	}
	// 0 for a sector of zeros; a sector that holds nothing that was ever written is UINT64_MAX.
	static uint64_t version_in(const std::byte *sector, uint64_t lba)
	{
		static constexpr std::byte zeros[HZ_SECTOR_BYTES]{};
		uint64_t version;
		std::byte wanted[HZ_SECTOR_BYTES];
		std::memcpy(&version, sector, 8);
		if (version == 0)
			return std::memcmp(sector, zeros, sizeof(zeros)) ? UINT64_MAX : 0;
		fill(wanted, lba, version);
		return std::memcmp(sector, wanted, sizeof(wanted)) ? UINT64_MAX : version;
	}

	void issue(uint64_t cause_ns)
	{
		const uint16_t cid = queue_->acquire().value();
		Command &command = commands_[cid];
		command = {};
		const auto sectors = static_cast<uint32_t>(1 + roll(largest));
		const uint64_t lba = roll(roll(2) ? blocks_.size() / 8 : blocks_.size() - largest); // half of them hot
		bool free = roll(12) != 0;
		for (uint32_t i = 0; i < sectors; i++)
			free &= !blocks_[lba + i].busy;
		if (!free) {
			for (const Block &block : blocks_)
				command.covers.push_back(block.acked);
			queue_->submit(cid, hz::QueuePair::flush(), cause_ns);
			return;
		}
		command.lba = lba;
		command.sectors = sectors;
		for (uint32_t i = 0; i < sectors; i++) {
			blocks_[lba + i].busy = true;
			fill(&queue_->data(cid)[i * HZ_SECTOR_BYTES], lba + i, ++blocks_[lba + i].issued);
		}
		queue_->submit(cid, hz::QueuePair::write(lba, sectors), cause_ns);
	}
	void finish(const hz::Completion &done)
	{
		EXPECT_EQ(done.status, 0) << hz::status_text(done.status);
		const Command &command = commands_[done.cid];
		for (uint32_t i = 0; i < command.sectors; i++) {
			Block &block = blocks_[command.lba + i];
			block.acked = block.issued;
			block.busy = false;
		}
		for (size_t lba = 0; lba < command.covers.size(); lba++)
			blocks_[lba].durable = std::max(blocks_[lba].durable, command.covers[lba]);
		flushes += command.sectors == 0;
		queue_->release(done.cid);
	}
	void drop()
	{
		queue_.reset();
		controller_.reset();
		machine_.reset();
	}

	fs::path folder_ = fs::temp_directory_path() / ("hz-block-" + std::to_string(getpid()));
	hz_device_config config_;
	std::mt19937_64 random_{1};
	std::unique_ptr<hz::Machine> machine_;
	std::unique_ptr<hz::Controller> controller_;
	std::unique_ptr<hz::QueuePair> queue_;
	std::vector<Block> blocks_;
	std::vector<Command> commands_;
};

TEST(BlockDurability, KilledAtACommand)
{
	BlockRig rig("small-legacy");
	unsigned deaths = 0;
	for (unsigned round = 0; round < 10 && !HasFailure(); round++) {
		SCOPED_TRACE("round " + std::to_string(round));
		rig.boot();
		rig.verify();
		if (!HasFailure())
			deaths += !rig.run(2000, static_cast<unsigned>(1 + rig.roll(1900)));
	}
	if (HasFailure())
		return;
	rig.boot();
	rig.verify();
	EXPECT_EQ(deaths, 10u);
	EXPECT_GT(rig.flushes, 100u);
	EXPECT_GT(rig.lost, 0u) << "no death hit data under way: this proves nothing";
}

} // namespace
} // namespace e2e
