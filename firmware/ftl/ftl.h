/* This FTL: one request interface for the HIL (port/ftl_port.h), run by N worker threads with a shared zone map, mapping table and write
 * buffers, under locks. Here is what it has beyond the port, for tests and for the offline check of an image. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_FTL_H
#define FTL_FTL_H

#include "port/ftl_port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ftl_publish and ftl_published at once, with the worker harts idle or stopped. */
void ftl_report(struct ftl *ftl, struct hz_log_ftl *out);

/* Scrub: reads all data of a mounted device and reports unreadable sectors. For the offline check of an image; harts idle. */

struct ftl_zone_scrub {
	uint8_t state;           /* enum nvme_zone_state; 0 (NOT WRITE POINTER): conventional */
	uint64_t start, written; /* first LBA; sectors with data, readable or not */
	uint64_t lost;           /* … unreadable, */
	uint64_t rebuilt;        /* … except those that reads rebuild from parity (rain) */
};
uint32_t ftl_scrub_zones(const struct ftl *ftl); /* of the namespace */
/* Calls lost() for each lost LBA, ascending. */
void ftl_scrub_zone(struct ftl *ftl, uint32_t zone, struct ftl_zone_scrub *out, void (*lost)(void *ctx, uint64_t lba), void *ctx);

#ifdef __cplusplus
}
#endif

#endif
