/* TestDelay: slows host threads at random, to show that device time does not notice. A test aid: HARTZONE_TEST_DELAY_US. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <random>

namespace hz {

/* Sleeps up to that many microseconds at one call in eight; does nothing when the variable is not set. */
class TestDelay {
public:
	TestDelay();
	void maybe();

private:
	unsigned longest_us_ = 0;
	std::minstd_rand random_;
};

} // namespace hz
