/* The FTL's context, first argument of every function: facts shared by all modules, and a pointer to each module's state. A module uses
 * its own state and the states of lower modules only. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BASE_CONTEXT_H
#define FTL_BASE_CONTEXT_H

#include <stddef.h>
#include <string.h>

#include "base/health.h"
#include "device_config.h"
#include "geometry.h"
#include "link.h"
#include "logs.h"
#include "lt/arch.h"
#include "lt/event.h"
#include "mount_report.h"
#include "nand/flash_addr.h"
#include "tsu/tsu.h"

struct ftl_request;

/* One FTL thread, on a hart of its own or shared. Its state is touched on its hart only. */
struct ftl_worker {
	struct lt_thread thread; /* first: a transaction's owner leads back to its worker */
	struct ftl *ftl;
	uint32_t over;               /* lives of the controller up to this one have ended (request/io.h) */
	uint32_t frontier;           /* its write frontier within each host stream (places/places.h) */
	uint32_t collector;          /* its collector of conventional zones (conventional/conventional.h) */
	uint32_t cache_candidate;    /* map shard to borrow from next (map/flash_cache.h) */
	struct hz_log_ftl counters;  /* written on this worker's hart only */
	struct hz_log_ftl published; /* of the last ftl_publish */
	struct map_fetch_pool *fetches;
	struct flush_pool *flushes;
	struct read_pool *reads;
	struct rebuild_pool *rebuilds; /* NULL: no rain */
	struct copy_pool *copies;
	struct update_pool *updates;
	struct transfer_pool *transfers; /* NULL: no data cache */
};

struct ftl {
	const struct hz_device_config *cfg;
	const struct flash_map *map;
	struct hz_shape shape;
	struct tsu *tsu;
	struct link_pair *links;
	uint32_t page_sectors, unit_sectors, superpage_sectors;
	uint32_t ring_sectors;     /* slots of a write buffer */
	uint32_t flush_sectors;    /* a flush unit: flush_unit_planes program units */
	bool flush_at_once;        /* it leaves the buffer as soon as it is complete */
	uint32_t capacity;         /* sectors of a zone of the namespace */
	uint32_t backing_capacity; /* … of a backing zone */
	uint32_t register_read_ns; /* a sector out of a die's register */
	uint64_t zone_multiplier;  /* floor(2^64 / zone_size_sectors) + 1; 0: size 1 */
	uint64_t conventional_end; /* LBAs [0, conventional_end) are conventional */
	uint32_t zone_count;       /* the namespace's */
	uint32_t all_zones;        /* the namespace's zones, then the backing zones */
	uint8_t *zero_sector;
	lt_word dumped_zones;     /* zones with data that a power-loss dump left in SLC, not yet moved to their final place */
	lt_word losses;           /* failed zones that lost acknowledged data, not yet reported by a Flush */
	uint64_t mount_sequence;  /* highest one found at mount */
	struct ftl_damage damage; /* found at mount */
	struct hz_mount_report mount_report;
	char text[256];          /* why mount failed */
	struct ftl_watch *watch; /* NULL: no watch */
	uint32_t worker_count;
	struct ftl_worker *workers;
	uint8_t *owner; /* by zone of the namespace: its worker; NULL: commands go by their queues (routing_owner) */
	/* Dispatches a request on its worker: first, and again after each wait. */
	void (*run)(struct ftl_worker *self, struct ftl_request *req);

	struct superblocks *superblocks, *patches;
	struct slc *slc;
	struct places *places;
	struct trims *trims;
	struct l2p *l2p;
	struct superpage_pool *buffers; /* write buffers */
	struct sector_pool *space;      /* memory shared by the buffers; NULL: each has a superpage of its own */
	struct dump *dump;              /* NULL: nothing outlasts a loss of power */
	struct zone *zones;
	struct zone_budget *budget;
	struct zone_changes *changes;
	struct zone_table *table;
	struct updates *updates;
	struct zrwa_pool *zrwas;
	struct relocator *relocator;
	struct refresher *refresher;
	struct conventional *conventional;
	struct trim_saver *trim_saver;
	struct data_cache *data_cache; /* NULL: none */
	struct clean_mark *clean_mark;

	LT_OWN_LINE lt_word sequence; /* next OOB sequence number; each write changes it, and all harts read what is above */
};

/* Caller's worker: the FTL hart context of this handler. Transactions come back to it. */
static inline struct ftl_worker *worker_of(struct tsu_txn *txn) { return (struct ftl_worker *)txn->owner; }

/* n numbers in program order; returns the first. */
static inline uint64_t sequence_take(struct ftl *ftl, uint32_t n) { return lt_add(&ftl->sequence, n); }

/* Number of the zone of an LBA, of the namespace or of a backing zone. Reciprocal multiplication: exact below 2^32. */
static inline uint32_t zone_number(const struct ftl *ftl, uint64_t lba)
{
	return (uint32_t)(ftl->zone_multiplier ? (uint64_t)(((unsigned __int128)lba * ftl->zone_multiplier) >> 64) : lba);
}

static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

static inline bool is_conventional(const struct ftl *ftl, uint64_t lba) { return lba < ftl->conventional_end; }

/* How much of the flash the check at the end of a run looks at. */

/* Sampling stride of the checks over placed sectors: at most some 2^17 samples, so that a run on a large device ends soon. */
static inline uint32_t check_stride(const struct ftl *ftl) { return 1 + (uint32_t)((uint64_t)ftl->all_zones * ftl->capacity >> 17); }

/* Until somebody looks again whether others have ended their work: half of a program, so that it grows with all other times of the device. */
static inline uint64_t ftl_look_ns(const struct ftl *ftl)
{
	uint32_t program_ns = ftl->cfg->normal.program_ns[0];

	return program_ns > 1 ? program_ns >> 1 : 1;
}

#endif
