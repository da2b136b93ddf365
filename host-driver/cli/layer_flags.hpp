// LayerFlags: options of the file layer.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include "apps/hzfs/stack/layer_ways.hpp"

namespace hz::cli {

struct LayerFlags {
	hz::fs::LayerWays ways;

	void add_to(CLI::App &command);
};

} // namespace hz::cli
