/* Power cut at a device time: whatever the cells are doing then stays half done, nothing later happens. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_POWER_H
#define TSU_POWER_H

struct tsu_thread;

/* If the media's policy says so; the thread's wheel is there. */
void tsu_power_init(struct tsu_thread *thread);

#endif
