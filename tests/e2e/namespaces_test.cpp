// Namespaces on the real image: four on a channel each, with a thread each; deleted, created, detached, and all of it after a restart.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <numeric>
#include <unistd.h>

#include "nand_image.h"
#include "run_helper.hpp"
#include "session/controller.hpp"

namespace e2e {
namespace {

hz::MachineOptions four_channels()
{
	hz::MachineOptions machine;
	machine.config = hz::conf::parse_device(
		"name: four\n"
		"geometry: {channels: 4, chips_per_channel: 1, planes_per_die: 2, blocks_per_plane: 40, slc_blocks_per_plane: 16,\n"
		"           pages_per_block: 24}\n"
		"zones: {max_open: 4, max_active: 4}\n"
		"buffers: {count: 4}\n"
		"namespaces: {channels: [0, 1, 2, 3]}\n"
		"harts: {hils: 2, tsus: 2, workers: 4}\n",
		"four");
	return machine;
}

// One start of the device, with a queue for each namespace that is asked for.
class Start {
public:
	explicit Start(const hz::MachineOptions &options) : machine_(hz::Machine::launch(options)), controller(*machine_)
	{
		controller.enable();
	}
	std::vector<std::byte> block(uint32_t nsid, uint8_t tag) const
	{
		return std::vector<std::byte>(HZ_SECTOR_BYTES, std::byte(uint8_t(nsid * 16 + tag)));
	}
	hz::Completion run(uint32_t nsid, nvme_sqe sqe, std::span<const std::byte> out = {}, std::span<std::byte> in = {})
	{
		hz::QueueOptions options;
		options.nsid = nsid;
		auto queue = controller.create_queue(hz::any_queue, options);
		const hz::Completion c = queue->run(sqe, out, in);
		controller.delete_queue(std::move(queue));
		return c;
	}
	void write(uint32_t nsid, uint8_t tag, uint64_t lba = 0)
	{
		EXPECT_EQ(run(nsid, hz::QueuePair::write(lba, 1, true), block(nsid, tag)).status, 0);
	}
	std::vector<std::byte> read(uint32_t nsid, uint64_t lba = 0)
	{
		std::vector<std::byte> data(HZ_SECTOR_BYTES, std::byte(0xee));
		EXPECT_EQ(run(nsid, hz::QueuePair::read(lba, 1), {}, data).status, 0);
		return data;
	}
	uint32_t manage(uint32_t select, uint32_t nsid, uint64_t sectors = 0, uint16_t set = 0)
	{
		nvme_sqe sqe{};
		nvme_identify_namespace wish{};
		sqe.opcode = NVME_ADMIN_NAMESPACE_MANAGEMENT;
		sqe.nsid = nsid;
		sqe.cdw10 = select;
		sqe.cdw11 = uint32_t(NVME_CSI_ZNS) << 24;
		wish.nsze = wish.ncap = sectors;
		wish.nvmsetid = set;
		return controller.require("Namespace Management", sqe, {}, std::as_bytes(std::span(&wish, 1)));
	}
	void attach(uint32_t nsid, bool on)
	{
		nvme_sqe sqe{};
		nvme_controller_list list{};
		sqe.opcode = NVME_ADMIN_NAMESPACE_ATTACHMENT;
		sqe.nsid = nsid;
		sqe.cdw10 = !on;
		list.count = list.id[0] = 1;
		controller.require("Namespace Attachment", sqe, {}, std::as_bytes(std::span(&list, 1)));
	}
	void format(uint32_t nsid, uint32_t erase = NVME_FORMAT_NO_ERASE)
	{
		nvme_sqe sqe{};
		sqe.opcode = NVME_ADMIN_FORMAT_NVM;
		sqe.nsid = nsid;
		sqe.cdw10 = erase << NVME_FORMAT_SES;
		controller.require("Format NVM", sqe);
	}
	void shut_down()
	{
		controller.shutdown();
		controller.disconnect();
		machine_->require_exit(std::chrono::milliseconds(60000));
	}
	void kill() { machine_->kill(); }

private:
	std::unique_ptr<hz::Machine> machine_;

public:
	hz::Controller controller;
};

struct Image {
	std::filesystem::path path = std::filesystem::temp_directory_path() / ("hz-namespaces-" + std::to_string(getpid()) + ".img");
	~Image() { std::filesystem::remove(path); }
};

const std::vector<std::byte> zeros(HZ_SECTOR_BYTES);
using Nsids = std::vector<uint32_t>;

} // namespace

TEST(Namespaces, AThreadOnEach)
{
	hz::wl::Workload workload = churn(4, 60);
	workload.namespaces = {1, 2, 3, 4};
	const hz::res::RunFacts facts = good_run(four_channels(), workload);
	for (uint32_t i = 0; i < 4; i++)
		EXPECT_EQ(facts.queues[i].nsid, i + 1);
	EXPECT_EQ(hz::res::digest_of(good_run(four_channels(), workload)), hz::res::digest_of(facts));
}

// Two of four are used.
TEST(Namespaces, CountersOfEachSumToThoseOfAll)
{
	hz::wl::Workload workload = churn(4, 60);
	workload.namespaces = {1, 4};
	const hz::res::RunFacts facts = good_run(four_channels(), workload);
	const size_t first = offsetof(hz_log_ftl, host_read_sectors) / 8, words = sizeof(hz_log_ftl) / 8;
	std::vector<uint64_t> whole(words), sum(words), part(words);
	std::memcpy(whole.data(), &facts.ftl, sizeof(facts.ftl));
	ASSERT_EQ(facts.namespaces.size(), 4u);
	for (uint32_t i = 0; i < 4; i++) {
		const hz_log_ftl &ftl = facts.namespaces[i].ftl;
		EXPECT_EQ(facts.namespaces[i].nsid, i + 1);
		EXPECT_EQ(ftl.host_write_sectors > 0, i == 0 || i == 3);
		EXPECT_EQ(ftl.zone_resets + ftl.buffer_flushes_host + ftl.l2p_updates + ftl.host_read_sectors > 0, i == 0 || i == 3);
		std::memcpy(part.data(), &ftl, sizeof(ftl));
		for (size_t word = first; word < words; word++)
			sum[word] += part[word];
	}
	EXPECT_TRUE(std::equal(sum.begin() + first, sum.end(), whole.begin() + first));
	const nlohmann::json result = hz::res::result_json(facts);
	EXPECT_EQ(result["namespaces"][1]["ftl"]["host_write_bytes"], 0u);
	EXPECT_GT(result["namespaces"][3]["ftl"]["host_write_bytes"], 0u);
	EXPECT_EQ(result["namespaces"][3]["nsid"], 4u);
}

TEST(Namespaces, WhatIsDeletedIsGoneAndTheRestStays)
{
	const Image image;
	hz::MachineOptions options = four_channels();
	options.nand_image = image.path;
	{
		Start device(options);
		for (uint32_t nsid = 1; nsid <= 4; nsid++)
			device.write(nsid, 1);
		const uint64_t sectors = device.controller.namespace_info(2).size_sectors;
		device.manage(1, 2);
		EXPECT_EQ(device.controller.namespaces(), (Nsids{1, 3, 4}));
		EXPECT_EQ(device.manage(0, 0, sectors, 2), 2u);
		device.attach(2, true);
		EXPECT_EQ(device.read(2), zeros);
		EXPECT_EQ(device.read(3), device.block(3, 1));
		device.write(2, 2);
		device.attach(4, false);
		EXPECT_NE(device.run(4, hz::QueuePair::read(0, 1), {}, {}).status, 0);
		device.shut_down();
	}
	{
		Start device(options);
		EXPECT_EQ(device.controller.namespaces(), (Nsids{1, 2, 3}));
		EXPECT_EQ(device.read(1), device.block(1, 1));
		EXPECT_EQ(device.read(2), device.block(2, 2));
		device.manage(1, NVME_NSID_ALL);
		EXPECT_EQ(device.controller.namespaces(), Nsids{});
		device.kill(); // a power cut
	}
	Start device(options);
	EXPECT_EQ(device.controller.namespaces(), Nsids{});
	for (uint32_t nsid = 1; nsid <= 4; nsid++) {
		EXPECT_EQ(device.manage(0, 0, 4 * 256, uint16_t(nsid)), nsid);
		device.attach(nsid, true);
		EXPECT_EQ(device.read(nsid), zeros);
		EXPECT_EQ(device.controller.namespace_info(nsid).zones, 4u);
	}
	device.shut_down();
}

// One flash operation after another is the last before the power cut; after some cuts another one hits the start that completes the
// format. The format counts from its beginning on, so no start shows the old data again.
TEST(Namespaces, AFormatIsWholeAfterAnyPowerCut)
{
	const Image image;
	hz::MachineOptions options = four_channels();
	options.nand_image = image.path;
	constexpr uint64_t places[] = {0, 256, 512};
	auto format_until = [&](uint64_t cut) {
		options.power_cut_op = cut;
		bool done = false;
		try {
			Start device(options);
			device.format(2);
			done = true;
			device.kill();
		} catch (const std::exception &) {
		}
		options.power_cut_op = 0;
		return done;
	};
	unsigned interrupted = 0;
	for (bool done = false; !done; interrupted += !done) {
		{
			Start device(options);
			for (const uint64_t lba : places) {
				if (device.read(1, lba) == zeros)
					device.write(1, 1, lba);
				device.write(2, 1, lba);
				EXPECT_EQ(device.read(2, lba), device.block(2, 1));
			}
			device.shut_down();
		}
		done = format_until(interrupted + 1);
		if (interrupted % 3 == 2)
			format_until(interrupted / 3 + 1);
		Start device(options);
		for (const uint64_t lba : places) {
			EXPECT_EQ(device.read(1, lba), device.block(1, 1)) << "cut " << interrupted + 1;
			EXPECT_EQ(device.read(2, lba), zeros) << "cut " << interrupted + 1;
		}
		device.shut_down();
		ASSERT_LT(interrupted, 100u);
	}
	EXPECT_GE(interrupted, 5u) << "cuts inside the format";
}

// A power cut in the middle of an erase: the next start completes it, with erases of flash, before anything can be read.
TEST(Namespaces, AnEraseTakesFlashTimeAndOutlastsAPowerCut)
{
	const Image image;
	hz::MachineOptions options = four_channels();
	options.nand_image = image.path;
	uint64_t plain = 0, erasing = 0;
	auto erases = [](Start &device) {
		hz_log_flash flash{};
		const auto page = device.controller.log_page(HZ_LOG_FLASH, sizeof(flash));
		std::memcpy(&flash, page.data(), sizeof(flash));
		return std::accumulate(std::begin(flash.erases), std::end(flash.erases), uint64_t{0});
	};
	for (const uint32_t how : {NVME_FORMAT_NO_ERASE, NVME_FORMAT_USER_DATA}) {
		Start device(options);
		if (device.read(1) == zeros)
			device.write(1, 1);
		device.write(2, 1);
		device.format(2, how);
		EXPECT_EQ(device.read(1), device.block(1, 1));
		EXPECT_EQ(device.read(2), zeros);
		(how ? erasing : plain) = erases(device);
		device.shut_down();
	}
	EXPECT_GT(erasing, plain);
	for (const uint64_t cut : {3u, 6u, 9u}) {
		{
			Start device(options);
			device.write(2, 1);
			device.shut_down();
		}
		options.power_cut_op = cut;
		try {
			Start device(options);
			device.format(2, NVME_FORMAT_USER_DATA);
			device.kill();
		} catch (const std::exception &) {
		}
		options.power_cut_op = 0;
		Start device(options);
		EXPECT_EQ(device.read(2), zeros) << "cut " << cut;
		device.write(2, 2);
		EXPECT_EQ(device.read(2), device.block(2, 2));
		device.format(2);
		device.shut_down();
	}
}

// All namespaces at once; power goes while it runs, and the next start begins it again. On the real clock that is still under way when the
// host enables the controller and registers its doorbells.
class Sanitizing : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(VirtualClock, Sanitizing, ::testing::Bool(), ::testing::PrintToStringParamName());

TEST_P(Sanitizing, ASanitizeOutlastsAPowerCut)
{
	const Image image;
	hz::MachineOptions options = four_channels();
	options.nand_image = image.path;
	auto state = [](Start &device) {
		nvme_sanitize_log log;
		const auto page = device.controller.log_page(NVME_LOG_SANITIZE, sizeof(log));
		std::memcpy(&log, page.data(), sizeof(log));
		return log.sstat;
	};
	{
		Start device(options);
		for (uint32_t nsid = 1; nsid <= 4; nsid++)
			device.write(nsid, 1);
		device.shut_down();
	}
	options.power_cut_op = 10;
	try {
		Start device(options);
		nvme_sqe sqe{};
		sqe.opcode = NVME_ADMIN_SANITIZE;
		sqe.cdw10 = NVME_SANITIZE_BLOCK_ERASE;
		device.controller.require("Sanitize", sqe);
		while (state(device) == NVME_SANITIZE_RUNS)
			;
		ADD_FAILURE() << "no power cut";
	} catch (const std::exception &) {
	}
	options.power_cut_op = 0;
	options.virtual_clock = GetParam();
	Start device(options);
	for (int i = 0; i < 100000 && state(device) == NVME_SANITIZE_RUNS; i++)
		;
	EXPECT_EQ(state(device), NVME_SANITIZE_DONE);
	for (uint32_t nsid = 1; nsid <= 4; nsid++) {
		EXPECT_EQ(device.read(nsid), zeros);
		device.write(nsid, 2);
		EXPECT_EQ(device.read(nsid), device.block(nsid, 2));
	}
	device.shut_down();
}

} // namespace e2e
