/* How much of the flash the check at the end of a run looks at. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CHECK_STRIDE_H
#define FTL_CHECK_STRIDE_H

#include "base/context.h"

/* Of the placed sectors of a large device one in so many, so that the end of a run comes soon: some 2^17 at most. */
static inline uint32_t check_stride(const struct ftl *ftl) { return 1 + (uint32_t)((uint64_t)ftl->all_zones * ftl->capacity >> 17); }

#endif
