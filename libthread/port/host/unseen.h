/* Long loops over memory that is known to be sound: no sanitizer looks at each of their accesses. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_PORT_UNSEEN_H
#define LT_PORT_UNSEEN_H

#include "lanes.h"

/* As hz_lanes_mix, of the caller's own memory. */
void lanes_mix_unseen(struct hz_lanes *lanes, const uint64_t *own, size_t bytes);

#endif
