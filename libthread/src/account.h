/* Each hart's use of time: idle and spin are measured, work is the rest, so that they sum to elapsed exactly. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_ACCOUNT_H
#define LT_ACCOUNT_H

#include "lt/hart.h"

/* All for the calling hart only, except account_init before the harts run. */
void account_init(unsigned hart, uint64_t start_ns);
void account_restart(unsigned hart);
void account_roles(unsigned hart, uint32_t roles);
/* The hart adds to its idle_ns and events. */
struct hz_hart_times *account_own(unsigned hart);
void account_spin(unsigned hart, unsigned lock_class, uint64_t ns);
/* Make a snapshot for other harts. */
void account_publish(unsigned hart, uint64_t now_ns);
void account_read(unsigned hart, struct hz_hart_times *out);

#endif
