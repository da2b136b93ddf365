// Offline check of a NAND image: contents, readable and unreadable data. The file is not changed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>

#include "device_config.h"
#include "image/image_report.hpp"

namespace hz {

// `device`: replaces the config in the image. Throws Error if the file cannot be opened.
ImageReport check_image(const std::filesystem::path &file, const std::optional<hz_device_config> &device = {});

} // namespace hz
