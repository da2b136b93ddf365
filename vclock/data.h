/* Plain loads and stores of RAM, with data=moves: they fetch lines as synchronising accesses do, false sharing included, but neither wait
 * for a busy line nor keep one busy. They take effect in the order in which the harts run: with the order point before them.
 *
 * With data=ordered one that must fetch its line is an order point: it waits for the line and keeps it busy. What it reads or writes it
 * has read or written when its hart came to it; without data races nobody can tell.
 *
 * One that finds its line costs no more than its instruction. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_DATA_H
#define VC_DATA_H

#include "state.h"

/* By the token holder, once the access at pc is made. */
void vc_data_access(struct vc_hart *h, uint64_t pc, uint64_t address, unsigned bytes, bool write);

#endif
