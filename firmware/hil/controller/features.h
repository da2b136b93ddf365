/* Features: which there are, and their values (base spec 5.27). Nothing is saveable; values return to their defaults at each controller
 * reset. A feature that the specification asks for but that has nothing to act on here can be read, and is not changeable. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_FEATURES_H
#define HIL_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include "nvme.h"

enum { FEATURES = 32, QUEUE_COUNT = HZ_MAX_IO_QUEUES - 1 /* 0-based */ };

struct feature {
	bool known, changeable;
	uint32_t initial, valid;
}; /* valid: bits that a host may set */
struct features {
	uint32_t value[FEATURES];
};

void features_reset(struct features *features);
/* NULL: not known; so is feature 06h of a device without a volatile write cache. */
const struct feature *feature_find(unsigned id, bool volatile_cache);
/* enum nvme_notice: those that a device with such namespaces gives. */
static inline uint32_t feature_notices(bool zoned) { return NVME_NOTICE_NAMESPACES | (zoned ? NVME_NOTICE_ZONES : 0); }

#endif
