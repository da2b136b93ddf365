/* A device as JSON, as results echo it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "device_config.h"

#include <nlohmann/json.hpp>

namespace hz::conf {

/* Every field of the record under its C name, with names for enumerations, and the derived shape under "shape". */
nlohmann::json device_to_json(const hz_device_config &cfg);

} // namespace hz::conf
