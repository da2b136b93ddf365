/* Long loops over memory known to be sound: no sanitizer checks their accesses one by one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_PORT_UNSEEN_H
#define LT_PORT_UNSEEN_H

#include "lanes.h"

/* As hz_lanes_mix. */
void lanes_mix_unseen(struct hz_lanes *lanes, const void *data, size_t bytes);

#endif
