/* Perturbed schedules (option jitter=SEED[:PERMILLE]): each hart's clock jumps ahead at random, so
 * that the harts meet in a different order for every seed, and in the same order for the same seed.
 *
 * Before each sync point outside freezes (except WRS) a hart's clock is charged in proportion to
 * the instructions counted since the last one: PERMILLE thousandths on average, mostly much less,
 * and with falling probability up to thousands of times as much, as if another task had used the
 * core. The draws depend on the seed and the hart only, and freezes draw nothing, so the run is as
 * repeatable as without jitter. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_SCHEDULE_JITTER_H
#define VCLOCK_SCHEDULE_JITTER_H

#include "base/state.h"

/* Before any hart runs. */
void vc_jitter_start(void);
/* Before an instruction, by the hart's own thread; no effect unless it is a sync point. */
void vc_jitter(struct vc_hart *h, enum vc_kind kind);

#endif
