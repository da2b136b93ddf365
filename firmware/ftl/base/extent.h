/* An extent: the sectors of a zone, which are written in order, and where they lie on their way to flash. By offset in sectors:
 *
 *     0 … placed   in the superblock (and, beyond it, in the patch: an SLC superblock; a backing zone may have nothing else), durable
 *       … staged   in SLC, durable (staged > placed only for the unit that is filling, or for what a loss of power brought there)
 *       … guarded  in the part of the write buffers that outlasts a loss of power, durable
 *       … landed   in the write buffer, which holds [resident, landed)
 *       … wp       accepted, data still with the host; nothing in a backing zone
 *
 * What knows only where data lie (SLC log, map, write buffers) works on extents; it calls their owner, the zone
 * (zone/zone.h), by extent_kick, extent_pump and extent_fail. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_EXTENT_H
#define FTL_EXTENT_H

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
	uint32_t body;             /* so many are in the superblock, the others in the patch; BODY_ALL: it has no patch */
	struct place_zone *places; /* of a backing zone (places/places.h), whose sectors are mapped one by one; else NULL */
	uint8_t stream, frontier;  /* backing: enum place_stream that fills it, and the write frontier */
	uint32_t generation;       /* raised by every reset; older data on flash are dead */

	uint32_t superblock;            /* SUPERBLOCK_NONE until the first write needs one */
	uint32_t patch;                 /* SLC superblock with the sectors beyond it; SUPERBLOCK_NONE until one is needed */
	bool bad_superblock, bad_patch; /* a program failed in it: retire it instead of erasing it */
	bool relocate;                  /* it cannot be continued: move to a fresh one before the next program */
	bool reread;                    /* … what is programmed anew there is in registers of dies only */
	bool emptied;                   /* it is being reset: what is staged is dead */
	bool failed;                    /* nothing more can be programmed: queued writes end with NVME_WRITE_FAULT */

	uint32_t wp, landed, placed, staged, resident;
	uint32_t staged_from;        /* start of the unit that [.., staged) belongs to */
	ppa_t *staged_ppa;           /* buffer/staged.h: addresses at hand, by slot; NULL: none */
	uint32_t staged_before;      /* bound: [placed, this) was staged before, and only the map knows where */
	uint32_t landed_slot;        /* buffer slot of sector `landed` */
	uint32_t flush_to;           /* somebody waits until [0, flush_to) is durable */
	uint32_t guarded;            /* [0, guarded) is on flash, or in buffer space that outlasts a loss of power (buffer/memory.h) */
	uint32_t home;               /* a loss of power brought [placed, home) to SLC: it must be brought to its place; 0: nothing */
	uint32_t program_to;         /* … what is buffered of [0, program_to) is programmed as soon as it is complete */
	bool idle_flush;             /* … nobody does, but the buffer was idle */
	struct write_buffer *buffer; /* bound, or NULL */

	struct waiter for_superblock, for_buffer, for_space, for_log;
	uint64_t log_since_ns; /* waits for room in the map's log since then; 0: it does not */
	lt_word erased;        /* how many of the superblocks that it gave up have been erased or retired; raised before a kick */
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

/* Lock held. Has it filled its superblock, so that what follows goes to its patch? A patch is begun only when everything before is
 * placed: at any time either the superblock or the patch is being programmed. */
static inline bool extent_in_patch(const struct extent *ext) { return ext->placed >= ext->body; }

/* Lock held. Of what is being programmed: the sectors of a program, and the superblock or the patch. */
static inline uint32_t extent_program_sectors(const struct extent *ext)
{
	return extent_in_patch(ext) ? ext->ftl->cfg->slc_program_sectors : ext->ftl->unit_sectors;
}
static inline uint32_t *extent_part(struct extent *ext) { return extent_in_patch(ext) ? &ext->patch : &ext->superblock; }

/* Where a sector belongs. */
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

/* Address of a staged sector if it is at hand, else PPA_NONE. */
static inline ppa_t extent_staged(const struct extent *ext, uint32_t offset)
{
	return ext->staged_ppa ? ext->staged_ppa[extent_slot(ext, offset)] : PPA_NONE;
}

/* Defined by the zone (zone/pump.c), which owns the extent.
 * Any hart, any lock: look at it soon, on the caller's worker. At most one kick per zone is under way. */
void extent_kick(struct ftl_worker *self, struct extent *ext);
/* Its lock held: look at it now. */
void extent_pump(struct ftl_worker *self, struct extent *ext);
/* Its lock held: it cannot be written any more. */
void extent_fail(struct ftl_worker *self, struct extent *ext);

#endif
