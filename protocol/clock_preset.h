/* Presets of the virtual clock's costs: for device files and for the plugin alike. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_CLOCK_PRESET_H
#define HZ_PROTOCOL_CLOCK_PRESET_H

#include "device_config.h"

#ifdef __cplusplus
extern "C" {
#endif
/* All costs as the preset has them, mhz too. */
void hz_clock_preset_costs(enum hz_clock_preset preset, struct hz_clock_costs *costs);
#ifdef __cplusplus
}
#endif

#endif
