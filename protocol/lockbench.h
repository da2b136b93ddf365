/* Parameter and result block of lockbench.elf: the lock micro-benchmark for checks of the virtual clock.
 *
 * The host writes the parameters into the guest RAM file at HZ_LOCKBENCH_ADDR - HZ_RAM_BASE before it starts QEMU, and reads the results
 * there after QEMU has ended (exit code 0). Little-endian.
 *
 * Each hart repeats: think, acquire, section, release, until its device time has passed start_ns + duration_ns. think and section are
 * loops of 2 instructions per turn (ADDI, BNEZ). With think_spread, turns of think are drawn per operation from think - think_spread …
 * think + think_spread (xorshift64*, seeded from seed and the hart number). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_LOCKBENCH_H
#define HZ_PROTOCOL_LOCKBENCH_H

#include "base.h"

#define HZ_LOCKBENCH_ADDR 0x80201000ull
#define HZ_LOCKBENCH_MAGIC 0x30484342434f4c5aull

struct hz_lockbench_hart {
	uint64_t operations; /* completed before the end of the window */
	uint64_t wait_ns;    /* sum over operations: lock_acquire called → held */
	uint64_t wait_max_ns;
	uint64_t end_ns; /* device time when the hart left the loop */
	uint64_t reserved[4];
};
HZ_ASSERT_SIZE(struct hz_lockbench_hart, 64);

struct hz_lockbench {
	uint64_t magic;
	uint32_t harts;                        /* participants: 0 … harts-1; at most the number given to QEMU */
	uint32_t lock_kind;                    /* enum lt_lock_kind (libthread) */
	uint32_t think, think_spread, section; /* loop turns */
	uint32_t measure_waits;                /* 0: the loop reads no clock but once per operation for the end; 1: wait_ns is filled */
	uint64_t seed;
	uint64_t duration_ns;
	/* results */
	uint64_t start_ns;      /* [fw] device time of the common start */
	uint64_t protected_sum; /* [fw] counter incremented without atomics inside the section: must equal total */
	uint64_t total;         /* [fw] all sections ever entered */
	uint64_t finished;      /* [fw] 1: results are complete */
	uint64_t reserved[6];
	struct hz_lockbench_hart hart[HZ_MAX_HARTS];
};
HZ_ASSERT_OFFSET(struct hz_lockbench, hart, 128);

#endif
