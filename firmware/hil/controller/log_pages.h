/* Log pages, all but that of the locks: from what the HIL and the harts have counted. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_LOG_PAGES_H
#define HIL_LOG_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "nvme.h"

enum { LOG_RETAIN_EVENT = 1 << 15 /* CDW10 */, LOG_VERSION = 1 /* of the vendor pages */ };

struct hil;
bool log_page_known(const struct hil *hil, unsigned id);
/* Fills hil->scratch with the known page that sqe asks for; returns its size. Clock frozen. */
uint32_t log_page_build(struct hil *hil, const struct nvme_sqe *sqe);

#endif
