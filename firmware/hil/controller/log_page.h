/* Log pages: what the HIL itself counts, and the baselines that a statistics reset leaves. */
#ifndef HIL_LOG_PAGE_H
#define HIL_LOG_PAGE_H

#include "logs.h"
#include "nvme.h"

#define HIL_FIRMWARE_REVISION "1.0"

struct log_counters {
	uint64_t reads, writes, read_sectors, written_sectors; /* successful commands since boot */
	uint64_t media_errors, errors;                         /* commands that ended with a media status, with any status */
};

/* Flash and FTL counters only ever grow; a reset remembers where they stood. */
struct stats_base { struct hz_log_flash flash; struct hz_log_ftl ftl; };

#endif
