// LayerWays: options of the file layer, from command lines and in results.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <optional>

#include "apps/hzfs/cleaner_policy.hpp"

namespace hz::fs {

struct LayerWays {
	uint32_t nsid = 1; // of the namespace with the files
	bool in_place = false, slack = false, copy_offload = false, iotailor = false;
	uint64_t page_cache = 0;               // bytes of blocks kept in host memory; 0: none
	uint64_t aged = 0;                     // percent of the space that files shall have before anything is measured; 0: as it is
	std::optional<CleanerKnobs> cleaner{}; // in the background
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CleanerKnobs, no_gc, boost, valid, window, boost_multiple, boost_greedy, segment_blocks,
						pause_ns, boost_pause_ns)

inline void to_json(nlohmann::json &out, const LayerWays &ways)
{
	out = {{"nsid", ways.nsid},         {"in_place", ways.in_place},     {"slack", ways.slack}, {"copy_offload", ways.copy_offload},
	       {"iotailor", ways.iotailor}, {"page_cache", ways.page_cache}, {"aged", ways.aged}};
	if (ways.cleaner)
		out["cleaner"] = *ways.cleaner;
}

inline void from_json(const nlohmann::json &in, LayerWays &ways)
{
	ways.nsid = in.value("nsid", 1u);
	ways.in_place = in.value("in_place", false);
	ways.slack = in.value("slack", false);
	ways.copy_offload = in.value("copy_offload", false);
	ways.iotailor = in.value("iotailor", false);
	ways.page_cache = in.value("page_cache", uint64_t(0));
	ways.aged = in.value("aged", uint64_t(0));
	if (in.contains("cleaner"))
		ways.cleaner = in.at("cleaner").get<CleanerKnobs>();
}

} // namespace hz::fs
