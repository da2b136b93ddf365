/* Presets of the virtual clock's costs: for device files and for the plugin alike. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_CLOCK_PRESET_H
#define HZ_PROTOCOL_CLOCK_PRESET_H

#include <stdbool.h>

#include "device_config.h"

/* With `ways` (1 or more) the sets of a cache of `bytes` are a power of two. 0 bytes: a cache without limit. */
static inline bool hz_cache_is_possible(uint32_t bytes, uint32_t ways)
{
	uint32_t set_bytes = ways * HZ_CACHE_LINE_BYTES, sets = bytes / set_bytes;

	return !bytes || (sets && sets * set_bytes == bytes && !(sets & (sets - 1)));
}

#ifdef __cplusplus
extern "C" {
#endif
/* All costs as the preset has them, mhz too. */
void hz_clock_preset_costs(enum hz_clock_preset preset, struct hz_clock_costs *costs);
#ifdef __cplusplus
}
#endif

#endif
