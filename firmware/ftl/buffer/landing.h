/* What lands in a superpage buffer, and what is read from it. Extent's lock held; see buffer.h, whose functions these are. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_LANDING_H
#define FTL_LANDING_H

#include "buffer/superpage.h"

uint32_t landing_room(struct ftl_worker *self, struct extent *ext, const struct ftl_request *req, uint32_t most);
struct hz_oob *landing_copy_in(struct extent *ext, const struct ftl_request *req, uint32_t sectors);
void landing_landed(struct ftl_worker *self, struct extent *ext, uint32_t sectors, uint64_t landed_ns);
void landing_pad(struct ftl_worker *self, struct extent *ext);
void landing_copy_out(const struct extent *ext, struct ftl_request *req, uint32_t offset, uint32_t sectors);

#endif
