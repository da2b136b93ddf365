/* Inside mount only: what its steps hand on to one another. */
#ifndef FTL_MOUNT_STATE_H
#define FTL_MOUNT_STATE_H

#include "base/context.h"

/* What is known of a page of the zone table. */
struct table_found {
	uint64_t known;               /* highest sequence number of a copy, whether it can be read or not */
	uint64_t readable;            /* … of one that can */
};

struct mount {
	struct ftl *ftl;
	struct arena *arena;
	bool at_rest;                 /* nothing was programmed or erased since all zones were recorded */
	struct hz_oob *oob;           /* one unit */
	uint32_t *rows;               /* by column: units programmed in the block at hand */
	bool erasing, bad, used;      /* of the superblock at hand */
	uint32_t erases;              /* of its most worn block */
	struct table_found *table;    /* by table page */
	uint32_t *beyond;             /* by zone: end of the last staged copy */
	uint32_t *lost;               /* by zone: units at the end of its superblock without all records */
	bool *hole, *padded;          /* by zone: what it holds cannot be continued; it ends in padding */
};

/* What a zone has programmed in one piece: [base, …) of it, in a superblock, or the SLC superblock of its patch. */
struct part { uint32_t superblock, base, unit; };
struct part mount_body(const struct ftl *ftl, uint32_t superblock);
struct part mount_patch(const struct ftl *ftl, uint32_t superblock);

/* Block table entries of a superblock, column by column, into mount. */
void mount_look_at_blocks(struct mount *mount, uint32_t superblock, uint32_t unit);
/* Units of a part's first `sectors` sectors in this column. */
uint32_t mount_rows_for(const struct mount *mount, const struct part *part, uint32_t sectors, uint32_t column);
/* The image is no longer what this firmware wrote: a sentence in ftl->text. number: UINT32_MAX = none. */
const char *mount_damaged(struct mount *mount, const char *what, uint32_t number, const char *why);
/* Written since the zone's last reset? */
bool mount_alive(const struct mount *mount, const struct zone *zone, const struct hz_oob *oob);
/* Addresses of user data: those of the namespace, then those of the backing zones. */
bool mount_in_zones(const struct ftl *ftl, uint32_t lpa);

/* The steps: NULL, or one sentence why the media cannot be mounted. */
const char *mount_find_tables(struct mount *mount);      /* mount_tables.c */
const char *mount_load_records(struct mount *mount);
const char *mount_find_superblocks(struct mount *mount); /* mount_superblocks.c */
const char *mount_take_superblocks(struct mount *mount); /* mount_rest.c */
const char *mount_find_staged(struct mount *mount);      /* mount_staged.c */
const char *mount_settle_zones(struct mount *mount);
/* Visits every programmed sector of the SLC log. mount_tables.c */
typedef void mount_visit_fn(struct mount *mount, const struct hz_oob *oob, ppa_t ppa);
void mount_visit_slc(struct mount *mount, mount_visit_fn *visit);

#endif
