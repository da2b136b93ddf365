/* Data landing in backing zones: what their kind (zone/zone.h) does. Lock of the backing zone held. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_LAND_H
#define FTL_CONV_LAND_H

#include "zone/zone.h"

void conv_land(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors, struct hz_oob *oob);
void conv_landed(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint32_t sectors);
void conv_sealed(struct ftl_worker *self, struct zone *zone);
void conv_lost(struct ftl_worker *self, struct zone *zone);
void conv_dropped(struct ftl_worker *self, struct zone *zone);

#endif
