/* Sectors that a trace reads before it writes them: written before the measurement, so that reads
 * find data. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/trace_cut.hpp"

#include <deque>

namespace hz::replay {

/* One list of writes for each cut, empty with preload: false, from one pass through the trace,
 * which also finds addresses that the cuts refuse. Shows its progress on stderr. Throws
 * trace::TraceError and Interrupted. */
std::vector<std::deque<wl::BlockOp>> find_preloads(const std::vector<TraceCut> &cuts);

} // namespace hz::replay
