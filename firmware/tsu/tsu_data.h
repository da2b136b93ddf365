/* Data between the channel and a die's cache register: in one piece, or in parts with the channel free for other dies in between. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_DATA_H
#define TSU_DATA_H

#include "tsu/tsu_die.h"

/* In: of a program with the bus granted; then the next pass of die->op. */
void data_load(struct tsu_die *die, struct tsu_txn *members, uint64_t at_ns);
void data_load_again(struct tsu_die *die, uint64_t at_ns);
/* Out: data read by die->op go to the cache register, and from there to the channel. apart: the cells are busy with another operation
 * meanwhile. */
void data_hold(struct tsu_die *die, bool apart);
void data_send(struct tsu_die *die, uint64_t at_ns);
/* The bus is there for the next part, and a part has crossed. */
void data_granted(struct tsu_die *die, uint64_t at_ns);
void data_step(struct wheel_node *node);

#endif
