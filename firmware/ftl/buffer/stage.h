/* Staging the partial unit of a superpage buffer in SLC. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_STAGE_H
#define FTL_STAGE_H

#include "buffer/superpage.h"

/* Extent's lock held: buffer_stage. */
void units_stage(struct ftl_worker *self, struct extent *ext, bool gives_way);

#endif
