/* Decisions of a scheduler: the only part of a die's work that costs a hart instructions. All other work of dies and channels is
 * hardware and runs with the clock frozen; each of these calls thaws it for the time of the decision. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_CHOICE_H
#define TSU_CHOICE_H

#include "tsu/tsu_die.h"

/* Take the next operation at at_ns out of the queue: a list by `next` of one transaction for each plane. NULL: none may start. */
struct tsu_txn *choose_next(struct tsu_die *die, uint64_t at_ns, enum take take);
/* Would there be something? */
bool choose_whether(struct tsu_die *die, uint64_t at_ns, enum take take);
/* For an urgent read: shall the running program or erase be suspended at at_ns? */
bool choose_suspend(const struct tsu_die *die, uint64_t at_ns);
/* Shall the suspended operation stay suspended? */
bool choose_stay_suspended(const struct tsu_die *die, uint64_t at_ns);

#endif
