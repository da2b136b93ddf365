/* Admission of writes: who may write where, and in which order. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_WRITE_H
#define FTL_WRITE_H

#include "request/io.h"

/* FTL_WRITE, FTL_APPEND, FTL_WRITE_ZEROES of a zone that is written in order, also when it was parked. */
void write_run(struct ftl_worker *self, struct ftl_request *req);

#endif
