/* Owners of zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "routing.h"

#include "l2p/l2p.h"
#include "l2p/l2p_shard.h"
#include "lt/arena.h"
#include "request/ftl_request.h"

/* Zones that lie regularly apart, as those of different host threads do, have different owners (as l2p_shard.c spreads them). */
static uint32_t spread_zone(uint32_t zone, uint32_t workers) { return (uint32_t)((uint64_t)(zone * 0x9e3779b1u) * workers >> 32); }

void routing_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t workers = ftl->cfg->worker_count;
	bool shared = ftl->l2p->shards >= workers && ftl->l2p->shards < ftl->zone_count; /* shards, by several zones */

	if (ftl->cfg->routing != HZ_ROUTE_OWNER)
		return;
	ftl->owner = arena_alloc(arena, ftl->zone_count, sizeof(*ftl->owner), "owners of zones");
	for (uint32_t z = 0; z < ftl->zone_count; z++)
		ftl->owner[z] = (uint8_t)(shared ? ftl->extent[z]->map_shard % workers : spread_zone(z, workers));
}

/* Commands that name no zone, or several at once, stay with their queue. */
static bool names_zone(const struct ftl_request *req)
{
	switch (req->op) {
	case FTL_READ:
	case FTL_VERIFY:
	case FTL_COMPARE:
	case FTL_WRITE:
	case FTL_APPEND:
	case FTL_UPDATE:
	case FTL_WRITE_ZEROES:
	case FTL_COPY:
	case FTL_COPY_APPEND:
	case FTL_ZONE_OPEN:
	case FTL_ZONE_CLOSE:
	case FTL_ZONE_FINISH:
	case FTL_ZONE_RESET:
	case FTL_ZONE_OFFLINE: return !(req->flags & FTL_ALL_ZONES);
	default: return false;
	}
}

unsigned routing_owner(const struct ftl *ftl, unsigned worker, const struct ftl_request *req)
{
	return names_zone(req) ? ftl->owner[zone_number(ftl, req->lba)] : worker;
}
