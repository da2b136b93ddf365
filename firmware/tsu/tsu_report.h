/* Figures of the TSU: counters, busy times and the conservation of device time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_REPORT_H
#define TSU_REPORT_H

#include "logs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tsu;

/* Figures for another hart, in two steps: the TSU threads' harts publish theirs (a hart without one does nothing), then the receiver of
 * their events reads the sum. */
void tsu_publish(struct tsu *tsu);
void tsu_published(struct tsu *tsu, struct hz_log_flash *out);
void tsu_energy_published(struct tsu *tsu, struct hz_log_energy *out);
/* Both at once, with the TSU harts idle or stopped. */
void tsu_report(struct tsu *tsu, struct hz_log_flash *out);
/* A new account from now on: posts an event to every TSU thread. Not again before it has run everywhere. */
void tsu_stats_reset(struct tsu *tsu);
/* Conservation of device time of one channel's bus or one die: busy + idle = elapsed, each side counted on its own. TSU idle. */
struct tsu_account {
	uint64_t busy_ns, idle_ns, elapsed_ns;
};
void tsu_channel_account(struct tsu *tsu, uint32_t channel, struct tsu_account *out);
void tsu_die_account(struct tsu *tsu, uint32_t die_index, struct tsu_account *out);
/* Loop turns and list steps of all scheduling code so far, and transactions done: cost independent of the machine. */
struct tsu_work {
	uint64_t steps, transactions;
};
void tsu_work_done(struct tsu *tsu, struct tsu_work *out);

#ifdef __cplusplus
}
#endif
#endif
