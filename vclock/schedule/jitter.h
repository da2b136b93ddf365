/* Perturbed schedules (option jitter=SEED[:PERMILLE]): each hart's clock runs ahead now and then, so that the harts meet in another
 * order for every seed, and in the same one for one seed.
 *
 * Before each order point outside freezes (but WRS) a hart's clock is charged in proportion to the instructions that it has counted
 * since the last one: on average PERMILLE thousandths of them, mostly much less, and with falling probability up to thousands of
 * times as much, as if something else had needed the core. The draws belong to the seed and the hart, and what happens inside freezes
 * draws nothing, so the run is as repeatable as without. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_SCHEDULE_JITTER_H
#define VCLOCK_SCHEDULE_JITTER_H

#include "base/state.h"

/* Before any hart runs. */
void vc_jitter_start(void);
/* Before an instruction, by the hart's own thread; no effect unless it is an order point. */
void vc_jitter(struct vc_hart *h, enum vc_kind kind);

#endif
