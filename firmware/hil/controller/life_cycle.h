/* Enable, controller reset, shutdown (base spec 3.5, 3.6, 3.7.2). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_LIFE_CYCLE_H
#define HIL_LIFE_CYCLE_H

struct hil;

/* CC.EN was set, was cleared; CC.SHN was set; the host has left. Clock frozen. */
void life_enable(struct hil *hil);
void life_disable(struct hil *hil);
void life_shut_down(struct hil *hil);
void life_host_left(struct hil *hil);
/* Other HIL harts learn of the controller's life, and of features that matter to them. */
void life_order(struct hil *hil);
/* After each change that a reset or shutdown may wait for. */
void life_step(struct hil *hil);

#endif
