/* What a device did on its capacitors when power went. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_KEEP_REPORT_H
#define HZ_PROTOCOL_KEEP_REPORT_H

#include "base.h"

struct hz_keep_report {
	uint64_t lost_ns;   /* device time at which power went; 0: it did not, or nothing is protected */
	uint64_t took_ns;   /* from then until the last program had ended, what was under way included */
	uint64_t energy_pj; /* that the capacitors gave: controller, transfers and programs */
	uint64_t sectors;   /* that were to be kept */
	uint64_t programs, failed_programs;
	uint64_t in_place; /* programs at the data's own place */
	uint64_t empty;    /* 1: the capacitors were empty before all was kept */
};

#endif
