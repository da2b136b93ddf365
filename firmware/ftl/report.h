/* Zone report. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_REPORT_H
#define FTL_REPORT_H

#include "request/io.h"

/* FTL_ZONE_REPORT. */
void zone_report_run(struct ftl_worker *self, struct ftl_request *req);

#endif
