/* Bulk work in a host program. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/bulk.h"

#include <string.h>

void bulk_copy(void *dst, const void *src, size_t bytes) { memcpy(dst, src, bytes); }
void bulk_fill(void *dst, uint8_t value, size_t bytes) { memset(dst, value, bytes); }
void bulk_lanes(struct hz_lanes *lanes, const void *data, size_t bytes) { hz_lanes_mix(lanes, data, bytes); }
