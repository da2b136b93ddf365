// Offline check of a NAND image: what is in it, what can be read, and what cannot. The file is not changed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>

#include "device_config.h"
#include "image/image_report.hpp"

namespace hz {

// `device`: instead of the config that the image carries. Throws Error if the file cannot be opened.
ImageReport check_image(const std::filesystem::path &file, const std::optional<hz_device_config> &device = {});

} // namespace hz
