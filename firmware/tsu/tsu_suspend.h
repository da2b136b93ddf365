/* Suspending a program or erase for reads: the cells stop, reads run, the rest of the array time follows. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_SUSPEND_H
#define TSU_SUSPEND_H

#include "tsu/tsu_die.h"

/* For an urgent read ready at at_ns, if allowed. */
void die_suspend(struct tsu_die *die, uint64_t at_ns);
void die_resume(struct tsu_die *die, uint64_t at_ns);

#endif
