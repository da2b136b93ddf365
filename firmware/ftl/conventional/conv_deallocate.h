/* Deallocation of conventional sectors. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_DEALLOCATE_H
#define FTL_CONV_DEALLOCATE_H

#include "request/io.h"

/* Ranges of the request, as the host's list has them now: it may change them at any time, so what is taken from it is checked each time. */
uint32_t conv_range_count(const struct ftl_request *req);
struct nvme_dsm_range conv_range_at(const struct ftl_request *req, uint32_t index);
/* It is of LBAs that exist; all of them are. */
bool conv_range_exists(const struct ftl *ftl, const struct ftl_request *req, const struct nvme_dsm_range *range);
bool conv_ranges_exist(const struct ftl *ftl, const struct ftl_request *req);
/* FTL_DEALLOCATE, also its continuation. What of its ranges lies in sequential zones stays as it is. */
void conv_deallocate_run(struct ftl_worker *self, struct ftl_request *req);

#endif
