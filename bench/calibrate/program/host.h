/* The scenes that only hosts have (micro.c), beside those of bench rtl. Each runs on all its harts, or on hart 0, and ends the process with
 * its results. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CALIBRATE_HOST_H
#define CALIBRATE_HOST_H

#include <stdint.h>

/* Ticks of HOST_CHAIN instructions of one cycle each, one after the other: the best of a few. */
enum { HOST_CHAIN = 20000 };
uint64_t host_chain_ticks(void);

void host_core(unsigned hart, unsigned harts);
void host_access(unsigned hart, unsigned harts);
void host_memory(unsigned hart, unsigned harts);
void host_stores(unsigned hart, unsigned harts);

#endif
