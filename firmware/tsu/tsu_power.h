/* Power cut at a device time: running operations of the cells stay half done, nothing later happens. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_POWER_H
#define TSU_POWER_H

#include <stdint.h>

struct tsu_die;
struct tsu_thread;

/* If the media's policy says so; the thread's wheel is there. */
void tsu_power_init(struct tsu_thread *thread);
/* Power went while this thread did something: it stops, and makes the others stop. */
void tsu_power_went(struct tsu_thread *thread, uint64_t at_ns);
/* The die's operation at this time stays half done. */
void tsu_tear_die(struct tsu_die *die, uint64_t cut_ns);

#endif
