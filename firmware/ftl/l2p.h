/* Logical to physical map, one 4-byte entry per LBA: 30 bits of physical sector address, two map bits reserved for aggregation.
 *
 * Implementation: l2p_flat.c, a table in RAM that mount rebuilds. Entries are protected by class L2P, sharded by zone. Under it only
 * class SLC may be taken. A reader that finds an SLC address pins its superblock before the lock is released, so that
 * garbage collection cannot erase it. */
#ifndef FTL_L2P_H
#define FTL_L2P_H

#include "lt/lock.h"
#include "tsu/flash_addr.h"

enum {
	L2P_UNMAPPED = (1u << HZ_PPA_BITS) - 1,
	L2P_ADDRESS_MASK = (1u << HZ_PPA_BITS) - 1,
	L2P_PIECE = 64,               /* most entries changed under one acquisition */
};

struct zone;
struct ftl;
struct arena;

struct l2p {
	uint32_t *entry;              /* zone index * zone capacity + offset */
	uint32_t capacity;            /* entries per zone */
	struct lt_lock *shard;
	uint32_t shards;
};

void l2p_init(struct ftl *ftl, struct arena *arena);
/* Addresses of [offset, offset + count) into ppa[]; SLC ones are pinned (slc_unpin each of them later). */
void l2p_read(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t *ppa);
/* Map [offset, offset + count) to consecutive addresses from ppa on; SLC copies they had become invalid. */
void l2p_map_run(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
/* Map one sector to an SLC address and make that copy valid there. */
void l2p_map_slc(struct ftl *ftl, const struct zone *zone, uint32_t offset, ppa_t ppa);
/* Move a sector to a new SLC address if it still lies at `from`; false: it does not. */
bool l2p_move_slc(struct ftl *ftl, uint64_t lba, ppa_t from, ppa_t to);
/* Forget [0, count) of the zone and invalidate its SLC copies. */
void l2p_unmap(struct ftl *ftl, const struct zone *zone, uint32_t count);
/* Mount and checks only (harts idle). */
ppa_t l2p_peek(const struct ftl *ftl, const struct zone *zone, uint32_t offset);
void l2p_preset(struct ftl *ftl, const struct zone *zone, uint32_t offset, ppa_t ppa);

#endif
