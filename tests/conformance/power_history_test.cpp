// SMART's power history (base spec 5.16.1.3): counted on the image, over lives that end in every way.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <filesystem>

#include "command_case.hpp"

namespace conform {
namespace power_history_test {

class PowerHistory : public ::testing::Test {
protected:
	void SetUp() override { std::filesystem::remove(image_); }
	void TearDown() override { std::filesystem::remove(image_); }

	static nvme_smart_log smart(hz::Controller &controller)
	{
		nvme_smart_log log;
		std::memcpy(&log, controller.log_page(NVME_LOG_SMART, sizeof(log)).data(), sizeof(log));
		return log;
	}
	void expect(hz::Controller &controller, uint64_t cycles, uint64_t unsafe)
	{
		const nvme_smart_log log = smart(controller);
		EXPECT_EQ(log.power_cycles[0], cycles);
		EXPECT_EQ(log.unsafe_shutdowns[0], unsafe);
		EXPECT_EQ(log.power_cycles[1] | log.unsafe_shutdowns[1], 0u);
	}
	std::unique_ptr<hz::Machine> boot()
	{
		hz::MachineOptions options;
		options.config = small_config();
		options.nand_image = image_;
		return hz::Machine::launch(options);
	}
	static void shut_down(hz::Machine &machine, hz::Controller &controller)
	{
		controller.shutdown();
		controller.disconnect();
		machine.wait_exit(std::chrono::seconds(10));
	}

	const std::filesystem::path image_ = ::testing::TempDir() + "/power-history-" + std::to_string(getpid()) + ".img";
};

TEST_F(PowerHistory, CountsStartsAndUnsafeShutdownsOverRestarts)
{
	{
		auto machine = boot();
		hz::Controller controller(*machine);
		controller.enable();
		expect(controller, 1, 0);
		controller.enable();
		expect(controller, 1, 0); // a controller reset is no power cycle
		shut_down(*machine, controller);
	}
	{
		auto machine = boot();
		hz::Controller controller(*machine);
		controller.enable();
		expect(controller, 2, 0);
		machine->kill();
	}
	{
		auto machine = boot();
		hz::Controller controller(*machine);
		controller.enable();
		expect(controller, 3, 1);
		controller.shutdown();
		controller.enable(); // used again, and not shut down again
		machine->kill();
	}
	auto machine = boot();
	hz::Controller controller(*machine);
	controller.enable();
	expect(controller, 4, 2);
	shut_down(*machine, controller);
}

} // namespace power_history_test
} // namespace conform
