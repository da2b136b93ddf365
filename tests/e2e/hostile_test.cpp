// A hostile host on the real image: commands of any kind with any PRPs, arrival times, promises and doorbells on three queues, beside an
// honest queue whose data stay right. Each command is answered once; after each storm the controller resets and serves again.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <thread>

#include "config/device_yaml.hpp"
#include "config/placement.hpp"
#include "session/controller.hpp"
#include "setting.hpp"

namespace e2e {
namespace {

constexpr unsigned hostile_queues = 3, depth = 16, part_sectors = 8, parts = 6, part_bytes = part_sectors * 4096, reads = 40;
constexpr uint64_t data_bytes = 256 << 10;

struct Shape {
	const char *name;
	unsigned hils;
	hz_architecture architecture;
};

class Hostile : public ::testing::TestWithParam<std::tuple<bool, Shape>> {
protected:
	void SetUp() override
	{
		hz::MachineOptions options;
		options.config = hz::conf::load_device(std::string(HZ_TREE) + "/tests/e2e/crash.yaml");
		options.virtual_clock = std::get<0>(GetParam());
		options.config.hil_count = std::get<1>(GetParam()).hils;
		options.config.architecture = std::get<1>(GetParam()).architecture;
		hz::conf::place_roles(options.config, options.config.tsu_count, options.config.worker_count);
		machine_ = hz::Machine::launch(options);
		controller_ = std::make_unique<hz::Controller>(*machine_);
	}

	uint64_t draw(uint64_t below) { return random_() % below; }
	bool one_in(uint64_t n) { return draw(n) == 0; }

	void enable()
	{
		queues_.clear(); // the reset that enable() begins with takes them back
		controller_->enable();
		for (unsigned id = 1; id <= hostile_queues + 1; id++)
			queues_.push_back(controller_->create_queue(id, {.depth = depth, .data_bytes = data_bytes}));
		hz::NamespaceInfo info = controller_->namespace_info(*queues_[0]);
		zone_sectors_ = info.zone_size_sectors;
		sectors_ = info.size_sectors;
		// Zone 0 is empty and open, so that no number of other zones takes its place among the active ones.
		EXPECT_EQ(queues_[0]->run(hz::QueuePair::zone_send(0, NVME_ZSA_RESET, true)).status, NVME_SUCCESS);
		EXPECT_EQ(queues_[0]->run(hz::QueuePair::zone_send(0, NVME_ZSA_OPEN)).status, NVME_SUCCESS);
		now_ = controller_->log_harts().now_ns + 100000;
		for (auto &queue : queues_)
			queue->open(now_);
	}

	// In memory of the queue's own, or where no memory is.
	uint64_t address(hz::QueuePair &queue, uint16_t cid)
	{
		switch (draw(24)) {
		case 0: return 0;
		case 1: return random_();
		case 2: return machine_->region().bytes() + draw(3) * 4096;
		case 3: return HZ_SHM_QUEUES_OFFSET + draw(64) * 8;
		case 4: return queue.data_bus(cid) + draw(4096);
		default: return queue.data_bus(cid) + draw(data_bytes / 4096) * 4096;
		}
	}
	// Anywhere but in zone 0, which is the honest queue's.
	uint64_t lba()
	{
		switch (draw(8)) {
		case 0: return sectors_ + draw(1000) - 8;
		case 1: return random_() | 1ull << 63;
		case 2: return (1 + draw(sectors_ / zone_sectors_ - 1)) * zone_sectors_;
		default: return zone_sectors_ + draw(sectors_ - zone_sectors_);
		}
	}
	nvme_sqe command(hz::QueuePair &queue, uint16_t cid)
	{
		static constexpr std::array<uint8_t, 13> opcodes = {NVME_IO_FLUSH,
								    NVME_IO_WRITE,
								    NVME_IO_READ,
								    NVME_IO_WRITE_ZEROES,
								    NVME_IO_ZONE_MGMT_SEND,
								    NVME_IO_ZONE_MGMT_RECV,
								    NVME_IO_ZONE_APPEND,
								    NVME_IO_WRITE,
								    NVME_IO_READ,
								    NVME_IO_ZONE_APPEND,
								    NVME_IO_COMPARE,
								    NVME_IO_VERIFY,
								    NVME_IO_WRITE_UNCORRECTABLE};
		nvme_sqe sqe{};
		for (uint32_t *word = &sqe.cdw10; one_in(6) && word <= &sqe.cdw15; word++)
			*word = static_cast<uint32_t>(random_());
		sqe.opcode = one_in(10) ? static_cast<uint8_t>(random_()) : opcodes[draw(opcodes.size())];
		sqe.flags = static_cast<uint8_t>(one_in(16) ? random_() : 0);
		sqe.nsid = one_in(16) ? static_cast<uint32_t>(random_()) : 1;
		const uint64_t at = lba();
		sqe.cdw10 = static_cast<uint32_t>(at);
		sqe.cdw11 = static_cast<uint32_t>(at >> 32);
		if (!one_in(8))
			sqe.cdw12 = static_cast<uint32_t>(draw(40));
		if (sqe.opcode == NVME_IO_ZONE_MGMT_SEND)
			sqe.cdw13 = static_cast<uint32_t>(draw(7) | (one_in(8) ? random_() & 0xfffffe00 : 0)); // never bit 8: all zones
		sqe.prp1 = address(queue, cid);
		sqe.prp2 = address(queue, cid);
		uint64_t *list = reinterpret_cast<uint64_t *>(queue.data(cid).data()); // any page of the buffer may be a PRP list
		for (unsigned i = 0; i < 64; i++)
			list[draw(data_bytes / 8)] = address(queue, cid);
		return sqe;
	}
	uint64_t arrival(uint64_t latest)
	{
		static constexpr uint64_t far = 5000000;
		return latest + (one_in(50) ? draw(far) : draw(20000));
	}
	void ring(uint64_t queue)
	{
		controller_->link().write32(NVME_REG_DOORBELLS + static_cast<uint32_t>(queue) * 8 + (one_in(2) ? 4 : 0),
					    static_cast<uint32_t>(depth + draw(1 << 20)));
	}
	void attack(hz::QueuePair &queue)
	{
		uint64_t at = now_;
		for (uint64_t n = 1 + draw(depth - 1); n; n--) {
			const uint16_t cid = queue.acquire().value();
			at = queue.submit_raw(cid, command(queue, cid), arrival(at));
			if (std::get<0>(GetParam()) && one_in(8))
				queue.promise_until(at += draw(1000));
		}
		queue.promise_nothing_more();
		if (one_in(4)) // of no queue: an event, or nothing
			ring(hostile_queues + 2 + draw(HZ_MAX_IO_QUEUES - hostile_queues - 1));
	}
	void answers_of(hz::QueuePair &queue)
	{
		const std::span<const hz::Completion> answers = queue.reap();
		for (const hz::Completion &c : answers) {
			if (queue.qid() == 1) {
				EXPECT_EQ(c.status, NVME_SUCCESS) << "an honest command fails";
			}
			statuses_[c.status]++;
			answered_++;
			now_ = std::max(now_, c.completed_ns);
			queue.release(c.cid);
		}
		if (!answers.empty())
			queue.promise_nothing_more();
	}
	// All queues in turn, as time stands where an answer was not looked at.
	void all_answers()
	{
		while (std::ranges::any_of(queues_, [](const auto &queue) { return queue->outstanding() != 0; })) {
			machine_->check();
			std::ranges::for_each(queues_, [this](const auto &queue) { answers_of(*queue); });
			std::this_thread::yield();
		}
	}

	// One command of the honest queue during the attacks; returns the final content of its
	// buffer.
	std::span<const std::byte> honest(const nvme_sqe &sqe, std::span<const std::byte> out = {})
	{
		hz::QueuePair &own = *queues_[0];
		const uint16_t cid = own.acquire().value();
		std::ranges::copy(out, own.data(cid).begin());
		own.submit(cid, sqe, now_);
		own.promise_nothing_more();
		for (unsigned q = 1; q <= hostile_queues; q++)
			attack(*queues_[q]);
		all_answers();
		now_ += 10000;
		return own.data(cid);
	}
	void storm()
	{
		std::vector<std::byte> written(uint64_t(parts) * part_bytes);
		const auto at = [&written](uint64_t part) { return std::span(written).subspan(part * part_bytes, part_bytes); };
		std::ranges::generate(written, [this] { return static_cast<std::byte>(random_()); });
		for (unsigned part = 0; part < parts; part++)
			honest(hz::QueuePair::write(part * part_sectors, part_sectors), at(part));
		for (unsigned read = 0; read < reads && !HasFailure(); read++) {
			const uint64_t part = draw(parts);
			const auto found = honest(hz::QueuePair::read(part * part_sectors, part_sectors)).first(part_bytes);
			EXPECT_TRUE(std::ranges::equal(found, at(part))) << "part " << part << " of zone 0";
		}
	}

	uint64_t seed_ = setting("HARTZONE_TEST_SEED", 1);
	::testing::ScopedTrace trace_{__FILE__, __LINE__, "HARTZONE_TEST_SEED=" + std::to_string(seed_)};
	std::mt19937_64 random_{seed_};
	std::unique_ptr<hz::Machine> machine_;
	std::unique_ptr<hz::Controller> controller_;
	std::vector<std::unique_ptr<hz::QueuePair>> queues_;
	uint64_t zone_sectors_ = 0, sectors_ = 0, now_ = 0, answered_ = 0;
	std::map<uint16_t, uint64_t> statuses_;
};

INSTANTIATE_TEST_SUITE_P(Clock, Hostile,
			 ::testing::Combine(::testing::Bool(),
					    ::testing::Values(Shape{"one_hil", 1, HZ_ARCH_PIPELINE}, Shape{"two_hils", 2, HZ_ARCH_PIPELINE},
							      Shape{"completion", 1, HZ_ARCH_COMPLETION})),
			 [](const auto &i) {
				 return std::string(std::get<0>(i.param) ? "virtual_" : "real_") + std::get<1>(i.param).name;
			 });

TEST_P(Hostile, CommandsAreAnsweredAndHonestDataStayRight)
{
	for (uint64_t round = 0; round < setting("HARTZONE_TEST_ROUNDS", 4) && !HasFailure(); round++) {
		SCOPED_TRACE("round " + std::to_string(round));
		enable();
		storm();
		ring(2); // behind its ring: the queue is broken, until the reset
	}
	RecordProperty("commands", std::to_string(answered_));
	std::printf("%llu commands answered with %zu statuses\n", static_cast<unsigned long long>(answered_), statuses_.size());
	EXPECT_GT(statuses_[NVME_SUCCESS], answered_ / 20) << "hardly anything got past the first checks";
	EXPECT_GE(statuses_.size(), 10u);
	if (HasFailure())
		return;
	enable();
	storm();
	controller_->shutdown();
}

} // namespace
} // namespace e2e
