/* The usual placement of roles on harts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "device_config.h"

namespace hz::conf {

/* One thread per hart: cfg.hil_count HIL harts from 0 on, then the TSUs, then the workers. */
void place_roles(hz_device_config &cfg, uint32_t tsus, uint32_t workers);

} // namespace hz::conf
