/* State of a mount, and its steps. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_MOUNT_INTERNAL_H
#define FTL_MOUNT_MOUNT_INTERNAL_H

#include "base/zone.h"
#include "buffer/staged.h"

/* Shared by the steps of mount only. */

struct arena;
struct zone;

/* Findings about a page of the zone table. */
struct table_found {
	uint64_t known;    /* highest sequence number of a copy, whether it can be read or not */
	uint64_t readable; /* … of a readable copy */
};

/* Owner of a superblock by its first known record. */
struct claim {
	struct zone *zone; /* NULL: no zone that can have them */
	uint64_t sequence; /* of that record */
};

#define KEPT_NONE UINT32_MAX

struct mount {
	struct ftl *ftl;
	struct arena *arena;
	bool clean;                /* nothing was programmed or erased since all zones were recorded */
	struct hz_oob *oob;        /* one unit */
	uint32_t planes;           /* of the present superblock */
	uint32_t *rows, *done;     /* by column of it, those of its parity last: units programmed in its block; … with ended programs */
	bool erasing, bad, used;   /* of it */
	uint32_t erases;           /* of its most worn block */
	struct table_found *table; /* by table page */
	bool whole;                /* data are read with the records: something could not be read otherwise */
	bool *again;               /* by page of the SLC log: it is to be visited again */
	struct claim *claim;       /* by superblock */
	bool *doubted;             /* by zone: its record cannot be true */
	uint32_t *beyond;          /* by zone: end of the last staged copy */
	uint32_t *lost;            /* by zone: units at the end of its superblock without all records */
	bool *hole, *padded;       /* by zone: its data cannot be continued; it ends in padding */
	struct staged_lists lists; /* of zones in the present step */
	bool *settled;             /* by zone: it has been */
	bool revisits;             /* not for the first time: there were more zones than lists */
	uint64_t *first;           /* by zone: sequence number of the first sector in its superblock */
	uint32_t *kept_first,
		*kept_next;           /* by zone, by place of the memory kept alive by capacitors: lists of places; KEPT_NONE ends one */
	uint32_t *kept_at;            /* by slot of a write buffer: places of the present zone */
	uint64_t slc_lost, explained; /* sectors of the SLC log lost with their records; … missing in a zone */
	bool too_many_updates;        /* … were written in place for this device's budget */
	bool unlisted;                /* a visit met staged sectors without a list for their zone */
	bool no_windows;              /* there are sectors of windows, and the device has none or too few */
};

/* Mount: zones due to move because of many reads or age (zone/move.h). */

const char *mount_note_due(struct mount *mount);

/* Helpers of the mount steps: programmed units, and superblocks in use. */

/* A consecutive part of a zone: [base, …) of it, in a superblock, or in the SLC superblock of its patch. */
struct part {
	uint32_t superblock, base, unit;
	bool patch;
};
struct part mount_body(const struct ftl *ftl, uint32_t superblock);
/* base: 0 until its zone is known. */
struct part mount_patch(const struct ftl *ftl, uint32_t superblock);

/* Load the block table entries of a superblock, column by column, into mount: it becomes the present one. */
void mount_look_at_blocks(struct mount *mount, uint32_t superblock, uint32_t unit);
/* Units of a part's first `sectors` sectors in this column of the present superblock. */
uint32_t mount_rows_for(const struct mount *mount, const struct part *part, uint32_t sectors, uint32_t column);
/* With rain, of the present superblock: the parity of this row or of a later one is programmed. */
bool mount_parity_ahead(const struct mount *mount, uint32_t row);
/* The image is not as written by this firmware: a sentence in ftl->text. number: UINT32_MAX = none. */
const char *mount_damaged(struct mount *mount, const char *what, uint32_t number, const char *why);
/* Written since the zone's last reset? */
bool mount_alive(const struct mount *mount, const struct zone *zone, const struct hz_oob *oob);
/* Addresses of user data: those of the namespace, then those of the backing zones. */
bool mount_in_zones(const struct ftl *ftl, uint32_t lpa);

/* Mount after a clean shutdown: the superblocks. */

/* NULL, or one sentence why the media cannot be mounted. */
const char *mount_take_superblocks(struct mount *mount);

/* Mount: staged sectors, write pointers and states. */

/* NULL, or one sentence why the media cannot be mounted. */
const char *mount_find_staged(struct mount *mount);
const char *mount_settle_zones(struct mount *mount);

/* Mount after a power cut: the superblocks. */

/* NULL, or one sentence why the media cannot be mounted. */
/* Find superblocks in use and blank ones; after a power cut also the zone that each claims. */
const char *mount_look_at_superblocks(struct mount *mount);
const char *mount_find_reach(struct mount *mount);
/* After a clean shutdown: search zones with doubtful records, in superblocks of no other zone. */
void mount_find_doubted(struct mount *mount);

/* Mount: the zone table. */

/* NULL, or one sentence why the media cannot be mounted. */
const char *mount_find_tables(struct mount *mount);
const char *mount_load_records(struct mount *mount);

/* Mount: every sector of the SLC log, page by page. */

/* True: the sector's page is to be visited again. */
typedef bool mount_visit_fn(struct mount *mount, const struct hz_oob *oob, ppa_t ppa);
/* Visit every programmed sector. Only records were read, so that HZ_OOB_LOST may be missing, unless mount->whole. */
void mount_visit_slc(struct mount *mount, mount_visit_fn *visit);
/* The same for pages that a visit asked to visit again. True: some are left. */
bool mount_visit_again(struct mount *mount, mount_visit_fn *visit);

#endif
