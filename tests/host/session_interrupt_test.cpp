// Interrupts: the first signal asks, or ends; the second ends; the third one is the system's.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <csignal>

#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"

namespace {

using namespace hz;

class Interrupts : public testing::Test {
protected:
	void SetUp() override { catch_interrupts(); }
	void TearDown() override { set_interrupted(false); }
};

TEST_F(Interrupts, TheFirstOneEndsEveryWait)
{
	EXPECT_NO_THROW(check_interrupted());
	raise(SIGTERM);
	EXPECT_THROW(check_interrupted(), Interrupted);
	EXPECT_FALSE(stop_asked()) << "nobody offered to stop in good order";
}

TEST_F(Interrupts, AGentleStopIsAskedForFirst)
{
	{
		GentleStop gentle;
		EXPECT_FALSE(stop_asked());
		raise(SIGINT);
		EXPECT_TRUE(stop_asked());
		EXPECT_NO_THROW(check_interrupted());
		raise(SIGHUP);
		EXPECT_THROW(check_interrupted(), Interrupted);
	}
	EXPECT_THROW(check_interrupted(), Interrupted);
}

TEST_F(Interrupts, WhatWasAskedForIsDueWhenTheOfferEnds)
{
	{
		GentleStop gentle;
		raise(SIGINT);
	}
	EXPECT_THROW(check_interrupted(), Interrupted);
}

TEST_F(Interrupts, TheThirdOneKills)
{
	GTEST_FLAG_SET(death_test_style, "threadsafe");
	EXPECT_EXIT(
		{
			raise(SIGINT);
			raise(SIGINT);
			raise(SIGINT);
		},
		testing::KilledBySignal(SIGINT), "");
}

} // namespace
