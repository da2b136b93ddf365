/* Long loops over memory that is known to be sound: no sanitizer looks at each of their accesses. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_PORT_UNSEEN_H
#define LT_PORT_UNSEEN_H

#include "lanes.h"

/* As hz_lanes_mix. */
void lanes_mix_unseen(struct hz_lanes *lanes, const void *data, size_t bytes);

#endif
