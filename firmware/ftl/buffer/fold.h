/* Folding staged sectors back into a superpage buffer. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_FOLD_H
#define FTL_FOLD_H

#include "buffer/superpage.h"

/* Extent's lock held. The staged sectors of the oldest unit, which is complete, come into the ring; then the extent's pump goes on. */
void fold_start(struct ftl_worker *self, struct extent *ext);
/* FTL_FOLD, no lock held: the table page that the look-up waited for has come, or there may be room to ask for it. */
void fold_run(struct ftl_worker *self, struct ftl_request *req);

#endif
