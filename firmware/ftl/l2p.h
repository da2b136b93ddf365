/* Logical to physical map, one 4-byte entry per LBA: 30 bits of physical sector address, two map bits reserved for aggregation.
 *
 * Holds the sectors that lie at their place in the zone's superblock, [0, placed); what is staged in SLC is in the zone's staged list
 * (staged.h). Implementation: l2p_flat.c, a table in RAM that mount rebuilds. Entries are protected by class L2P, sharded by zone. */
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
struct ftl_request;
struct ftl_worker;
struct hz_oob;
struct arena;

struct l2p {
	uint32_t *entry;              /* zone index * zone capacity + offset */
	uint32_t capacity;            /* entries per zone */
	struct lt_lock *shard;
	uint32_t shards;
};

void l2p_init(struct ftl *ftl, struct arena *arena);
/* Addresses of [offset, offset + count) into ppa[]; the zone's lock or its reader count keeps them readable. */
void l2p_read(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t *ppa);
/* Map [offset, offset + count) to consecutive addresses from ppa on. */
void l2p_map_run(struct ftl *ftl, const struct zone *zone, uint32_t offset, uint32_t count, ppa_t ppa);
/* Forget [0, count) of the zone. */
void l2p_unmap(struct ftl *ftl, const struct zone *zone, uint32_t count);
/* --- conventional zones: an entry is a place in a backing zone (page_space.h), L2P_UNMAPPED if never written --- */
/* Lock of the backing zone held. Under the map's lock: gives oob[0 … count) their sequence numbers, ascending, so that for every LBA the
 * order of sequence numbers is the order of mapping; maps [lba, lba + count), all of one zone and at most L2P_PIECE, to the places from
 * `to` on; reports what they replace to page_space_invalidate, now or when the map learns it. */
void l2p_page_map(struct ftl *ftl, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob);
/* The same for one sector if the LBA still lies at `from`; false: it does not, nothing has changed. */
bool l2p_page_move(struct ftl *ftl, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob);
/* Places of [lba, lba + count), all of one zone: returns how many from the front are known; 0: the request waits for a table page and
 * will be dispatched again. No lock held. Nothing is pinned: under the backing zone's lock the reverse map tells whether a place is
 * still the LBA's (page_read.c). */
uint32_t l2p_page_read(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place);
/* The place, if that is known without a flash read, else L2P_UNMAPPED. No lock held. */
uint32_t l2p_page_hint(struct ftl *ftl, uint64_t lba);
uint32_t l2p_page_peek(struct ftl *ftl, uint64_t lba);
void l2p_page_preset(struct ftl *ftl, uint64_t lba, uint32_t place);

/* Mount and checks only (harts idle). */
ppa_t l2p_peek(const struct ftl *ftl, const struct zone *zone, uint32_t offset);
void l2p_preset(struct ftl *ftl, const struct zone *zone, uint32_t offset, ppa_t ppa);

#endif
