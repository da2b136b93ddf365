// Sanitize: what it wipes and erases, what is refused meanwhile, its state in the image and in log page 81h.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "rig.hpp"

namespace hil_test {

struct Sanitize : testing::Test {
	Sanitize() : rig(options()) { rig.enable(); }
	static Options options()
	{
		Options o;
		o.namespaces = 3;
		o.virtual_clock = false; // time runs by itself
		return o;
	}
	static constexpr uint32_t erase = NVME_SANITIZE_BLOCK_ERASE, unrestricted = 1 << NVME_SANITIZE_AUSE;
	uint16_t sanitize(uint32_t cdw10) { return rig.status_of(admin_sqe(NVME_ADMIN_SANITIZE, cdw10)); }
	uint16_t read_page(uint8_t id, uint32_t bytes = 512)
	{
		return rig.status_of(admin_sqe(NVME_ADMIN_GET_LOG_PAGE, (bytes / 4 - 1) << 16 | id, 0, rig.buffer()));
	}
	nvme_sanitize_log log()
	{
		EXPECT_EQ(read_page(NVME_LOG_SANITIZE), 0);
		return rig.page<nvme_sanitize_log>();
	}
	nvme_sanitize_log finish()
	{
		for (int i = 0; i < 2000 && log().sstat == NVME_SANITIZE_RUNS; i++)
			rig.run_for(1000000);
		return log();
	}
	// Every step takes 20 ms; one fails.
	void script(int failing = -1)
	{
		rig.fake->script = [=](const ftl_request &req) {
			return Answer{.service_ns = req.life ? 1000u : 20000000u,
				      .status = uint16_t(req.op == failing ? NVME_WRITE_FAULT : 0)};
		};
	}
	void disable()
	{
		rig.set(NVME_REG_CC, 0);
		for (int i = 0; i < 20; i++)
			rig.run();
		ASSERT_EQ(rig.get(NVME_REG_CSTS) & NVME_CSTS_RDY, 0u);
	}
	static nvme_sqe io(uint8_t opcode, uint32_t nsid = 1)
	{
		nvme_sqe sqe{};
		sqe.opcode = opcode;
		sqe.nsid = nsid;
		return sqe;
	}
	uint16_t io_status(Rig::Queue &queue, const nvme_sqe &sqe)
	{
		rig.place(queue, sqe);
		rig.post(NVME_REG_DOORBELLS + 8 * queue.id, queue.submitted);
		rig.run_for(100000);
		const auto cqe = rig.peek(queue);
		return cqe ? cqe->status : 0xffff;
	}
	nvme_sqe read()
	{
		nvme_sqe sqe = io(NVME_IO_READ);
		sqe.prp1 = rig.buffer();
		return sqe;
	}
	unsigned erases(size_t from) const
	{
		unsigned count = 0;
		for (size_t i = from; i < rig.fake->log.size(); i++)
			count += rig.fake->log[i].op == FTL_ERASE;
		return count;
	}

	Rig rig;
};

TEST_F(Sanitize, WipesAndErasesEachNamespace)
{
	script();
	EXPECT_EQ(log().sstat, NVME_SANITIZE_NEVER);
	EXPECT_EQ(log().sprog, 0xffff);
	ASSERT_EQ(sanitize(erase), 0) << "it goes on behind its completion";
	EXPECT_EQ(rig.fake->controller.sanitize, NVME_SANITIZE_RUNS) << "persistent from its beginning on";
	EXPECT_EQ(log().sstat, NVME_SANITIZE_RUNS);
	EXPECT_EQ(log().scdw10, erase);
	uint32_t last = 0, different = 0;
	for (int i = 0; i < 2000; i++) {
		const nvme_sanitize_log now = log();
		if (now.sstat != NVME_SANITIZE_RUNS)
			break;
		EXPECT_GE(now.sprog, last);
		different += now.sprog != last;
		last = now.sprog;
		rig.run_for(2000000);
	}
	EXPECT_GT(different, 8u);
	EXPECT_GT(last, 50000u);
	const nvme_sanitize_log end = log();
	EXPECT_EQ(end.sstat, NVME_SANITIZE_DONE);
	EXPECT_EQ(end.sprog, 0xffff);
	EXPECT_EQ(end.scdw10, erase);
	EXPECT_GE(end.block_erase_s, 1u);
	EXPECT_LT(end.block_erase_s, 1000u);
	for (uint32_t none : {end.overwrite_s, end.crypto_erase_s, end.overwrite_kept_s, end.block_erase_kept_s, end.crypto_kept_s})
		EXPECT_EQ(none, NVME_SANITIZE_NO_TIME);
	std::vector<std::pair<uint32_t, int>> ops, expected;
	for (const Submitted &s : rig.fake->log)
		ops.push_back({s.number, s.op});
	for (uint32_t number = 0; number < 3; number++)
		for (int op : {FTL_CANCEL, FTL_ZONE_RESET, FTL_ZONE_OFFLINE, FTL_FLUSH, FTL_ERASE})
			expected.push_back({number, op});
	EXPECT_EQ(ops, expected);
	for (const auto &[number, record] : rig.fake->records)
		EXPECT_EQ(record.state, uint32_t(HZ_NAMESPACE_ATTACHED)) << number;
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	EXPECT_EQ(io_status(queue, read()), 0);
}

/* Base spec 8.21: what is not in the list, and every I/O command but Flush. */
TEST_F(Sanitize, RefusesOtherCommandsMeanwhile)
{
	script();
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_DEVICE_SELF_TEST, NVME_SELF_TEST_EXTENDED, 0, 0, NVME_NSID_ALL)), 0);
	ASSERT_EQ(sanitize(erase), 0);
	EXPECT_EQ(io_status(queue, read()), NVME_SANITIZE_IN_PROGRESS);
	EXPECT_EQ(io_status(queue, io(NVME_IO_ZONE_MGMT_SEND, 3)), NVME_SANITIZE_IN_PROGRESS);
	EXPECT_EQ(io_status(queue, io(NVME_IO_FLUSH)), 0);
	EXPECT_EQ(io_status(queue, io(NVME_IO_FLUSH, NVME_NSID_ALL)), 0);
	for (uint8_t opcode : {NVME_ADMIN_SANITIZE, NVME_ADMIN_FORMAT_NVM, NVME_ADMIN_NAMESPACE_MANAGEMENT, NVME_ADMIN_NAMESPACE_ATTACHMENT,
			       NVME_ADMIN_DEVICE_SELF_TEST, NVME_ADMIN_DBBUF, NVME_ADMIN_HZ_RESET_STATS})
		EXPECT_EQ(rig.status_of(admin_sqe(opcode, opcode == NVME_ADMIN_SANITIZE ? erase : 0, 0, 0, 1)), NVME_SANITIZE_IN_PROGRESS)
			<< int(opcode);
	for (uint8_t id : {NVME_LOG_FIRMWARE, NVME_LOG_EFFECTS, NVME_LOG_SELF_TEST, NVME_LOG_TELEMETRY_HOST})
		EXPECT_EQ(read_page(id), NVME_SANITIZE_IN_PROGRESS) << int(id);
	for (uint8_t id : {NVME_LOG_ERROR, NVME_LOG_SMART, NVME_LOG_CHANGED_NAMESPACES, NVME_LOG_SANITIZE})
		EXPECT_EQ(read_page(id), 0) << int(id);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_IDENTIFY, NVME_CNS_CONTROLLER, 0, rig.buffer())), 0);
	EXPECT_EQ(rig.page<nvme_identify_controller>().sanicap, 0x60000002u) << "block erase, always with deallocation";
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_GET_FEATURES, NVME_FEAT_ARBITRATION)), 0);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_SET_FEATURES, NVME_FEAT_ARBITRATION, 1)), 0);
	ASSERT_EQ(log().sstat, NVME_SANITIZE_RUNS) << "all of that was meanwhile";
	EXPECT_EQ(finish().sstat, NVME_SANITIZE_DONE);
	EXPECT_EQ(io_status(queue, read()), 0);
	ASSERT_EQ(read_page(NVME_LOG_SELF_TEST, sizeof(nvme_self_test_log)), 0);
	EXPECT_EQ(rig.page<nvme_self_test_log>().result[0].status, NVME_SELF_TEST_EXTENDED << 4 | NVME_SELF_TEST_SANITIZED);
}

TEST_F(Sanitize, TellsOfItsEnd)
{
	script();
	rig.place_admin(admin_sqe(NVME_ADMIN_ASYNC_EVENT));
	rig.post_admin();
	rig.run_for(100000);
	ASSERT_EQ(sanitize(erase), 0);
	auto done = rig.reap_admin();
	EXPECT_FALSE(done);
	for (int i = 0; i < 1000 && !(done = rig.reap_admin()); i++)
		rig.run_for(1000000);
	ASSERT_TRUE(done);
	EXPECT_EQ(done->dw0, 0x810106u);
}

TEST_F(Sanitize, OtherActionsAreRefused)
{
	const uint16_t bad = NVME_INVALID_FIELD | NVME_DNR;
	for (uint32_t action : {0u, 3u, 4u, 5u, 6u, 7u})
		EXPECT_EQ(sanitize(action), bad) << action;
	EXPECT_EQ(sanitize(erase | 1 << NVME_SANITIZE_NDAS), bad) << "NDI";
	EXPECT_EQ(sanitize(NVME_SANITIZE_EXIT_FAILURE), 0) << "there is nothing to leave";
	EXPECT_EQ(log().sstat, NVME_SANITIZE_NEVER);
	EXPECT_TRUE(rig.fake->log.empty());
}

TEST_F(Sanitize, AFailureInTheRestrictedModeNeedsAnother)
{
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	script(FTL_ERASE);
	ASSERT_EQ(sanitize(erase), 0);
	EXPECT_EQ(finish().sstat, NVME_SANITIZE_HAS_FAILED);
	EXPECT_EQ(io_status(queue, read()), NVME_SANITIZE_FAILED);
	EXPECT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_FORMAT_NVM, 0, 0, 0, 1)), NVME_SANITIZE_FAILED);
	EXPECT_EQ(sanitize(NVME_SANITIZE_EXIT_FAILURE), NVME_SANITIZE_FAILED);
	EXPECT_EQ(sanitize(erase | unrestricted), NVME_SANITIZE_FAILED);
	disable();
	rig.enable();
	EXPECT_EQ(log().sstat, NVME_SANITIZE_HAS_FAILED) << "a reset does not help";
	queue = rig.make_queue(1, 16);
	rig.open(queue);
	EXPECT_EQ(io_status(queue, read()), NVME_SANITIZE_FAILED);
	script();
	ASSERT_EQ(sanitize(erase), 0);
	EXPECT_EQ(finish().sstat, NVME_SANITIZE_DONE);
	EXPECT_EQ(io_status(queue, read()), 0);
}

TEST_F(Sanitize, AFailureInTheUnrestrictedModeCanBeLeft)
{
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	script(FTL_ERASE);
	ASSERT_EQ(sanitize(erase | unrestricted), 0);
	EXPECT_EQ(finish().sstat, NVME_SANITIZE_HAS_FAILED);
	EXPECT_EQ(log().scdw10, erase | unrestricted);
	EXPECT_EQ(io_status(queue, read()), NVME_SANITIZE_FAILED);
	EXPECT_EQ(sanitize(NVME_SANITIZE_EXIT_FAILURE), 0);
	EXPECT_EQ(io_status(queue, read()), 0);
	EXPECT_EQ(log().sstat, NVME_SANITIZE_HAS_FAILED) << "the most recent one has";
	EXPECT_EQ(rig.fake->controller.failure_exited, 1);
}

TEST_F(Sanitize, GoesOnBehindAReset)
{
	script();
	ASSERT_EQ(sanitize(erase), 0);
	rig.run_for(5000000);
	const uint16_t before = log().sprog;
	disable();
	rig.enable();
	EXPECT_EQ(log().sstat, NVME_SANITIZE_RUNS);
	EXPECT_GE(log().sprog, before);
	EXPECT_EQ(finish().sstat, NVME_SANITIZE_DONE);
	EXPECT_EQ(erases(0), 3u) << "none was begun again";
}

/* As after a power cut: what the image says, and a controller that is enabled. */
TEST_F(Sanitize, BeginsAgainAfterALossOfPower)
{
	script();
	disable();
	rig.fake->controller.sanitize = NVME_SANITIZE_RUNS;
	rig.fake->controller.sanitize_cdw10 = erase;
	rig.fake->records[1].state = HZ_NAMESPACE_ATTACHED;
	const size_t before = rig.fake->log.size();
	rig.enable();
	Rig::Queue queue = rig.make_queue(1, 16);
	rig.open(queue);
	EXPECT_EQ(io_status(queue, read()), NVME_SANITIZE_IN_PROGRESS);
	EXPECT_EQ(finish().sstat, NVME_SANITIZE_DONE);
	EXPECT_EQ(erases(before), 3u);
	EXPECT_EQ(io_status(queue, read()), 0);
}

} // namespace hil_test
