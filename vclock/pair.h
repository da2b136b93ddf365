/* LR and SC as a pair: an SC stores exactly if it has the address and the width of its hart's last LR, the reservation is intact, and the
 * word holds what the LR found.
 *
 * QEMU compares values only: its SC stores if the word holds what LR found, also when other harts changed it and changed it back
 * (ABA), or wrote another word of the line, and one of another width compares what it sees of it. Where QEMU's could store but ours must
 * not, the word's value is hidden from QEMU while the SC executes; nobody else runs then. In RAM only. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_PAIR_H
#define VC_PAIR_H

#include "state.h"

/* LR has read. */
void vc_pair_open(struct vc_hart *h, uint64_t address, unsigned bytes);
/* Something other than an SC has used up the reservation, in QEMU too. */
void vc_pair_drop(struct vc_hart *h);
/* Before the SC, by the token holder: decides whether it stores. */
void vc_pair_decide(struct vc_hart *h);
/* After the SC has accessed its word: true if it stored. One that names another word than the LR makes no access. */
bool vc_pair_close(struct vc_hart *h);

#endif
