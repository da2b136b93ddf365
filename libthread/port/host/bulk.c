/* Bulk work in a host program. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/bulk.h"

#include <string.h>

#include "unseen.h"

void bulk_copy(void *dst, const void *src, size_t bytes) { memcpy(dst, src, bytes); }
void bulk_fill(void *dst, uint8_t value, size_t bytes) { memset(dst, value, bytes); }

/* A sanitizer looks at a whole copy at once, and at each word of a loop: for a sector that took as long as everything else. */
void bulk_lanes(struct hz_lanes *lanes, const void *data, size_t bytes)
{
	uint64_t own[512];
	const uint8_t *from = data;

	for (size_t part; bytes; from += part, bytes -= part) {
		part = bytes < sizeof(own) ? bytes : sizeof(own);
		memcpy(own, from, part);
		lanes_mix_unseen(lanes, own, part);
	}
}
