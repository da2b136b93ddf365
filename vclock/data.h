/* Plain loads and stores of RAM, with data=moves: they fetch lines as synchronising accesses do, false sharing included, but neither wait
 * for a busy line nor keep one busy. One that finds its line costs no more than its instruction.
 *
 * They take effect in the order in which the harts run: with the order point before them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_DATA_H
#define VC_DATA_H

#include "state.h"

/* By the token holder. */
void vc_data_access(struct vc_hart *h, uint64_t address, unsigned bytes, bool write);

#endif
