// Admin commands: illegal opcodes and flags, Asynchronous Event Request (base spec 5.2), Abort (5.1), full queues, bells.
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "admin_ring.hpp"
#include "command_case.hpp"

namespace conform {
namespace admin_test {

auto command(uint8_t opcode, uint8_t flags = 0)
{
	return [=](Bench &b) {
		nvme_sqe sqe = admin_command(b, opcode, 0, opcode == NVME_ADMIN_IDENTIFY ? NVME_CNS_CONTROLLER : 0);
		sqe.flags = flags;
		return sqe;
	};
}

const CommandCase cases[] = {
	{"OpcodeThree", NVME_INVALID_OPCODE, command(0x03)},
	{"FirmwareCommitIsNotOffered", NVME_INVALID_OPCODE, command(0x10)},
	{"NamespaceOfTheOtherCommandSet", NVME_IOCS_NOT_SUPPORTED, command(NVME_ADMIN_NAMESPACE_MANAGEMENT)},
	{"NamespaceAttachmentOfNone", NVME_INVALID_NAMESPACE, command(NVME_ADMIN_NAMESPACE_ATTACHMENT)},
	{"ReservedOpcode", NVME_INVALID_OPCODE, command(0x7f)},
	{"UnknownVendorOpcode", NVME_INVALID_OPCODE, command(0xff)},
	{"FusedFirst", NVME_INVALID_FIELD, command(NVME_ADMIN_IDENTIFY, 1)},
	{"FusedSecond", NVME_INVALID_FIELD, command(NVME_ADMIN_IDENTIFY, 2)},
	{"Sgl", NVME_INVALID_FIELD, command(NVME_ADMIN_IDENTIFY, 0x40)},
	{"SglSegment", NVME_INVALID_FIELD, command(NVME_ADMIN_IDENTIFY, 0x80)},
	{"ResetStatistics", NVME_SUCCESS, command(NVME_ADMIN_HZ_RESET_STATS)},
};
auto format(uint32_t cdw10, uint32_t nsid = 1)
{
	return [=](Bench &b) { return admin_command(b, NVME_ADMIN_FORMAT_NVM, nsid, cdw10); };
}

auto self_test(uint32_t which, uint32_t nsid)
{
	return [=](Bench &b) { return admin_command(b, NVME_ADMIN_DEVICE_SELF_TEST, nsid, which); };
}

const CommandCase self_test_cases[] = {
	{"AbortOfNoSelfTest", NVME_SUCCESS, self_test(NVME_SELF_TEST_ABORT, 0)},
	{"SelfTestZero", NVME_INVALID_FIELD, self_test(NVME_SELF_TEST_NONE, 0)},
	{"ReservedSelfTest", NVME_INVALID_FIELD, self_test(3, 0)},
	{"VendorsSelfTest", NVME_INVALID_FIELD, self_test(0xe, 0)},
	{"SelfTestOfANamespaceThatCannotBe", NVME_INVALID_NAMESPACE, self_test(NVME_SELF_TEST_SHORT, 2)},
	{"SelfTestOfTheController", NVME_SUCCESS, self_test(NVME_SELF_TEST_SHORT, 0)},
};

auto sanitize(uint32_t cdw10)
{
	return [=](Bench &b) { return admin_command(b, NVME_ADMIN_SANITIZE, 0, cdw10); };
}

const CommandCase sanitize_cases[] = {
	{"SanitizeWithReservedAction", NVME_INVALID_FIELD, sanitize(0)},
	{"SanitizeByOverwriting", NVME_INVALID_FIELD, sanitize(NVME_SANITIZE_OVERWRITE)},
	{"SanitizeByCryptographicErase", NVME_INVALID_FIELD, sanitize(NVME_SANITIZE_CRYPTO_ERASE)},
	{"SanitizeWithoutDeallocation", NVME_INVALID_FIELD, sanitize(NVME_SANITIZE_BLOCK_ERASE | 1 << NVME_SANITIZE_NDAS)},
	{"SanitizeExitsNoFailure", NVME_SUCCESS, sanitize(NVME_SANITIZE_EXIT_FAILURE)},
};

const CommandCase format_cases[] = {
	{"Format", NVME_SUCCESS, format(0)},
	{"FormatOfAll", NVME_SUCCESS, format(0, NVME_NSID_ALL)},
	{"FormatOfNone", NVME_INVALID_NAMESPACE, format(0, 0)},
	{"FormatOfANamespaceThatCannotBe", NVME_INVALID_NAMESPACE, format(0, 2)},
	{"FormatWithTheSecondLbaFormat", NVME_INVALID_FORMAT, format(1 << NVME_FORMAT_LBAFL)},
	{"FormatWithTheSeventeenthLbaFormat", NVME_INVALID_FORMAT, format(1 << NVME_FORMAT_LBAFU)},
	{"FormatWithProtection", NVME_INVALID_FORMAT, format(NVME_DPS_TYPE1 << NVME_FORMAT_PI)},
	{"FormatWithReservedProtection", NVME_INVALID_FORMAT, format(7 << NVME_FORMAT_PI)},
	{"FormatWithExtendedMetadataOfNoBytes", NVME_SUCCESS, format(1 << NVME_FORMAT_MSET)},
	{"FormatWithUserDataErase", NVME_SUCCESS, format(NVME_FORMAT_USER_DATA << NVME_FORMAT_SES)},
	{"FormatWithCryptographicErase", NVME_INVALID_FIELD, format(NVME_FORMAT_CRYPTO << NVME_FORMAT_SES)},
	{"FormatWithReservedErase", NVME_INVALID_FIELD, format(3 << NVME_FORMAT_SES)},
};

class AdminCommands : public AdminCommand {};
TEST_P(AdminCommands, Status) { check(); }
INSTANTIATE_TEST_SUITE_P(All, AdminCommands, ::testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(AllSelfTests, AdminCommands, ::testing::ValuesIn(self_test_cases), case_name);
INSTANTIATE_TEST_SUITE_P(AllSanitizes, AdminCommands, ::testing::ValuesIn(sanitize_cases), case_name);
INSTANTIATE_TEST_SUITE_P(AllFormats, AdminCommands, ::testing::ValuesIn(format_cases), case_name);

class AdminSelfTest : public ZonedDevice {
protected:
	nvme_self_test_log log()
	{
		nvme_self_test_log page;
		std::memcpy(&page, bench().controller().log_page(NVME_LOG_SELF_TEST, sizeof(page)).data(), sizeof(page));
		return page;
	}
	uint16_t begin(uint32_t which, uint32_t nsid)
	{
		return bench().controller().admin(admin_command(bench(), NVME_ADMIN_DEVICE_SELF_TEST, nsid, which)).status;
	}
	// Until it is over; the last result.
	nvme_self_test_result finish()
	{
		for (int i = 0; i < 10000 && log().current; i++)
			;
		EXPECT_EQ(log().current, 0);
		return log().result[0];
	}
};

TEST_F(AdminSelfTest, BothKindsPass)
{
	bench().put(0, NVME_ZS_FULL);
	bench().put(1, NVME_ZS_CLOSED);
	for (uint32_t nsid : {1u, NVME_NSID_ALL})
		for (uint32_t which : {NVME_SELF_TEST_SHORT, NVME_SELF_TEST_EXTENDED}) {
			ASSERT_EQ(begin(which, nsid), NVME_SUCCESS);
			const auto result = finish();
			EXPECT_EQ(result.status, which << 4 | NVME_SELF_TEST_PASSED);
			EXPECT_EQ(result.segment | result.valid | result.nsid | result.sct | result.sc, 0u);
		}
	EXPECT_EQ(log().result[1].status, NVME_SELF_TEST_SHORT << 4) << "the newest is the first";
}

void expect_erased(Bench &b)
{
	for (uint32_t zone = 0; zone < b.zones(); zone++)
		EXPECT_EQ(b.state(zone), NVME_ZS_EMPTY) << "zone " << zone;
	Bytes data(4096, std::byte(0xee));
	EXPECT_EQ(b.run(hz::QueuePair::read(0, 1), {}, &data).status, NVME_SUCCESS);
	EXPECT_EQ(data, Bytes(4096));
	EXPECT_EQ(b.write(0, 1), NVME_SUCCESS);
}

class AdminSanitize : public ZonedDevice {
protected:
	nvme_sanitize_log log() const
	{
		nvme_sanitize_log log;
		const auto page = bench().controller().log_page(NVME_LOG_SANITIZE, sizeof(log));
		std::memcpy(&log, page.data(), sizeof(log));
		return log;
	}
	uint16_t admin(uint8_t opcode, uint32_t cdw10 = 0)
	{
		return bench().controller().admin(admin_command(bench(), opcode, 1, cdw10)).status;
	}
	static uint64_t opened_ns() { return std::atomic_ref(const_cast<uint64_t &>(bench().region().queue_clock(2).opened_ns)).load(); }
	// Queue 2, open: device time stands until it promises more, so nothing ends in the background.
	std::unique_ptr<hz::QueuePair> stop_time()
	{
		bench().disturb();
		auto queue = bench().controller().create_queue(2, {.depth = 4});
		queue->open(0);
		while (!opened_ns())
			std::this_thread::yield();
		return queue;
	}
};

TEST_F(AdminSanitize, EverythingIsErasedInTheBackground)
{
	bench().put(0, NVME_ZS_FULL);
	bench().put(1, NVME_ZS_EXPLICIT_OPEN);
	bench().put(2, NVME_ZS_CLOSED);
	const uint32_t cdw10 = NVME_SANITIZE_BLOCK_ERASE | 1 << NVME_SANITIZE_AUSE;
	auto brake = stop_time();
	ASSERT_EQ(admin(NVME_ADMIN_SANITIZE, cdw10), NVME_SUCCESS);
	ASSERT_EQ(log().sstat, NVME_SANITIZE_RUNS);
	EXPECT_EQ(admin(NVME_ADMIN_FORMAT_NVM) & 0x7ff, NVME_SANITIZE_IN_PROGRESS);
	EXPECT_EQ(admin(NVME_ADMIN_SANITIZE, cdw10) & 0x7ff, NVME_SANITIZE_IN_PROGRESS);
	brake->submit(*brake->acquire(), hz::QueuePair::write(0, 1), opened_ns());
	brake->promise_nothing_more();
	EXPECT_EQ(brake->wait().front().status & 0x7ff, NVME_SANITIZE_IN_PROGRESS);
	brake->close();
	bench().controller().delete_queue(std::move(brake));
	uint32_t last = 0;
	for (int i = 0; i < 100000 && log().sstat == NVME_SANITIZE_RUNS; i++) {
		const nvme_sanitize_log now = log();
		if (now.sstat != NVME_SANITIZE_RUNS)
			break;
		EXPECT_GE(now.sprog, last);
		last = now.sprog;
	}
	EXPECT_EQ(log().sstat, NVME_SANITIZE_DONE);
	EXPECT_EQ(log().sprog, 0xffff);
	EXPECT_EQ(log().scdw10, cdw10);
	expect_erased(bench());
}

// A reset does not end it, and the host can enable the controller meanwhile: it registers its doorbells once it may.
TEST_F(AdminSanitize, TheControllerIsEnabledWhileItRuns)
{
	bench().put(0, NVME_ZS_FULL);
	auto brake = stop_time();
	ASSERT_EQ(admin(NVME_ADMIN_SANITIZE, NVME_SANITIZE_BLOCK_ERASE), NVME_SUCCESS);
	ASSERT_EQ(log().sstat, NVME_SANITIZE_RUNS);
	brake.reset();
	ASSERT_NO_THROW(bench().restart());
	for (int i = 0; i < 100000 && log().sstat == NVME_SANITIZE_RUNS; i++)
		;
	EXPECT_EQ(log().sstat, NVME_SANITIZE_DONE);
	expect_erased(bench());
}

class AdminFormat : public ZonedDevice {};

TEST_F(AdminFormat, EveryZoneIsEmptyAndReadsAsZeros)
{
	bench().put(0, NVME_ZS_FULL);
	bench().put(1, NVME_ZS_EXPLICIT_OPEN);
	bench().put(2, NVME_ZS_CLOSED);
	ASSERT_EQ(bench().controller().admin(admin_command(bench(), NVME_ADMIN_FORMAT_NVM, 1)).status, NVME_SUCCESS);
	expect_erased(bench());
}

class AdminQueue : public Device {
protected:
	nvme_sqe command(uint8_t opcode, uint32_t cdw10 = 0) { return admin_command(bench(), opcode, 0, cdw10); }
	unsigned event_limit() { return static_cast<unsigned>(bench().controller().identify(NVME_CNS_CONTROLLER)[259]) + 1; }
};

TEST_F(AdminQueue, EventRequestsWaitUpToTheirLimit)
{
	unsigned limit = event_limit();
	AdminRing ring(bench(), 64, 64);
	std::set<uint16_t> waiting;
	for (unsigned i = 0; i < limit; i++)
		waiting.insert(ring.submit(command(NVME_ADMIN_ASYNC_EVENT)));
	ring.ring();
	EXPECT_TRUE(ring.quiet());
	uint16_t extra = ring.submit(command(NVME_ADMIN_ASYNC_EVENT));
	ring.ring();
	auto cqe = ring.reap(1)[0];
	EXPECT_EQ(cqe.cid, extra);
	EXPECT_EQ(status_of(cqe), NVME_ASYNC_LIMIT);
}

TEST_F(AdminQueue, AbortEndsAWaitingEventRequest)
{
	AdminRing ring(bench(), 16, 16);
	uint16_t waiting = ring.submit(command(NVME_ADMIN_ASYNC_EVENT));
	ring.submit(command(NVME_ADMIN_ABORT, static_cast<uint32_t>(waiting) << 16));
	ring.ring();
	uint16_t event_status = 0;
	uint32_t not_aborted = 1;
	for (const auto &cqe : ring.reap(2))
		(cqe.cid == waiting ? event_status : reinterpret_cast<uint16_t &>(not_aborted)) = cqe.cid == waiting
													  ? status_of(cqe)
													  : static_cast<uint16_t>(cqe.dw0);
	EXPECT_EQ(event_status, NVME_ABORT_REQUESTED);
	EXPECT_EQ(not_aborted & 1, 0u);
}

TEST_F(AdminQueue, AbortOfNothingSucceedsAndSaysSo)
{
	struct {
		uint32_t sqid, cid;
	} targets[] = {{0, 1234}, {1, 0}, {64, 0}, {0xffff, 0xffff}};
	for (auto [sqid, cid] : targets) {
		auto result = bench().controller().admin(command(NVME_ADMIN_ABORT, sqid | cid << 16));
		EXPECT_EQ(result.status, NVME_SUCCESS);
		EXPECT_EQ(result.dw0 & 1, 1u) << "not aborted";
	}
}

TEST_F(AdminQueue, InvalidDoorbellValueIsReportedAsAnEvent)
{
	AdminRing ring(bench(), 16, 16);
	ring.submit(command(NVME_ADMIN_ASYNC_EVENT));
	ring.ring();
	EXPECT_TRUE(ring.quiet());
	bench().link().write32(NVME_REG_DOORBELLS, 16);
	auto cqe = ring.reap(1)[0];
	EXPECT_EQ(status_of(cqe), NVME_SUCCESS);
	EXPECT_EQ(cqe.dw0, NVME_AEN_ERROR | NVME_AEN_ERROR_INVALID_DOORBELL_VALUE << 8 | NVME_LOG_ERROR << 16);
	ring.submit(command(NVME_ADMIN_IDENTIFY, NVME_CNS_CONTROLLER));
	ring.ring();
	EXPECT_EQ(status_of(ring.reap(1)[0]), NVME_SUCCESS) << "the queue goes on";
}

TEST_F(AdminQueue, DoorbellOfAMissingQueueIsReportedAsAnEvent)
{
	for (uint32_t doorbell : {2u, 3u, 2u * 64, 2u * 64 + 1}) {
		AdminRing ring(bench(), 16, 16);
		ring.submit(command(NVME_ADMIN_ASYNC_EVENT));
		ring.ring();
		EXPECT_TRUE(ring.quiet());
		bench().link().write32(NVME_REG_DOORBELLS + doorbell * 4, 1);
		auto cqe = ring.reap(1)[0];
		EXPECT_EQ(cqe.dw0, NVME_AEN_ERROR | NVME_AEN_ERROR_INVALID_DOORBELL_REGISTER << 8 | NVME_LOG_ERROR << 16);
	}
}

TEST_F(AdminQueue, EventsStayMaskedUntilTheLogIsRead)
{
	AdminRing ring(bench(), 16, 16);
	auto &link = bench().link();
	ring.submit(command(NVME_ADMIN_ASYNC_EVENT));
	ring.submit(command(NVME_ADMIN_ASYNC_EVENT));
	ring.ring();
	link.write32(NVME_REG_DOORBELLS, 99);
	ring.reap(1);
	link.write32(NVME_REG_DOORBELLS, 99);
	EXPECT_TRUE(ring.quiet()) << "the first event has not been cleared";
	ring.submit(command(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_ERROR | 15u << 16));
	ring.ring();
	EXPECT_EQ(ring.reap(2).size(), 2u) << "the log page and the second event";
}

// Base spec 5.22, 5.16.1.5: detaching and attaching again changes the list of active namespaces
// twice, and is reported once.
TEST_F(AdminQueue, AttachmentIsReportedAndListed)
{
	Bench &b = bench();
	auto page = [&](uint32_t more = 0) {
		nvme_sqe sqe = command(NVME_ADMIN_GET_LOG_PAGE, NVME_LOG_CHANGED_NAMESPACES | more | 1023u << 16);
		sqe.nsid = NVME_NSID_ALL;
		return sqe;
	};
	auto attachment = [&](bool attach) {
		auto *list = reinterpret_cast<nvme_controller_list *>(b.at(b.page(0)));
		list->count = 1;
		list->id[0] = NVME_HZ_CONTROLLER_ID;
		return admin_command(b, NVME_ADMIN_NAMESPACE_ATTACHMENT, 1, !attach);
	};
	b.disturb();
	ASSERT_EQ(b.controller().admin(page()).status, NVME_SUCCESS) << "nothing is left of other cases";
	AdminRing ring(b, 16, 16);
	auto run = [&](const nvme_sqe &sqe) {
		ring.submit(sqe);
		ring.ring();
		return ring.reap(1)[0];
	};
	EXPECT_EQ(status_of(run(admin_command(b, NVME_ADMIN_SET_FEATURES, 0, NVME_FEAT_ASYNC_EVENT, NVME_NOTICE_NAMESPACES))),
		  NVME_SUCCESS);
	uint16_t waiting = ring.submit(command(NVME_ADMIN_ASYNC_EVENT));
	ring.submit(attachment(false));
	ring.ring();
	for (const auto &cqe : ring.reap(2))
		EXPECT_EQ(cqe.dw0, cqe.cid == waiting ? NVME_AEN_NOTICE | 0u << 8 | uint32_t{NVME_LOG_CHANGED_NAMESPACES} << 16 : 0u);
	ring.submit(command(NVME_ADMIN_ASYNC_EVENT));
	ring.ring();
	EXPECT_EQ(status_of(run(attachment(true))), NVME_SUCCESS);
	EXPECT_TRUE(ring.quiet()) << "masked until the list has been read";
	EXPECT_EQ(status_of(run(page())), NVME_SUCCESS);
	uint32_t listed[2];
	std::memcpy(listed, b.at(b.page(0)), sizeof(listed));
	EXPECT_EQ(listed[0], 1u);
	EXPECT_EQ(listed[1], 0u);
	EXPECT_TRUE(ring.quiet()) << "the list reported both";
}

TEST_F(AdminQueue, AFullCompletionQueueHoldsCommandsBack)
{
	AdminRing ring(bench(), 16, 4);
	std::set<uint16_t> left;
	for (int i = 0; i < 10; i++)
		left.insert(ring.submit(command(NVME_ADMIN_GET_FEATURES, NVME_FEAT_ARBITRATION)));
	ring.ring();
	for (const auto &cqe : ring.reap(3, true))
		left.erase(cqe.cid);
	EXPECT_TRUE(ring.quiet()) << "four entries hold three completions";
	bench().link().write32(NVME_REG_DOORBELLS + 4, 3);
	for (const auto &cqe : ring.reap(3))
		left.erase(cqe.cid);
	for (const auto &cqe : ring.reap(3))
		left.erase(cqe.cid);
	for (const auto &cqe : ring.reap(1))
		left.erase(cqe.cid);
	EXPECT_TRUE(left.empty());
}

TEST_F(AdminQueue, CompletionsNameTheirQueueAndPosition)
{
	AdminRing ring(bench(), 8, 8);
	for (unsigned i = 0; i < 20; i++) {
		ring.submit(command(NVME_ADMIN_GET_FEATURES, NVME_FEAT_ARBITRATION));
		ring.ring();
		auto cqe = ring.reap(1)[0];
		EXPECT_EQ(cqe.sq_id, 0);
		EXPECT_EQ(cqe.sq_head, (i + 1) % 8);
		EXPECT_EQ(cqe.cid, i);
	}
}

} // namespace admin_test
} // namespace conform
