/* Account of one serial resource (a channel's bus, a die) on the media's own time line: busy and idle are counted separately. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_USAGE_H
#define TSU_USAGE_H

#include <stdint.h>

struct tsu_usage {
	uint64_t free_ns, busy_ns, idle_ns;
};

/* The resource worked from start_ns (>= free_ns) to end_ns. */
static inline void usage_add(struct tsu_usage *usage, uint64_t start_ns, uint64_t end_ns)
{
	usage->idle_ns += start_ns - usage->free_ns;
	usage->busy_ns += end_ns - start_ns;
	usage->free_ns = end_ns;
}

/* Busy and idle time up to now_ns; work_since_ns: start of work not added yet, UINT64_MAX if there is none. */
static inline void usage_at(const struct tsu_usage *usage, uint64_t work_since_ns, uint64_t now_ns, uint64_t *busy, uint64_t *idle)
{
	*busy = usage->busy_ns;
	*idle = usage->idle_ns;
	if (usage->free_ns > now_ns) {
		*busy -= usage->free_ns - now_ns; /* added in advance */
	} else if (work_since_ns < now_ns) {
		*idle += work_since_ns - usage->free_ns;
		*busy += now_ns - work_since_ns;
	} else {
		*idle += now_ns - usage->free_ns;
	}
}

#endif
