/* Counters of flash and FTL since the last statistics reset. They only ever grow; a reset remembers where they stood. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_STATISTICS_H
#define HIL_STATISTICS_H

#include "hil/seam/controller_ops.h"

struct arena;
struct statistics {
	const struct controller_ops *device;
	struct statistics_base {
		struct hz_log_flash flash;
		struct hz_log_ftl ftl;
	} * base;
};

void statistics_init(struct statistics *statistics, struct arena *arena, const struct controller_ops *device);
/* All of what the harts have published. Clock frozen. */
void statistics_restart(struct statistics *statistics);
void statistics_flash(const struct statistics *statistics, struct hz_log_flash *out);
void statistics_ftl(const struct statistics *statistics, struct hz_log_ftl *out);

#endif
