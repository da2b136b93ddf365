/* Random delays of host threads; not seeded, on purpose. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/machine/test_delay.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

namespace hz {

TestDelay::TestDelay()
{
	if (const char *text = std::getenv("HARTZONE_TEST_DELAY_US"))
		longest_us_ = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
	if (longest_us_)
		random_.seed(std::random_device{}());
}

void TestDelay::maybe()
{
	if (longest_us_ && random_() % 8 == 0)
		std::this_thread::sleep_for(std::chrono::microseconds(random_() % longest_us_));
}

} // namespace hz
