// SqliteCompute: device time charged for SQLite's own work: a fixed cost per call, or the measured
// one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "apps/sqlite/vfs.hpp"
#include "storage/queue/hartzone_device.hpp"

namespace hz::sql {

class FixedCompute : public store::HostCompute {
public:
	FixedCompute(Vfs &vfs, uint64_t call_ns) : vfs_(vfs), call_ns_(call_ns) {}
	uint64_t before_command() override { return vfs_.take_calls() * call_ns_; }
	void after_command() override {}

private:
	Vfs &vfs_;
	uint64_t call_ns_;
};

// CPU time of the thread; it varies between runs.
class MeasuredCompute : public store::HostCompute {
public:
	MeasuredCompute() { after_command(); }
	uint64_t before_command() override { return now() - last_; }
	void after_command() override { last_ = now(); }

private:
	static uint64_t now();
	uint64_t last_ = 0;
};

} // namespace hz::sql
