/* Lanes: four words, each mixed with every fourth word of some data. Any changed word changes its lane for certain, since a step is a
 * bijection of the lane. The checksum of a sector's data (nand/nand_checksum.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_LANES_H
#define HZ_PROTOCOL_LANES_H

#include <stddef.h>

#include "base.h"

#define HZ_LANE_MULTIPLIER 0x9e3779b97f4a7c15ull /* 2^64 / golden ratio, odd */

struct hz_lanes {
	uint64_t lane[4];
};

static inline uint64_t hz_lane_step(uint64_t lane, uint64_t word)
{
	lane = (lane ^ word) * HZ_LANE_MULTIPLIER;
#if defined(__clang__) /* takes the shifts for two more multiplications */
	return __builtin_rotateleft64(lane, 29);
#else
	return lane << 29 | lane >> 35;
#endif
}

/* data is 8-byte aligned, bytes a multiple of 32. */
static inline void hz_lanes_mix(struct hz_lanes *lanes, const void *data, size_t bytes)
{
	uint64_t a = lanes->lane[0], b = lanes->lane[1], c = lanes->lane[2], d = lanes->lane[3];
	const uint64_t *word = (const uint64_t *)data;

	for (size_t i = 0; i < bytes / sizeof(*word); i += 4) {
		a = hz_lane_step(a, word[i]);
		b = hz_lane_step(b, word[i + 1]);
		c = hz_lane_step(c, word[i + 2]);
		d = hz_lane_step(d, word[i + 3]);
	}
	lanes->lane[0] = a;
	lanes->lane[1] = b;
	lanes->lane[2] = c;
	lanes->lane[3] = d;
}

#endif
