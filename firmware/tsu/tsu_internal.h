/* Private to this folder: the parts of a die's work, and the power cut. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_INTERNAL_H
#define TSU_INTERNAL_H

#include "tsu/tsu_die.h"

/* Decisions of a scheduler: the only part of a die's work that costs a hart instructions. All other work of dies and channels is
 * hardware and runs with the clock frozen; each of these calls thaws it for the time of the decision. */

/* Take the next operation at at_ns out of the queue: a list by `next` of one transaction for each plane. NULL: none may start. */
struct tsu_txn *choose_next(struct tsu_die *die, uint64_t at_ns, enum take take);
/* Would there be something? */
bool choose_whether(struct tsu_die *die, uint64_t at_ns, enum take take);
/* For an urgent read: shall the running program or erase be suspended at at_ns? */
bool choose_suspend(const struct tsu_die *die, uint64_t at_ns);
/* Shall the suspended operation stay suspended? */
bool choose_stay_suspended(const struct tsu_die *die, uint64_t at_ns);

/* Data between the channel and a die's cache register: in one piece, or in parts with the channel free for other dies in between. */

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

/* Cached operations: the cells work on the next read or program while the cache register and the channel move data. */

/* Reads: the cells have die->op's data, and the cache register is free; then, with another read to come, it has them. */
void cache_shift(struct tsu_die *die, uint64_t at_ns);
void cache_shifted(struct tsu_die *die, uint64_t at_ns);
/* Programs: want the next one's data, if there is one; then the bus is there. */
void cache_wish(struct tsu_die *die, uint64_t at_ns);
void cache_choose(struct tsu_die *die, uint64_t at_ns);
/* The cells began on a program: the next one's data may come. */
void cache_load_step(struct wheel_node *node);

/* Suspending a program or erase for reads: the cells stop, reads run, the rest of the array time follows. */

/* For an urgent read ready at at_ns, if allowed. */
void die_suspend(struct tsu_die *die, uint64_t at_ns);
void die_resume(struct tsu_die *die, uint64_t at_ns);

/* The end of a transaction: its effect on the media, the counters, and the way back to its owner. */

void txn_complete(struct tsu_thread *thread, struct tsu_txn *txn, uint64_t end_ns);

/* Power cut at a device time: running operations of the cells stay half done, nothing later happens. */

/* If the media's policy says so; the thread's wheel is there. */
void tsu_power_init(struct tsu_thread *thread);
/* Power went while this thread did something: it stops, and makes the others stop. */
void tsu_power_went(struct tsu_thread *thread, uint64_t at_ns);
/* The die's operation at this time stays half done. */
void tsu_tear_die(struct tsu_die *die, uint64_t cut_ns);

#endif
