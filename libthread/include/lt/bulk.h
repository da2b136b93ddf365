/* Bulk work on memory: work of a controller's DMA engines and checksum units. Call with the clock frozen, so that it costs no device
 * time; the plugin of the virtual clock then does it for the hart, at the host's speed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_BULK_H
#define LT_BULK_H

#include <stddef.h>
#include <stdint.h>

#include "lanes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any hart; as plain accesses to both ends. They must not overlap. */
void bulk_copy(void *dst, const void *src, size_t bytes);
void bulk_fill(void *dst, uint8_t value, size_t bytes);
/* As hz_lanes_mix. */
void bulk_lanes(struct hz_lanes *lanes, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
