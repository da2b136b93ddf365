/* Inside mount only: what its steps hand on to one another. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_STATE_H
#define FTL_MOUNT_STATE_H

#include "buffer/staged.h"

struct arena;
struct zone;

/* What is known of a page of the zone table. */
struct table_found {
	uint64_t known;    /* highest sequence number of a copy, whether it can be read or not */
	uint64_t readable; /* … of one that can */
};

/* Whose data a superblock's first known record says that it holds. */
struct claim {
	struct zone *zone; /* NULL: nobody's that can have them */
	uint64_t sequence; /* of that record */
};

#define KEPT_NONE UINT32_MAX

struct mount {
	struct ftl *ftl;
	struct arena *arena;
	bool at_rest;              /* nothing was programmed or erased since all zones were recorded */
	struct hz_oob *oob;        /* one unit */
	uint32_t planes;           /* of the superblock at hand */
	uint32_t *rows, *done;     /* by column of it: units programmed in its block; those whose programs have ended */
	bool erasing, bad, used;   /* of it */
	uint32_t erases;           /* of its most worn block */
	struct table_found *table; /* by table page */
	bool whole;                /* data are read with the records: something could not be read otherwise */
	bool *again;               /* by page of the SLC log: it is to be visited again */
	struct claim *claim;       /* by superblock */
	bool *doubted;             /* by zone: its record cannot be true */
	uint32_t *beyond;          /* by zone: end of the last staged copy */
	uint32_t *lost;            /* by zone: units at the end of its superblock without all records */
	bool *hole, *padded;       /* by zone: what it holds cannot be continued; it ends in padding */
	struct staged_lists lists; /* of zones that are looked at now */
	bool *settled;             /* by zone: it has been */
	bool revisits;             /* not for the first time: there were more zones than lists */
	uint64_t *first;           /* by zone: sequence number of the first sector in its superblock */
	uint32_t *kept_first,
		*kept_next;           /* by zone, by place of the memory that capacitors keep alive: lists of places; KEPT_NONE ends one */
	uint32_t *kept_at;            /* by slot of a write buffer: places of the zone at hand */
	uint64_t slc_lost, explained; /* sectors of the SLC log that are lost with their records; … that a zone misses */
	bool too_many_updates;        /* … were written in place for this device's budget */
};

#endif
