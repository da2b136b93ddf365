/* Records of a log: which sectors the write of each one covers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "workload/spec.hpp"

#include <cstdint>

namespace hz::wl {

/* Of the largest write of the thread. */
uint64_t most_sectors(const ThreadSpec &spec);

struct SectorRange {
	uint64_t first = 0, end = 0;
};

/* The blocks of the next record, in a space of `capacity` sectors that holds `filled` bytes of records, which it adds to. A record is cut
 * at the end of the space. */
SectorRange next_record(const ThreadSpec &spec, uint64_t &filled, uint64_t capacity);

} // namespace hz::wl
