/* Places of conventional sectors. Each LBA is mapped by itself to a place in a backing zone. Sectors take places in the order in which
 * they land (conventional/conventional.h fills and collects the zones).
 *
 * A place is valid while an LBA is mapped to it: one bit, and a count per backing zone, in shared words without a lock. Its LBA is in
 * the reverse map, under the backing zone's lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_PLACES_H
#define FTL_PLACES_H

#include "base/zone.h"

struct arena;

/* STREAM_HANDLES: of reclaim unit handle 1, then those of the others. Handle 0, and what names none, is STREAM_COLD. */
enum place_stream { STREAM_COLD, STREAM_HOT, STREAM_COLLECT, STREAM_HANDLES, PLACE_STREAMS = STREAM_HANDLES + HZ_MAX_HANDLES - 1 };
/* Write frontiers: `conventional.frontiers` of each stream of host writes, or one of each handle, and one of each collector, each in a
 * backing zone of its own. */
enum { PLACE_FRONTIERS = 3 * HZ_MAX_FRONTIERS, FRONTIER_NONE = PLACE_FRONTIERS };
enum { PLACE_BITS = 32 };
#define PLACE_NONE UINT32_MAX

struct place_zone {
	uint32_t base;          /* place of its first sector */
	lt_word valid;          /* valid places */
	lt_word durable;        /* leading sectors that outlast a power cut; the map in flash has no others */
	lt_word reset_sequence; /* sequence number at its last reset */
	lt_word returned;       /* since its collection began, lost copies have made one of them valid again */
	lt_word *bits;          /* by offset / PLACE_BITS: validity below, number of resets above */
	uint32_t *replaced_by;  /* by write frontier: its newest place that has replaced one of these since the erase, PLACE_NONE: none. The
				 * whole NULL: unknown, with a map in flash, which finds out late, or where a frontier's zones may become
				 * durable out of order (buffers.release: transferred) */
	uint32_t *lba;          /* reverse map by offset; UINT32_MAX: a copy that landed dead. Nonsense where no place was valid since
				 * mount, so that a large device need not fill it. Zone's lock */
};

struct places {
	lt_word resets;          /* backing zones with reset_sequence set */
	struct place_zone *zone; /* by backing number */
};

void places_init(struct ftl *ftl, struct arena *arena);

/* Words of validity bits of that many sectors. */
static inline uint32_t place_words(uint32_t capacity) { return (capacity + PLACE_BITS - 1) / PLACE_BITS; }
/* A place: backing number << superblock shift | offset, 30 bits like a PPA. */
static inline uint32_t place_make(const struct place_zone *zone, uint32_t offset) { return zone->base | offset; }
static inline uint32_t place_number(const struct ftl *ftl, uint32_t place) { return ppa_superblock(ftl->map, place); }
static inline uint32_t place_offset(const struct ftl *ftl, uint32_t place) { return ppa_offset(ftl->map, place); }
/* The backing zone's. */
static inline struct zone *zone_of_place(const struct ftl *ftl, uint32_t place)
{
	return &ftl->zones[ftl->zone_count + place_number(ftl, place)];
}

/* The place is mapped no longer. `known`: sequence number of the youngest record with the mapping, UINT64_MAX if it lasted until now: a
 * place in a zone reset after `known` is another LBA's and is left alone. Repeated calls do nothing. Any lock. */
void place_invalidate(struct ftl *ftl, uint32_t place, uint64_t known);
bool place_valid(const struct ftl *ftl, uint32_t place);
/* Before `place` becomes invalid: the map has place `by` in its stead. Lock of the zone of `by` held: others of the frontier come later. Who
 * has seen that all places of a zone are invalid may read its replaced_by without a lock. */
static inline void place_replaced(struct ftl *ftl, uint32_t place, uint32_t by)
{
	uint32_t *replaced_by = ftl->places->zone[place_number(ftl, place)].replaced_by;

	if (replaced_by)
		replaced_by[zone_of_place(ftl, by)->frontier] = by;
}
/* The map is about to have them. Zone's lock held, or places of a zone neither written nor reset meanwhile. */
void places_mark_valid(struct zone *zone, uint32_t offset, uint32_t count);
/* Is any of them valid? */
bool places_any_valid(const struct zone *zone, uint32_t offset, uint32_t count);
/* The backing zone is EMPTY again: references to former sectors do not apply to the next ones. */
void places_reset(struct ftl *ftl, struct place_zone *zone);
/* Mount: no place of it is valid. */
void places_forget(struct ftl *ftl, struct place_zone *zone);

/* Is this conventional LBA below its zone's capacity? */
static inline bool place_lba_exists(const struct ftl *ftl, uint64_t lba) { return lba - zone_at(ftl, lba)->start < ftl->capacity; }

/* The reclaim unit handle of a stream of host writes. */
static inline uint32_t stream_handle(enum place_stream stream) { return stream < STREAM_HANDLES ? 0 : 1 + stream - STREAM_HANDLES; }
/* Does the configuration have it? Flash may hold data of others. */
static inline bool stream_exists(const struct hz_device_config *cfg, enum place_stream stream)
{
	if (stream == STREAM_HOT)
		return cfg->conventional_streams > 1;
	return stream < STREAM_HANDLES || stream_handle(stream) < cfg->fdp_handles;
}

/* The first write frontier of a stream, and how many it has; the collectors' are the last ones. */
static inline uint32_t frontier_first(const struct hz_device_config *cfg, enum place_stream stream)
{
	if (stream == STREAM_COLLECT)
		return cfg->fdp_handles ? cfg->fdp_handles : cfg->conventional_streams * cfg->conventional_frontiers;
	return stream == STREAM_HOT ? cfg->conventional_frontiers : stream_handle(stream);
}
static inline uint32_t frontier_count(const struct hz_device_config *cfg, enum place_stream stream)
{
	return stream == STREAM_COLLECT ? cfg->conventional_collectors : cfg->conventional_frontiers;
}
static inline uint32_t frontiers_all(const struct hz_device_config *cfg)
{
	return frontier_first(cfg, STREAM_COLLECT) + cfg->conventional_collectors;
}

/* Cause of a zone's flash operations: `cause`, or GC if the collector fills it. */
static inline uint8_t place_cause(const struct zone *zone, uint8_t cause)
{
	return zone_is_backing(zone) && zone->stream == STREAM_COLLECT ? HZ_CAUSE_GC : cause;
}

#endif
