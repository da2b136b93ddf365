/* Parameter and result block of flashbench.elf: patterns of flash operations; hz-bench-nand also runs them in its own memory.
 *
 * The host writes parameters into the guest RAM file at HZ_FLASHBENCH_ADDR - HZ_RAM_BASE before it starts QEMU, and reads the results
 * there after QEMU has ended (exit code 0). Little-endian. Times are device time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_FLASHBENCH_H
#define HZ_PROTOCOL_FLASHBENCH_H

#include "device_config.h"

#define HZ_FLASHBENCH_ADDR 0x80201000ull
#define HZ_FLASHBENCH_MAGIC 0x30484342414c465aull
enum { HZ_FLASHBENCH_BYTES = 60 << 10, HZ_FLASHBENCH_PATTERNS = 64, HZ_FLASHBENCH_GROUPS = 2 };
enum hz_flashbench_op { HZ_FLASHBENCH_READ, HZ_FLASHBENCH_PROGRAM, HZ_FLASHBENCH_ERASE };

/* Operations of one kind on the first planes of the first dies of the first channels, `count` on each plane: i-th at sector first + i * step. */
struct hz_flashbench_group {
	uint32_t op; /* enum hz_flashbench_op */
	uint32_t block;
	uint32_t channels, dies, planes; /* of the device, of a channel, of a die; channels 0: there is no such group */
	uint32_t count;
	uint32_t first, step, sectors;
	uint32_t reserved;
	uint64_t after_ns; /* they come so long after those of a group with 0; loops: the first ones */
	/* results */
	uint64_t done, failed;                   /* [fw] */
	uint64_t end_ns;                         /* [fw] of the last one to end, counted from the pattern's begin */
	uint64_t least_ns, most_ns, together_ns; /* [fw] from coming to end: of the quickest, of the slowest, of all */
};
HZ_ASSERT_SIZE(struct hz_flashbench_group, 96);

struct hz_flashbench_pattern {
	uint32_t loop;  /* 0: all are submitted as one list; 1: each plane has one under way, and the next one comes when it has ended */
	uint32_t fresh; /* blocks to program are erased before the pattern begins */
	uint64_t reserved;
	struct hz_flashbench_group group[HZ_FLASHBENCH_GROUPS]; /* in this order in the list */
};
HZ_ASSERT_SIZE(struct hz_flashbench_pattern, 208);

struct hz_flashbench {
	uint64_t magic;
	uint64_t patterns;
	uint64_t finished;            /* [fw] 1: results are complete */
	uint64_t transactions;        /* [fw] of all patterns, erases before them included */
	uint64_t work_ns[HZ_MAX_TSU]; /* [fw] work of the TSU's harts for them */
	struct hz_flashbench_pattern pattern[HZ_FLASHBENCH_PATTERNS];
	/* Of a small device: its planes must lie in the order of their numbers (plane_scheme PDWC). Hart 0 submits, harts 1 … are the TSU's.
	 * Last, since the host's record is longer (device_config.h). */
	struct hz_device_config cfg;
};
HZ_STATIC_ASSERT(sizeof(struct hz_flashbench) <= HZ_FLASHBENCH_BYTES, "the block fits its place in memory");

#endif
