/* A write buffer's part in the memory that all buffers share; see sector_pool.h. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SPACE_H
#define FTL_SPACE_H

#include "buffer/slots.h"

enum space_account { SPACE_VOLATILE, SPACE_GUARDED, SPACES };

/* Owner's lock. Sectors at or beyond the extent's `guarded` are of the volatile account. */
struct buffer_space {
	uint32_t lent[SPACES];
	uint8_t last;  /* account of what was lent last, and lands now */
	struct noted { /* what the image knows of it: sectors of this zone before `end` */
		uint32_t zone, generation, end;
	} noted;
	struct slot_stash stash; /* free slots that are this buffer's; empty with `slots: accounts` */
};

#endif
