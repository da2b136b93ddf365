/* How long each phase of a flash operation takes: the configuration, as tables made once. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_TIMING_H
#define TSU_TIMING_H

#include "geometry.h"
#include "tsu/tsu.h"

/* A die's dice for times with a spread: how often they were thrown, whatever other dies do. A start begins with 0. */
struct tsu_luck {
	uint64_t seed, draws;
};

struct tsu_timing {
	const struct hz_device_config *cfg;
	uint8_t *page_type;  /* page number in a normal block → LSB, CSB, MSB, TSB */
	uint32_t page_shift; /* log2 of sectors per page */
	uint32_t slc_blocks;
	bool one_shot;
	uint32_t passes;                           /* of a program in normal blocks */
	uint32_t transfer_ns[TSU_TXN_SECTORS + 1]; /* sectors → time on the bus, rounded to the nearest ns */
	bool spreads;                              /* some operation's time has a standard deviation */
};

void tsu_timing_init(struct tsu_timing *timing, struct arena *arena, const struct hz_device_config *cfg, const struct hz_shape *shape);
/* Time of the cell array alone; reads: one try; programs: one pass. Without its spread: what a scheduler and a mount expect. */
uint64_t tsu_array_ns(const struct tsu_timing *timing, const struct tsu_txn *txn, uint32_t pass);
struct tsu_luck tsu_luck_of(const struct tsu_timing *timing, uint32_t die_index);
/* The same with its spread, for an operation that begins. Another call draws another time; without a spread nothing is drawn. */
uint64_t tsu_drawn_ns(const struct tsu_timing *timing, const struct tsu_txn *txn, uint32_t pass, struct tsu_luck *luck);
static inline uint32_t tsu_page_of(const struct tsu_timing *timing, const struct tsu_txn *txn)
{
	return txn->addr.sector >> timing->page_shift;
}
static inline bool tsu_is_normal(const struct tsu_timing *timing, const struct tsu_txn *txn)
{
	return txn->addr.block >= timing->slc_blocks;
}
/* How often a transaction's data cross the bus and the cells work. */
static inline uint32_t tsu_passes(const struct tsu_timing *timing, const struct tsu_txn *txn)
{
	return txn->op == TSU_PROGRAM && tsu_is_normal(timing, txn) ? timing->passes : 1;
}

#endif
