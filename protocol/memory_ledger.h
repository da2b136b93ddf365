/* The ledger of a device's memory, written by the firmware into ivshmem #0 while it boots: each allocation with its owner, and the
 * memory that a controller would use for it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_MEMORY_LEDGER_H
#define HZ_PROTOCOL_MEMORY_LEDGER_H

#include "base.h"

enum hz_memory {
	HZ_MEMORY_SRAM,
	HZ_MEMORY_DRAM,
	HZ_MEMORY_LENT,  /* of mount: overlaps memory of other lines, before they are in use */
	HZ_MEMORY_MODEL, /* no controller's: it exists only because the device is emulated or measured */
	HZ_MEMORIES
};

struct hz_memory_line {
	char owner[24], what[48];
	uint64_t bytes;
	uint32_t memory; /* enum hz_memory */
	uint32_t reserved;
};
HZ_ASSERT_SIZE(struct hz_memory_line, 88);

enum { HZ_LEDGER_LINES = 193 }; /* ARENA_LINES, and one more */
struct hz_memory_ledger {
	uint32_t lines;                                  /* 0: the firmware has not come so far */
	uint32_t refused;                                /* 1: the device does not fit, and was not started */
	uint64_t bytes[HZ_MEMORIES], limit[HZ_MEMORIES]; /* limit 0: none */
	struct hz_memory_line line[HZ_LEDGER_LINES];
};

#endif
