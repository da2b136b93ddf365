/* Counters of flash and FTL since the last statistics reset. They only ever grow; a reset remembers where they stood. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_STATISTICS_H
#define HIL_STATISTICS_H

#include "hil/seam/controller_ops.h"

struct arena;
struct statistics {
	const struct controller_ops *device;
	uint32_t namespaces;
	struct hz_log_flash *flash; /* as they stood */
	struct hz_log_ftl *ftl;     /* … of each namespace */
};

void statistics_init(struct statistics *statistics, struct arena *arena, const struct controller_ops *device, uint32_t namespaces);
/* All of what the harts have published. Clock frozen. */
void statistics_restart(struct statistics *statistics);
void statistics_flash(const struct statistics *statistics, struct hz_log_flash *out);
/* Of the namespace nsid, or the sum over all (0, all ones). */
void statistics_ftl(const struct statistics *statistics, uint32_t nsid, struct hz_log_ftl *out);

#endif
