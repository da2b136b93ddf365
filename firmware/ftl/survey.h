/* Survey: reads everything that a mounted device holds and says what cannot be read. For the offline check of an image; harts idle. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SURVEY_H
#define FTL_SURVEY_H

#include "ftl.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ftl_zone_survey {
	uint8_t state;           /* enum nvme_zone_state; 0 (NOT WRITE POINTER): conventional */
	uint64_t start, written; /* first LBA; sectors that hold something, readable or not */
	uint64_t lost;           /* of these, those that cannot be read */
};
uint32_t ftl_survey_zones(const struct ftl *ftl); /* of the namespace */
/* Calls lost() for each LBA that cannot be read, ascending. */
void ftl_survey_zone(struct ftl *ftl, uint32_t zone, struct ftl_zone_survey *out, void (*lost)(void *ctx, uint64_t lba), void *ctx);

#ifdef __cplusplus
}
#endif
#endif
