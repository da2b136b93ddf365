/* Limit of the flash's power (timing.power_planes): how many planes of a thread's dies may have their cells at work. Clock frozen. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_LIMIT_H
#define TSU_LIMIT_H

#include "device_config.h"

struct die_op;

/* Operations (enum tsu_op) that had to wait for power, once for each pass and each resumption, and for how long. */
struct tsu_held {
	uint64_t times[3], ns[3];
};

/* Of a thread; all zeros: no operation has begun. */
struct tsu_limit {
	struct tsu_held held, published;
	uint64_t free_ns[HZ_MAX_POWER_PLANES]; /* sorted: when the power of each plane of the thread's share is free */
};

/* When the cells may begin, at_ns or later: op has the power of its planes from then on, for op->array_ns. Operations get it in the order
 * of these calls. planes: the thread's share. */
uint64_t tsu_limit_begin(struct tsu_limit *limit, uint32_t planes, const struct die_op *op, uint64_t at_ns);
/* The cells of op stop at at_ns, before op->array_end_ns: its power is free again, unless another operation counts on its end. */
void tsu_limit_stop(struct tsu_limit *limit, uint32_t planes, const struct die_op *op, uint64_t at_ns);
/* Threads ask no other one, so each has an equal part. */
static inline uint32_t tsu_limit_share(const struct hz_device_config *cfg, uint32_t thread)
{
	return cfg->power_planes / cfg->tsu_count + (thread < cfg->power_planes % cfg->tsu_count);
}

#endif
