/* Bulk work in a host program. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/bulk.h"

#include <string.h>

#include "lt/arch.h"
#include "unseen.h"

#if defined(HZ_SANITIZED_ADDRESSES)
#include <sanitizer/asan_interface.h>
#endif

void bulk_copy(void *dst, const void *src, size_t bytes) { memcpy(dst, src, bytes); }
void bulk_fill(void *dst, uint8_t value, size_t bytes) { memset(dst, value, bytes); }

/* A sanitizer checks all of it at once, and not each word of the loop: that took as long for a sector as everything else. */
#if defined(HZ_SANITIZED_ADDRESSES)
void bulk_lanes(struct hz_lanes *lanes, const void *data, size_t bytes)
{
	if (__asan_region_is_poisoned((void *)data, bytes))
		lt_fail("bulk_lanes: some of the data is nobody's memory");
	lanes_mix_unseen(lanes, data, bytes);
}
#else
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
#endif
