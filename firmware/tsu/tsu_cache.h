/* Cached operations: the cells work on the next read or program while the cache register and the channel move data. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_CACHE_H
#define TSU_CACHE_H

#include "tsu/tsu_die.h"

/* Reads: the cells have die->op's data, and the cache register is free; then, with another read to come, it has them. */
void cache_shift(struct tsu_die *die, uint64_t at_ns);
void cache_shifted(struct tsu_die *die, uint64_t at_ns);
/* Programs: want the next one's data, if there is one; then the bus is there. */
void cache_wish(struct tsu_die *die, uint64_t at_ns);
void cache_choose(struct tsu_die *die, uint64_t at_ns);
/* The cells began on a program: the next one's data may come. */
void cache_load_step(struct wheel_node *node);

#endif
