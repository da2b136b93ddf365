// The only thread's part of a block trace, as a plan makes it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "replay/trace_blocks.hpp"
#include "replay/trace_preload.hpp"

namespace hz::replay {

inline std::unique_ptr<TraceBlocks> blocks_of(const wl::TraceSpec &spec, uint64_t space)
{
	const TraceCut cut{survey_trace(spec), 0, space};
	return std::make_unique<TraceBlocks>(cut, std::move(find_preloads({cut}).front()));
}

} // namespace hz::replay
