// The program: a watch over every case, since a device that never answers would hang its host.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "bench.hpp"

namespace {

using namespace std::chrono_literals;
constexpr auto case_limit = 30s;

// Ends the process when a case lasts too long; the machine's janitor cleans up behind it.
class CaseWatch : public ::testing::EmptyTestEventListener {
public:
	CaseWatch() : thread_([this] { watch(); }) {}
	~CaseWatch() override
	{
		set("", true);
		thread_.join();
	}

private:
	void OnTestStart(const ::testing::TestInfo &info) override { set(std::string(info.test_suite_name()) + "." + info.name()); }
	void OnTestEnd(const ::testing::TestInfo &) override { set(""); }

	void set(const std::string &name, bool leave = false)
	{
		std::lock_guard hold(lock_);
		name_ = name;
		leave_ = leave;
		serial_++;
		changed_.notify_all();
	}

	void watch()
	{
		std::unique_lock hold(lock_);
		while (!leave_) {
			unsigned before = serial_;
			if (changed_.wait_for(hold, case_limit, [&] { return serial_ != before; }) || name_.empty())
				continue;
			std::fprintf(stderr, "[  FAILED  ] %s: the device gave no answer within 30 s\n", name_.c_str());
			std::_Exit(1);
		}
	}

	std::mutex lock_;
	std::condition_variable changed_;
	std::string name_;
	unsigned serial_ = 0;
	bool leave_ = false;
	std::thread thread_;
};

} // namespace

int main(int argc, char **argv)
{
	::testing::InitGoogleTest(&argc, argv);
	::testing::UnitTest::GetInstance()->listeners().Append(new CaseWatch);
	int result = RUN_ALL_TESTS();
	conform::Bench::drop_shared();
	return result;
}
