// SqliteCompute: the CPU clock of a thread.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/sqlite/sqlite_compute.hpp"

#include <ctime>

namespace hz::sql {

uint64_t MeasuredCompute::now()
{
	timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

} // namespace hz::sql
