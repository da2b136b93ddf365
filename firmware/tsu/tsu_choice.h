/* Decisions of a scheduler: the only part of a die's life that costs a hart instructions. All else that dies and channels do is hardware,
 * which runs with the clock frozen; each of these calls thaws it for as long as the decision takes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_CHOICE_H
#define TSU_CHOICE_H

#include "tsu/tsu_die.h"

/* What goes next at at_ns, taken out of the queue: a list by `next` of one transaction for each plane. NULL: nothing may. */
struct tsu_txn *choose_next(struct tsu_die *die, uint64_t at_ns, enum take take);
/* Would there be something? */
bool choose_whether(struct tsu_die *die, uint64_t at_ns, enum take take);
/* For an urgent read: shall the program or erase that the cells are busy with be suspended at at_ns? */
bool choose_suspend(const struct tsu_die *die, uint64_t at_ns);
/* Shall what is suspended stay so? */
bool choose_stay_suspended(const struct tsu_die *die, uint64_t at_ns);

#endif
