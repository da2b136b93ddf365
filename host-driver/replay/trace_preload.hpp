/* What a trace reads before it writes it: written before the measurement starts, so that reads find data. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/trace_cut.hpp"

#include <deque>

namespace hz::replay {

/* One list of writes for each cut, empty with preload: false, from one look through the trace that also finds the addresses which the
 * cuts refuse. Shows its progress on stderr. Throws trace::TraceError and Interrupted. */
std::vector<std::deque<wl::BlockOp>> find_preloads(const std::vector<TraceCut> &cuts);

} // namespace hz::replay
