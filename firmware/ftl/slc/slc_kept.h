/* State of the SLC superblocks that are kept for a loss of power; see slc_keep.h. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SLC_KEPT_H
#define FTL_SLC_KEPT_H

#include <stdint.h>

/* Where the next program of each plane goes. */
struct slc_kept {
	uint32_t blocks;
	uint32_t *block; /* erased superblocks */
	struct slc_kept_column {
		uint32_t index, row; /* in block[]; its next row */
	} * column;
};

#endif
