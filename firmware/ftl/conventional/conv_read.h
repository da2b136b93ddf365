/* Reads of conventional zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_READ_H
#define FTL_CONV_READ_H

#include "request/io.h"

/* zone_kind.read: what lies between a zone's capacity and its size is zeros. */
bool conv_read(struct ftl_worker *self, struct ftl_request *req, uint32_t sectors);

#endif
