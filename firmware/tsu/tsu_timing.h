/* How long each phase of a flash operation takes: the configuration, as tables made once. */
#ifndef TSU_TIMING_H
#define TSU_TIMING_H

#include "tsu/tsu.h"

struct tsu_timing {
	const struct hz_device_config *cfg;
	uint8_t *page_type;          /* page number in a normal block → LSB, CSB, MSB, TSB */
	uint32_t page_shift;         /* log2 of sectors per page */
	uint32_t slc_blocks;
	bool one_shot;
	uint32_t transfer_ns[TSU_TXN_SECTORS + 1]; /* sectors → time on the bus, rounded to the nearest ns */
};

void tsu_timing_init(struct tsu_timing *timing, struct arena *arena, const struct hz_device_config *cfg, const struct hz_shape *shape);
/* Time of the cell array alone; reads: one try. */
uint64_t tsu_array_ns(const struct tsu_timing *timing, const struct tsu_txn *txn);
static inline uint32_t tsu_page_of(const struct tsu_timing *timing, const struct tsu_txn *txn)
{
	return txn->addr.sector >> timing->page_shift;
}
static inline bool tsu_is_normal(const struct tsu_timing *timing, const struct tsu_txn *txn)
{
	return txn->addr.block >= timing->slc_blocks;
}

#endif
