// LayerWays: how the layer of files works, as commands are told.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "hzfs/cleaner_policy.hpp"

namespace hz::fs {

struct LayerWays {
	bool in_place = false, slack = false, copy_offload = false, iotailor = false;
	std::optional<CleanerKnobs> cleaner{}; // in the background
};

} // namespace hz::fs
