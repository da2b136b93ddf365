/* The device used for preparation instead of another one with the same flash. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "device_config.h"

namespace hz::conf {

/* The same flash and policies, with default sections `harts`, `locks` and `clock`, no lock
 * statistics, no memory limits and no retention time: devices that differ only in these, or in
 * their names, share a preparation. The number of workers is that of the write frontiers. */
hz_device_config preparing_device(const hz_device_config &cfg);

} // namespace hz::conf
