// Flexible data placement (TP 4146) on a block namespace: identification, log pages, features, placement of writes, status and update of
// reclaim unit handles.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "command_case.hpp"

namespace conform {
namespace fdp_test {

constexpr uint32_t handles = 3, unit = 96;

hz_device_config with_handles()
{
	hz_device_config config = small_config();
	config.namespace_kind = HZ_NS_BLOCK;
	config.zones = 6;
	config.conventional_spare = 6;
	config.conventional_streams = 1;
	config.conventional_buffers = 2;
	config.conventional_gc_low = 2;
	config.fdp_handles = handles;
	return config;
}

class Fdp : public ::testing::Test {
protected:
	static void SetUpTestSuite() { bench_ = std::make_unique<Bench>(with_handles()); }
	static void TearDownTestSuite() { bench_.reset(); }
	void SetUp() override
	{
		b.restart();
		ASSERT_EQ(update({0, 1, 2}), NVME_SUCCESS);
	}

	nvme_sqe placed(uint8_t opcode, uint64_t lba, uint32_t sectors, uint32_t placement, uint32_t directive = NVME_DIRECTIVE_PLACEMENT)
	{
		nvme_sqe sqe = io_command(b, opcode, lba, sectors);
		sqe.cdw12 |= directive << NVME_RW_DTYPE_SHIFT;
		sqe.cdw13 = placement << NVME_RW_DSPEC_SHIFT;
		return sqe;
	}
	uint16_t write(uint64_t lba, uint32_t placement, uint32_t directive = NVME_DIRECTIVE_PLACEMENT)
	{
		return b.raw(placed(NVME_IO_WRITE, lba, 1, placement, directive)).status;
	}
	uint16_t update(const std::vector<uint16_t> &identifiers, uint32_t operation = NVME_IO_MGMT_HANDLES)
	{
		nvme_sqe sqe = io_command(b, NVME_IO_MGMT_SEND);
		sqe.cdw10 = operation | static_cast<uint32_t>(identifiers.size() - 1) << NVME_IO_MGMT_FIELD_SHIFT;
		sqe.cdw11 = sqe.cdw12 = 0;
		std::memcpy(b.at(b.page(0)), identifiers.data(), identifiers.size() * 2);
		return b.raw(sqe).status;
	}
	std::vector<uint64_t> room()
	{
		nvme_sqe sqe = io_command(b, NVME_IO_MGMT_RECEIVE);
		sqe.cdw10 = NVME_IO_MGMT_HANDLES;
		sqe.cdw11 = 4096 / 4 - 1;
		sqe.cdw12 = 0;
		EXPECT_EQ(b.raw(sqe).status, NVME_SUCCESS);
		const auto *status = reinterpret_cast<const nvme_handles_status *>(b.at(b.page(0)));
		std::vector<uint64_t> left;
		for (uint32_t i = 0; i < status->count; i++) {
			EXPECT_EQ(status->handle[i].placement, i);
			EXPECT_EQ(status->handle[i].handle, i);
			EXPECT_EQ(status->handle[i].seconds_left, 0u);
			left.push_back(status->handle[i].blocks_left);
		}
		return left;
	}
	hz::AdminResult feature(uint8_t opcode, uint32_t fid, uint32_t cdw11, uint32_t cdw12, uint32_t nsid)
	{
		nvme_sqe sqe = admin_command(b, opcode, nsid, fid, cdw11);
		sqe.cdw12 = cdw12;
		return b.controller().admin(sqe);
	}
	uint16_t note(uint32_t handle, std::vector<uint8_t> types, bool on)
	{
		std::memcpy(b.at(b.page(0)), types.data(), types.size());
		return feature(NVME_ADMIN_SET_FEATURES, NVME_FEAT_FDP_EVENTS, handle | static_cast<uint32_t>(types.size()) << 16, on, 1)
			.status;
	}
	uint16_t log(uint8_t id, uint32_t bytes, uint32_t extra10 = 0, uint32_t group = 1)
	{
		nvme_sqe sqe = admin_command(b, NVME_ADMIN_GET_LOG_PAGE, 0, id | (bytes / 4 - 1) << 16 | extra10, group << 16);
		return b.controller().admin(sqe).status;
	}
	template <class T> const T &page() { return *reinterpret_cast<const T *>(b.at(b.page(0))); }

	static inline std::unique_ptr<Bench> bench_;
	Bench &b = *bench_;
};

TEST_F(Fdp, IdentifyTells)
{
	const Bytes data = b.controller().identify(NVME_CNS_CONTROLLER);
	nvme_identify_controller id;
	std::memcpy(&id, data.data(), sizeof id);
	EXPECT_TRUE(id.ctratt & NVME_CTRATT_FDP);
	EXPECT_TRUE(id.ctratt & NVME_CTRATT_ENDURANCE_GROUPS);
	EXPECT_TRUE(id.oacs & NVME_OACS_DIRECTIVES);
}

TEST_F(Fdp, Configurations)
{
	EXPECT_EQ(log(NVME_LOG_FDP_CONFIGURATIONS, 512, 0, 0), NVME_INVALID_FIELD);
	ASSERT_EQ(log(NVME_LOG_FDP_CONFIGURATIONS, 512), NVME_SUCCESS);
	EXPECT_EQ(page<nvme_fdp_configurations>().count, 0);
	const auto &one = *reinterpret_cast<const nvme_fdp_configuration *>(b.at(b.page(0)) + sizeof(nvme_fdp_configurations));
	EXPECT_TRUE(one.attributes & NVME_FDP_VALID);
	EXPECT_EQ(one.attributes & 0xf, 0) << "an identifier is a placement handle";
	EXPECT_EQ(one.groups, 1u);
	EXPECT_EQ(one.handles, handles);
	EXPECT_EQ(one.unit_bytes, unit * 4096u);
	for (uint32_t i = 0; i < handles; i++)
		EXPECT_EQ(one.handle[i].type, NVME_HANDLE_INITIALLY_ISOLATED);
	ASSERT_EQ(log(NVME_LOG_FDP_HANDLES, 512), NVME_SUCCESS);
	EXPECT_EQ(page<nvme_handles_log>().count, handles);
	for (uint32_t i = 0; i < handles; i++)
		EXPECT_EQ(page<nvme_handles_log>().handle[i].use, NVME_HANDLE_OF_HOST);
}

TEST_F(Fdp, Features)
{
	const hz::AdminResult found = feature(NVME_ADMIN_GET_FEATURES, NVME_FEAT_FDP, 1, 0, 0);
	EXPECT_EQ(found.status, NVME_SUCCESS);
	EXPECT_EQ(found.dw0, 1u) << "enabled, with configuration 0";
	EXPECT_EQ(feature(NVME_ADMIN_GET_FEATURES, NVME_FEAT_FDP, 2, 0, 0).status, NVME_INVALID_FIELD);
	EXPECT_EQ(feature(NVME_ADMIN_SET_FEATURES, NVME_FEAT_FDP, 1, 0, 0).status, NVME_FEATURE_NOT_CHANGEABLE);
	EXPECT_EQ(note(0, {NVME_FDP_UNIT_NOT_FULL}, true), NVME_SUCCESS);
	EXPECT_EQ(note(0, {0x05}, true), NVME_INVALID_FIELD);
	EXPECT_EQ(note(handles, {NVME_FDP_UNIT_NOT_FULL}, true), NVME_INVALID_FIELD);
	EXPECT_EQ(feature(NVME_ADMIN_GET_FEATURES, NVME_FEAT_FDP_EVENTS, 3 << 16, 0, 1).dw0, 3u);
	EXPECT_EQ(page<nvme_fdp_event_choice>().enabled, 1);
	EXPECT_EQ(note(0, {NVME_FDP_UNIT_NOT_FULL}, false), NVME_SUCCESS);
}

TEST_F(Fdp, WritesFillTheUnitOfTheirHandle)
{
	ASSERT_EQ(room(), std::vector<uint64_t>(handles, unit));
	ASSERT_EQ(write(0, 1), NVME_SUCCESS);
	ASSERT_EQ(write(1, 2), NVME_SUCCESS);
	ASSERT_EQ(write(2, 2), NVME_SUCCESS);
	ASSERT_EQ(write(3, 2, 0), NVME_SUCCESS) << "without the directive";
	EXPECT_EQ(room(), (std::vector<uint64_t>{unit - 1, unit - 1, unit - 2}));
	ASSERT_EQ(b.raw(placed(NVME_IO_WRITE_ZEROES, 10, 5, 1)).status, NVME_SUCCESS);
	ASSERT_EQ(b.raw(placed(NVME_IO_WRITE_UNCORRECTABLE, 20, 2, 2)).status, NVME_SUCCESS);
	EXPECT_EQ(room(), (std::vector<uint64_t>{unit - 1, unit - 6, unit - 4}));
	for (uint16_t lba : {20, 21})
		ASSERT_EQ(write(lba, 0), NVME_SUCCESS);
	EXPECT_EQ(write(0, 1, NVME_DIRECTIVE_STREAMS), NVME_INVALID_FIELD) << "not supported";
	EXPECT_EQ(write(0, 1, 0xf), NVME_INVALID_FIELD);
	EXPECT_EQ(room()[0], unit - 3);
}

TEST_F(Fdp, AnInvalidIdentifierIsHandleZero)
{
	ASSERT_EQ(note(0, {NVME_FDP_INVALID_PLACEMENT}, true), NVME_SUCCESS);
	ASSERT_EQ(log(NVME_LOG_FDP_EVENTS, 4096, NVME_FDP_HOST_EVENTS), NVME_SUCCESS);
	const uint32_t before = page<nvme_fdp_events>().count;
	ASSERT_EQ(write(5, 0x1234), NVME_SUCCESS);
	EXPECT_EQ(room(), (std::vector<uint64_t>{unit - 1, unit, unit}));
	ASSERT_EQ(log(NVME_LOG_FDP_EVENTS, 4096, NVME_FDP_HOST_EVENTS), NVME_SUCCESS);
	ASSERT_EQ(page<nvme_fdp_events>().count, before + 1);
	const auto &event = page<nvme_fdp_events>().event[before];
	EXPECT_EQ(event.type, NVME_FDP_INVALID_PLACEMENT);
	EXPECT_EQ(event.placement, 0x1234);
	EXPECT_EQ(event.nsid, 1u);
	EXPECT_EQ(note(0, {NVME_FDP_INVALID_PLACEMENT}, false), NVME_SUCCESS);
}

TEST_F(Fdp, UpdatesLeaveUnits)
{
	ASSERT_EQ(note(1, {NVME_FDP_UNIT_NOT_FULL}, true), NVME_SUCCESS);
	ASSERT_EQ(write(40, 1), NVME_SUCCESS);
	ASSERT_EQ(update({1}), NVME_SUCCESS);
	EXPECT_EQ(room()[1], unit);
	ASSERT_EQ(log(NVME_LOG_FDP_EVENTS, 4096, NVME_FDP_HOST_EVENTS), NVME_SUCCESS);
	const uint32_t count = page<nvme_fdp_events>().count;
	ASSERT_GT(count, 0u);
	EXPECT_EQ(page<nvme_fdp_events>().event[count - 1].type, NVME_FDP_UNIT_NOT_FULL);
	EXPECT_EQ(page<nvme_fdp_events>().event[count - 1].handle, 1);
	EXPECT_EQ(update({0, 1, handles}), NVME_INVALID_FIELD);
	EXPECT_EQ(update({0, 1, 2, 0}), NVME_INVALID_FIELD) << "too many";
	EXPECT_EQ(update({7}, 2), NVME_INVALID_FIELD);
	EXPECT_EQ(update({7}, NVME_IO_MGMT_NOTHING), NVME_SUCCESS);
	Bytes in(4096);
	EXPECT_EQ(b.run(hz::QueuePair::read(40, 1), {}, &in).status, NVME_SUCCESS);
	nvme_sqe all = io_command(b, NVME_IO_MGMT_RECEIVE);
	all.nsid = NVME_NSID_ALL;
	EXPECT_EQ(b.raw(all).status, NVME_INVALID_NAMESPACE);
}

TEST_F(Fdp, StatisticsGrow)
{
	ASSERT_EQ(log(NVME_LOG_FDP_STATISTICS, 64), NVME_SUCCESS);
	const nvme_fdp_statistics before = page<nvme_fdp_statistics>();
	for (int round = 0; round < 40; round++)
		for (uint64_t lba = 0; lba < 96; lba += 32)
			ASSERT_EQ(b.run(hz::QueuePair::write(lba, 32), placed_pattern(lba, 32, 1)).status, NVME_SUCCESS);
	ASSERT_EQ(b.status(hz::QueuePair::flush()), NVME_SUCCESS);
	ASSERT_EQ(log(NVME_LOG_FDP_STATISTICS, 64), NVME_SUCCESS);
	const nvme_fdp_statistics after = page<nvme_fdp_statistics>();
	EXPECT_EQ(after.host_bytes[0] - before.host_bytes[0], 40u * 96 * 4096);
	EXPECT_GE(after.media_bytes[0] - before.media_bytes[0], 40u * 96 * 4096);
	EXPECT_GT(after.erased_bytes[0], before.erased_bytes[0]);
	EXPECT_EQ(after.erased_bytes[0] % (1 << 12), 0u);
}

TEST_F(Fdp, Directives)
{
	nvme_sqe sqe = admin_command(b, NVME_ADMIN_DIRECTIVE_RECEIVE, 1, 1023, NVME_DIRECTIVE_RETURN);
	ASSERT_EQ(b.controller().admin(sqe).status, NVME_SUCCESS);
	EXPECT_TRUE(page<nvme_directives>().enabled[0] & 1 << NVME_DIRECTIVE_PLACEMENT);
	sqe.opcode = NVME_ADMIN_DIRECTIVE_SEND;
	EXPECT_EQ(b.controller().admin(sqe).status, NVME_INVALID_FIELD);
}

} // namespace fdp_test
} // namespace conform
