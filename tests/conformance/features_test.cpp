// Get Features and Set Features (base spec 5.15, 5.27).
// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include "command_case.hpp"

namespace conform {
namespace features_test {

constexpr uint32_t save = 1u << 31;

auto get(uint32_t fid, uint32_t select = 0, uint32_t cdw11 = 0)
{
	return [=](Bench &b) { return admin_command(b, NVME_ADMIN_GET_FEATURES, 0, fid | select << 8, cdw11); };
}
auto set(uint32_t cdw10, uint32_t cdw11 = 0, uint32_t nsid = 0)
{
	return [=](Bench &b) {
		b.disturb();
		return admin_command(b, NVME_ADMIN_SET_FEATURES, nsid, cdw10, cdw11);
	};
}

const CommandCase cases[] = {
	{"GetArbitration", NVME_SUCCESS, get(NVME_FEAT_ARBITRATION)},
	{"GetPowerManagement", NVME_SUCCESS, get(NVME_FEAT_POWER_MANAGEMENT)},
	{"GetTemperatureThreshold", NVME_SUCCESS, get(NVME_FEAT_TEMPERATURE_THRESHOLD)},
	{"GetErrorRecovery", NVME_SUCCESS, get(NVME_FEAT_ERROR_RECOVERY)},
	{"GetWriteCache", NVME_SUCCESS, get(NVME_FEAT_VOLATILE_WRITE_CACHE)},
	{"GetNumberOfQueues", NVME_SUCCESS, get(NVME_FEAT_NUMBER_OF_QUEUES)},
	{"GetInterruptCoalescing", NVME_SUCCESS, get(NVME_FEAT_INTERRUPT_COALESCING)},
	{"GetInterruptVector", NVME_SUCCESS, get(NVME_FEAT_INTERRUPT_VECTOR, 0, 1)},
	{"GetInterruptVectorBeyondTheLast", NVME_INVALID_FIELD, get(NVME_FEAT_INTERRUPT_VECTOR, 0, 65)},
	{"GetWriteAtomicity", NVME_SUCCESS, get(NVME_FEAT_WRITE_ATOMICITY)},
	{"GetAsyncEvents", NVME_SUCCESS, get(NVME_FEAT_ASYNC_EVENT)},
	{"GetCommandSetProfile", NVME_SUCCESS, get(NVME_FEAT_IOCS_PROFILE)},
	{"GetDefault", NVME_SUCCESS, get(NVME_FEAT_VOLATILE_WRITE_CACHE, NVME_FEAT_DEFAULT)},
	{"GetSaved", NVME_SUCCESS, get(NVME_FEAT_VOLATILE_WRITE_CACHE, NVME_FEAT_SAVED)},
	{"GetReservedSelect", NVME_INVALID_FIELD, get(NVME_FEAT_VOLATILE_WRITE_CACHE, 4)},
	{"GetFeatureZero", NVME_INVALID_FIELD, get(0)},
	{"GetLbaRangeType", NVME_INVALID_FIELD, get(0x03)},
	{"GetHostMemoryBuffer", NVME_INVALID_FIELD, get(0x0d)},
	{"GetVendorFeature", NVME_INVALID_FIELD, get(0xc0)},
	{"SetArbitration", NVME_SUCCESS, set(NVME_FEAT_ARBITRATION, 3)},
	{"SetPowerStateZero", NVME_SUCCESS, set(NVME_FEAT_POWER_MANAGEMENT, 0)},
	{"SetPowerStateThatIsNotThere", NVME_INVALID_FIELD, set(NVME_FEAT_POWER_MANAGEMENT, 1)},
	{"SetTemperatureThreshold", NVME_FEATURE_NOT_CHANGEABLE, set(NVME_FEAT_TEMPERATURE_THRESHOLD, 350)},
	{"SetErrorRecovery", NVME_FEATURE_NOT_CHANGEABLE, set(NVME_FEAT_ERROR_RECOVERY, 77)},
	{"SetInterruptCoalescing", NVME_FEATURE_NOT_CHANGEABLE, set(NVME_FEAT_INTERRUPT_COALESCING, 0x0503)},
	{"SetInterruptVector", NVME_FEATURE_NOT_CHANGEABLE, set(NVME_FEAT_INTERRUPT_VECTOR, 1)},
	{"GetThresholdOfASensor", NVME_INVALID_FIELD, get(NVME_FEAT_TEMPERATURE_THRESHOLD, 0, 1 << 16)},
	{"SetWriteCacheOff", NVME_SUCCESS, set(NVME_FEAT_VOLATILE_WRITE_CACHE, 0)},
	{"SetWriteCacheByBroadcast", NVME_SUCCESS, set(NVME_FEAT_VOLATILE_WRITE_CACHE, 1, NVME_NSID_ALL)},
	{"SetPerNamespace", NVME_FEATURE_NOT_PER_NAMESPACE, set(NVME_FEAT_VOLATILE_WRITE_CACHE, 1, 1)},
	{"SaveWriteCache", NVME_SUCCESS, set(NVME_FEAT_VOLATILE_WRITE_CACHE | save, 1)},
	{"SaveArbitration", NVME_SUCCESS, set(NVME_FEAT_ARBITRATION | save, 0)},
	{"SaveWriteAtomicity", NVME_SUCCESS, set(NVME_FEAT_WRITE_ATOMICITY | save, 0)},
	{"SaveAsyncEvents", NVME_SUCCESS, set(NVME_FEAT_ASYNC_EVENT | save, 0)},
	{"SaveBadWriteCache", NVME_INVALID_FIELD, set(NVME_FEAT_VOLATILE_WRITE_CACHE | save, 2)},
	{"SavePerNamespace", NVME_FEATURE_NOT_PER_NAMESPACE, set(NVME_FEAT_VOLATILE_WRITE_CACHE | save, 1, 1)},
	{"SavePowerState", NVME_FEATURE_NOT_SAVEABLE, set(NVME_FEAT_POWER_MANAGEMENT | save, 0)},
	{"SaveQueueCount", NVME_FEATURE_NOT_SAVEABLE, set(NVME_FEAT_NUMBER_OF_QUEUES | save, 0)},
	{"SaveTemperatureThreshold", NVME_FEATURE_NOT_SAVEABLE, set(NVME_FEAT_TEMPERATURE_THRESHOLD | save, 350)},
	{"SaveErrorRecovery", NVME_FEATURE_NOT_SAVEABLE, set(NVME_FEAT_ERROR_RECOVERY | save, 1)},
	{"SaveInterruptCoalescing", NVME_FEATURE_NOT_SAVEABLE, set(NVME_FEAT_INTERRUPT_COALESCING | save, 1)},
	{"SaveInterruptVector", NVME_FEATURE_NOT_SAVEABLE, set(NVME_FEAT_INTERRUPT_VECTOR | save, 1)},
	{"SaveCommandSetProfile", NVME_FEATURE_NOT_SAVEABLE, set(NVME_FEAT_IOCS_PROFILE | save, 0)},
	{"SaveUnknown", NVME_INVALID_FIELD, set(0x0d | save)},
	{"SetUnknown", NVME_INVALID_FIELD, set(0x0d)},
	{"SetFeatureZero", NVME_INVALID_FIELD, set(0)},
	{"SetVendorFeature", NVME_INVALID_FIELD, set(0xc0)},
	{"SetQueuesAfterTheFirstQueue", NVME_COMMAND_SEQUENCE, set(NVME_FEAT_NUMBER_OF_QUEUES, 3 << 16 | 3)},
	{"SetQueuesTo65536", NVME_INVALID_FIELD, set(NVME_FEAT_NUMBER_OF_QUEUES, 0xffffffff)},
	{"SetSubmissionQueuesTo65536", NVME_INVALID_FIELD, set(NVME_FEAT_NUMBER_OF_QUEUES, 0x0000ffff)},
	{"SetCommandSetProfileZero", NVME_SUCCESS, set(NVME_FEAT_IOCS_PROFILE, 0)},
	{"SetAsyncEvents", NVME_SUCCESS, set(NVME_FEAT_ASYNC_EVENT, 0x1f)},
	{"SetNamespaceNotices", NVME_SUCCESS, set(NVME_FEAT_ASYNC_EVENT, 1 << 8)},
	{"SetNoticesThatAreNotGiven", NVME_INVALID_FIELD, set(NVME_FEAT_ASYNC_EVENT, 1 << 9)},
};

class Features : public AdminCommand {};
TEST_P(Features, Status) { check(); }
INSTANTIATE_TEST_SUITE_P(All, Features, ::testing::ValuesIn(cases), case_name);

class FeatureValues : public Device {};

TEST_F(FeatureValues, StayAsSetUntilAControllerReset)
{
	struct {
		uint8_t fid;
		uint32_t value;
	} values[] = {
		{NVME_FEAT_ARBITRATION, 4},
		{NVME_FEAT_VOLATILE_WRITE_CACHE, 0},
		{NVME_FEAT_WRITE_ATOMICITY, 1},
		{NVME_FEAT_ASYNC_EVENT, 0x7},
	};
	auto &controller = bench().controller();
	bench().disturb();
	for (auto [fid, value] : values) {
		uint32_t initial = controller.get_feature(fid);
		controller.set_feature(fid, value);
		EXPECT_EQ(controller.get_feature(fid), value) << "feature " << int(fid);
		nvme_sqe sqe = admin_command(bench(), NVME_ADMIN_GET_FEATURES, 0, fid | NVME_FEAT_DEFAULT << 8);
		EXPECT_EQ(controller.admin(sqe).dw0, initial) << "feature " << int(fid);
	}
	bench().restart();
	for (auto [fid, value] : values)
		EXPECT_NE(controller.get_feature(fid), value) << "feature " << int(fid) << " returns to its default";
}

TEST_F(FeatureValues, SavedOnesStayThroughResetAndPowerCut)
{
	const std::filesystem::path image = ::testing::TempDir() + "/features-" + std::to_string(getpid()) + ".img";
	std::filesystem::remove(image);
	hz::MachineOptions options;
	options.config = small_config();
	options.nand_image = image;
	auto boot = [&](auto use) {
		auto machine = hz::Machine::launch(options);
		hz::Controller controller(*machine);
		controller.enable();
		use(controller);
		machine->kill(); // as a power cut
	};
	auto value = [](hz::Controller &controller, uint32_t fid, uint32_t select) {
		nvme_sqe sqe{};
		sqe.opcode = NVME_ADMIN_GET_FEATURES;
		sqe.cdw10 = fid | select << 8;
		return controller.admin(sqe).dw0;
	};
	auto saved = [](hz::Controller &controller, uint32_t fid, uint32_t value) {
		nvme_sqe sqe{};
		sqe.opcode = NVME_ADMIN_SET_FEATURES;
		sqe.cdw10 = fid | save;
		sqe.cdw11 = value;
		return controller.admin(sqe).status;
	};
	boot([&](hz::Controller &controller) {
		EXPECT_EQ(saved(controller, NVME_FEAT_ARBITRATION, 4), NVME_SUCCESS);
		EXPECT_EQ(saved(controller, NVME_FEAT_VOLATILE_WRITE_CACHE, 0), NVME_SUCCESS);
		controller.set_feature(NVME_FEAT_WRITE_ATOMICITY, 1);
		controller.set_feature(NVME_FEAT_ARBITRATION, 2);
		controller.enable();
		EXPECT_EQ(value(controller, NVME_FEAT_ARBITRATION, NVME_FEAT_CURRENT), 4u) << "after a controller reset";
	});
	boot([&](hz::Controller &controller) {
		EXPECT_EQ(value(controller, NVME_FEAT_ARBITRATION, NVME_FEAT_CURRENT), 4u);
		EXPECT_EQ(value(controller, NVME_FEAT_ARBITRATION, NVME_FEAT_SAVED), 4u);
		EXPECT_EQ(value(controller, NVME_FEAT_ARBITRATION, NVME_FEAT_DEFAULT), 0u);
		EXPECT_EQ(value(controller, NVME_FEAT_VOLATILE_WRITE_CACHE, NVME_FEAT_CURRENT), 0u);
		EXPECT_EQ(value(controller, NVME_FEAT_WRITE_ATOMICITY, NVME_FEAT_CURRENT), 0u) << "set without being saved";
		EXPECT_EQ(saved(controller, NVME_FEAT_ARBITRATION, 0), NVME_SUCCESS);
	});
	boot([&](hz::Controller &controller) { EXPECT_EQ(value(controller, NVME_FEAT_ARBITRATION, NVME_FEAT_CURRENT), 0u); });
	std::filesystem::remove(image);
}

TEST_F(FeatureValues, CapabilitiesAreThoseOfSetFeatures)
{
	for (uint32_t fid : {1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 0x19}) {
		nvme_sqe sqe = admin_command(bench(), NVME_ADMIN_GET_FEATURES, 0, fid | NVME_FEAT_CAPABILITIES << 8);
		auto result = bench().controller().admin(sqe);
		ASSERT_EQ(result.status, NVME_SUCCESS) << "feature " << fid;
		bool fixed = fid == NVME_FEAT_TEMPERATURE_THRESHOLD || fid == NVME_FEAT_ERROR_RECOVERY ||
			     fid == NVME_FEAT_INTERRUPT_COALESCING || fid == NVME_FEAT_INTERRUPT_VECTOR;
		bool saveable = fid == NVME_FEAT_ARBITRATION || fid == NVME_FEAT_VOLATILE_WRITE_CACHE || fid == NVME_FEAT_WRITE_ATOMICITY ||
				fid == NVME_FEAT_ASYNC_EVENT;
		EXPECT_EQ(result.dw0, (fixed ? 0u : NVME_FEAT_CAP_CHANGEABLE) | (saveable ? NVME_FEAT_CAP_SAVEABLE : 0u))
			<< "feature " << fid;
	}
}

TEST_F(FeatureValues, QueueCountIsWhatTheDeviceHas)
{
	auto &controller = bench().controller();
	bench().disturb();
	controller.enable(); // asks for 64
	EXPECT_EQ(controller.get_feature(NVME_FEAT_NUMBER_OF_QUEUES), 63u << 16 | 63u);
	EXPECT_EQ(controller.set_feature(NVME_FEAT_NUMBER_OF_QUEUES, 999u << 16 | 999u), 63u << 16 | 63u);
}

TEST_F(FeatureValues, NoVectorIsCoalesced)
{
	for (uint32_t vector : {0u, 5u, 64u})
		EXPECT_EQ(bench().controller().get_feature(NVME_FEAT_INTERRUPT_VECTOR, vector), 1u << 16 | vector);
}

TEST_F(FeatureValues, WithTheWriteCacheOffAWriteIsDurableAtOnce)
{
	bench().pristine();
	bench().disturb();
	bench().controller().set_feature(NVME_FEAT_VOLATILE_WRITE_CACHE, 0);
	auto before = bench().controller().log_flash();
	ASSERT_EQ(bench().write(0, 1), NVME_SUCCESS);
	auto after = bench().controller().log_flash();
	uint64_t programmed = 0;
	for (unsigned cause = 0; cause < HZ_CAUSES; cause++)
		programmed += after.program_sectors[cause] - before.program_sectors[cause];
	EXPECT_GE(programmed, 1u);
}

} // namespace features_test
} // namespace conform
