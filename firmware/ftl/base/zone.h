/* An extent: the sectors of a zone, which are written in order, and their place on the way to flash. By offset in sectors:
 *
 *     0 … placed   in the superblock (and, beyond it, in the patch: an SLC superblock; a backing zone may have nothing else), durable
 *       … staged   in SLC, durable (staged > placed only for the unit being filled, or after a power-fail dump)
 *       … guarded  in write-buffer memory kept alive by capacitors, durable
 *       … landed   in the write buffer, which holds [resident, landed)
 *       … wp       accepted, data still with the host; nothing in a backing zone
 *
 * SLC log, map and write buffers work on extents. They call the owner, the zone (zone/zone.h), by extent_kick, extent_pump and
 * extent_fail. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BASE_ZONE_H
#define FTL_BASE_ZONE_H

#include "base/context.h"
#include "base/waiter.h"
#include "lt/lock.h"

#define SUPERBLOCK_NONE UINT32_MAX
#define BODY_ALL UINT32_MAX

struct extent;
struct place_zone;
struct write_buffer;

struct extent {
	struct lt_lock lock; /* class ZONE, index = zone number: everything here, its owner's fields, the content of the buffer */
	struct ftl *ftl;
	uint32_t index;            /* zone number */
	uint32_t map_shard;        /* of the map (map/l2p.h) */
	uint64_t start;            /* first LBA */
	uint32_t capacity;         /* sectors */
	uint32_t body;             /* sectors in the superblock, the rest is in the patch; BODY_ALL: no patch */
	struct place_zone *places; /* backing zone (places/places.h): its sectors are mapped one by one; else NULL */
	uint8_t stream, frontier;  /* backing: enum place_stream of its data, and the write frontier */
	uint32_t generation;       /* raised by every reset; older data on flash are dead */

	uint32_t superblock;            /* SUPERBLOCK_NONE until the first write needs one */
	uint32_t patch;                 /* SLC superblock with the sectors beyond it; SUPERBLOCK_NONE until one is needed */
	bool bad_superblock, bad_patch; /* a program failed in it: retire it instead of erasing it */
	bool relocate;                  /* it cannot be continued: move to a fresh one before the next program */
	bool reread;                    /* … the data to reprogram there are only in registers of dies */
	bool emptied;                   /* reset under way: staged copies are dead */
	bool failed;                    /* nothing more can be programmed: queued writes end with NVME_WRITE_FAULT */

	uint32_t wp, landed, placed, staged, resident;
	uint32_t staged_from;        /* start of the unit of [.., staged) */
	ppa_t *staged_ppa;           /* buffer/staged.h: known addresses, by slot; NULL: none */
	uint32_t staged_before;      /* bound: [placed, this) was staged before, addresses are only in the map */
	uint32_t landed_slot;        /* buffer slot of sector `landed` */
	uint32_t flush_to;           /* a request waits until [0, flush_to) is durable */
	uint32_t guarded;            /* [0, guarded) is on flash, or in buffer memory kept alive by capacitors (buffer/memory.h) */
	uint32_t home;               /* a loss of power brought [placed, home) to SLC: it must be brought to its place; 0: nothing */
	uint32_t program_to;         /* … program buffered units of [0, program_to) as soon as they are complete */
	bool idle_flush;             /* … no request waits, but the buffer was idle */
	struct write_buffer *buffer; /* bound, or NULL */

	struct waiter for_superblock, for_buffer, for_space, for_log;
	uint64_t log_since_ns; /* waits for room in the map's log since then; 0: it does not */
	lt_word erased;        /* released superblocks erased or retired so far; incremented before a kick */
};

/* lba must be inside the namespace or a backing zone. */
static inline struct extent *extent_at(const struct ftl *ftl, uint64_t lba) { return ftl->extent[zone_number(ftl, lba)]; }

/* Lock held. Nothing is on its way to its place any more, or it need not be. */
static inline void extent_came_home(struct extent *ext)
{
	if (ext->home)
		lt_add(&ext->ftl->homing, (uint64_t)-1);
	ext->home = 0;
}

static inline bool extent_is_backing(const struct extent *ext) { return ext->places; }

/* How far it is on flash. Lock held. */
static inline uint32_t extent_on_flash(const struct extent *ext)
{
	return ext->staged > ext->placed && ext->placed >= ext->staged_from ? ext->staged : ext->placed;
}

/* How far it is durable. Lock held. */
static inline uint32_t extent_durable(const struct extent *ext)
{
	uint32_t on_flash = extent_on_flash(ext);

	return on_flash > ext->guarded ? on_flash : ext->guarded;
}

/* True if the superblock is full, so that writes go to the patch. A patch is begun only when all sectors before it are placed: never are
 * superblock and patch programmed at the same time. Lock held. */
static inline bool extent_in_patch(const struct extent *ext) { return ext->placed >= ext->body; }

/* Sectors of a program into the current target, superblock or patch. Lock held. */
static inline uint32_t extent_program_sectors(const struct extent *ext)
{
	return extent_in_patch(ext) ? ext->ftl->cfg->slc_program_sectors : ext->ftl->unit_sectors;
}
static inline uint32_t *extent_part(struct extent *ext) { return extent_in_patch(ext) ? &ext->patch : &ext->superblock; }

/* Final place of a sector. */
static inline ppa_t extent_place(const struct extent *ext, uint32_t offset)
{
	uint32_t body = ext->body;

	return offset < body ? ppa_make(ext->ftl->map, ext->superblock, offset) : ppa_make(ext->ftl->map, ext->patch, offset - body);
}

/* Buffer slot of a resident or staged sector, or of `landed`. */
static inline uint32_t extent_slot(const struct extent *ext, uint32_t offset)
{
	uint32_t back = ext->landed - offset;

	return ext->landed_slot >= back ? ext->landed_slot - back : ext->landed_slot + ext->ftl->ring_sectors - back;
}

/* Known address of a staged sector, else PPA_NONE. */
static inline ppa_t extent_staged(const struct extent *ext, uint32_t offset)
{
	return ext->staged_ppa ? ext->staged_ppa[extent_slot(ext, offset)] : PPA_NONE;
}

/* Defined by the zone (zone/pump.c), owner of the extent. Runs the extent's pump soon, on the caller's worker. At most one kick per zone
 * is pending. Any hart, any lock. */
void extent_kick(struct ftl_worker *self, struct extent *ext);
/* Its lock held: look at it now. */
void extent_pump(struct ftl_worker *self, struct extent *ext);
/* Its lock held: it cannot be written any more. */
void extent_fail(struct ftl_worker *self, struct extent *ext);

#endif
