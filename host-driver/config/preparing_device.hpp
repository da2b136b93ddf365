/* The device that is prepared in place of one that shares its flash. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "device_config.h"

namespace hz::conf {

/* The same flash and policies, with the sections `harts`, `locks` and `clock` of a file that does not have them, no lock statistics, no
 * limits of memory and no time on the shelf: devices that differ in nothing else, or in their names, are prepared alike. Of workers there
 * are as many as the write frontiers need. */
hz_device_config preparing_device(const hz_device_config &cfg);

} // namespace hz::conf
