/* What mount found lost. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_DAMAGE_H
#define FTL_DAMAGE_H

#include <stdint.h>

/* What lies at the place of a lost sector is not looked at: who reads it is told. */
struct ftl_damage {
	uint64_t lost_sectors;    /* accepted sectors that are nowhere: reads of them end with NVME_UNRECOVERED_READ */
	uint64_t first_lba;       /* the first of them, and of zones of `records` */
	uint32_t read_only_zones; /* that became READ ONLY for it, or for their record */
	uint64_t unknown_sectors; /* lost with their records, so that it is not known which: older data, or none, may be read for them */
	uint32_t table_copies;    /* lost ones of zone table pages of which the other copy is there; they are written again */
	uint32_t records;         /* of zones, that could not be true: these zones are READ ONLY or OFFLINE */
};

#endif
