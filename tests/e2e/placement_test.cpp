// Placements: from everything on one hart to 18 harts, with up to four harts of the host interface or none but the workers, on both clocks,
// the data are right.
// SPDX-License-Identifier: BSD-3-Clause
#include "run_helper.hpp"

namespace e2e {
namespace {

struct Place {
	const char *name;
	uint32_t harts;
	std::vector<uint8_t> tsus, workers; // harts
	std::vector<uint8_t> hils = {0};
	hz_architecture architecture = HZ_ARCH_PIPELINE;
};

std::vector<uint8_t> range(uint8_t first, uint8_t count)
{
	std::vector<uint8_t> all;
	for (uint8_t i = 0; i < count; i++)
		all.push_back(static_cast<uint8_t>(first + i));
	return all;
}

class Placement : public ::testing::TestWithParam<std::tuple<Place, bool>> {};

INSTANTIATE_TEST_SUITE_P(
	Harts, Placement,
	::testing::Combine(::testing::Values(Place{"AllOnOne", 1, {0}, {0, 0}}, Place{"AllOnTwo", 2, {1}, {0, 1}},
					     Place{"WorkersShareTwo", 3, {0}, {1, 2, 1, 2}}, Place{"Three", 3, {1}, {2}},
					     Place{"Four", 4, {1}, {2, 3}}, Place{"Eight", 8, {1, 2}, range(3, 5)},
					     Place{"Sixteen", 16, {1, 2}, range(3, 13)}, Place{"TwoHils", 6, {2}, {3, 4, 5}, {0, 1}},
					     Place{"HilsShareAndFollow", 4, {0}, {1, 2, 3}, {3, 1, 2}},
					     Place{"FourHils", 18, {4, 5}, range(6, 12), range(0, 4)},
					     Place{"Completion", 6, {1}, range(2, 4), {0}, HZ_ARCH_COMPLETION},
					     Place{"CompletionBesideTsu", 3, {1}, {1, 2}, {0}, HZ_ARCH_COMPLETION},
					     Place{"CompletionByOne", 2, {0}, {1}, {0}, HZ_ARCH_COMPLETION}),
			   ::testing::Bool()),
	[](const auto &i) { return std::string(std::get<0>(i.param).name) + (std::get<1>(i.param) ? "Virtual" : "Real"); });

TEST_P(Placement, RunsVerified)
{
	const auto &[place, virtual_clock] = GetParam();
	hz::MachineOptions machine = crash_machine();
	machine.virtual_clock = virtual_clock;
	machine.config.harts = place.harts;
	machine.config.tsu_count = static_cast<uint32_t>(place.tsus.size());
	machine.config.worker_count = static_cast<uint32_t>(place.workers.size());
	machine.config.hil_count = static_cast<uint32_t>(place.hils.size());
	machine.config.architecture = place.architecture;
	std::copy(place.hils.begin(), place.hils.end(), machine.config.hil_hart);
	std::copy(place.tsus.begin(), place.tsus.end(), machine.config.tsu_hart);
	std::copy(place.workers.begin(), place.workers.end(), machine.config.worker_hart);
	const hz::wl::Workload workload = churn(4, 60);
	const hz::res::RunFacts facts = good_run(machine, workload);
	EXPECT_EQ(facts.harts.harts, place.harts);
	if (virtual_clock) {
		EXPECT_EQ(hz::res::digest_of(good_run(machine, workload)), hz::res::digest_of(facts));
	}
}

} // namespace
} // namespace e2e
