/* Report of a device's power-loss dump. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_DUMP_REPORT_H
#define HZ_PROTOCOL_DUMP_REPORT_H

#include "base.h"

struct hz_dump_report {
	uint64_t lost_ns;   /* device time of the power cut; 0: none, or nothing is protected */
	uint64_t took_ns;   /* from then to the end of the last program, running operations included */
	uint64_t energy_pj; /* from the capacitors: controller, transfers and programs */
	uint64_t sectors;   /* to be dumped */
	uint64_t programs, failed_programs;
	uint64_t in_place; /* programs at the data's own place */
	uint64_t empty;    /* 1: the capacitors were empty before all was kept */
};

#endif
