/* Trims: deallocated conventional LBAs, one bit each. They have no place and read as zeros; the bits are for the next mount, since it
 * finds their former sectors on flash.
 *
 * A page of bits is a sector of the SLC log (zone/tables.h), and its sequence number dates it: for an LBA with its bit set there,
 * sectors with lower numbers are dead. So a write clears the bit in RAM only, before it takes its number, and the page on flash stays
 * true.
 *
 * A bit changes under the map's lock of its LBA, together with the entry; its word and the page's flag are shared words. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_TRIMS_H
#define FTL_TRIMS_H

#include "base/context.h"
#include "nand_image.h"

struct arena;

enum { TRIM_WORD_BITS = 64, TRIM_PAGE_WORDS = HZ_TRIM_PAGE_LBAS / TRIM_WORD_BITS };

struct trim_page {
	lt_word unsaved;   /* 1: a bit was set after the copy on flash */
	ppa_t ppa;         /* its copy, PPA_NONE: none. Lock of the saver */
	uint64_t sequence; /* mount: the copy's; of a newer, unreadable one */
	uint64_t lost;
};

struct trims {
	lt_word *bits;   /* by LBA / TRIM_WORD_BITS */
	lt_word used;    /* 1: a bit may be set */
	lt_word unsaved; /* unsaved pages */
	struct trim_page *page;
};

void trims_init(struct ftl *ftl, struct arena *arena);

bool trims_has(const struct ftl *ftl, uint64_t lba);
/* Map's lock held, or harts idle. */
void trims_set(struct ftl *ftl, uint64_t lba, uint32_t count);
void trims_clear(struct ftl *ftl, uint64_t lba, uint32_t count);
/* Map's lock held: [lba, lba + count) is about to be written, and has no sequence numbers yet. */
static inline void trims_written(struct ftl *ftl, uint64_t lba, uint32_t count)
{
	if (lt_load(&ftl->trims->used))
		trims_clear(ftl, lba, count);
}

/* The page must be saved (again). */
void trims_want_page(struct ftl *ftl, uint32_t page);
/* True: the page must be saved, and the caller will save all bits set until now. */
bool trims_take_page(struct ftl *ftl, uint32_t page);
/* How the page is on flash. */
void trims_store(const struct ftl *ftl, uint32_t page, uint64_t *image);

/* --- mount --- */
void trims_load(struct ftl *ftl, uint32_t page, const uint64_t *image);
/* The LBA is mapped: its bit goes, and the page is to be saved without it. */
void trims_forget(struct ftl *ftl, uint64_t lba);
/* Had this sector of the LBA been deallocated when the page was saved? Before its bit has been forgotten. */
bool trims_dead(const struct ftl *ftl, uint64_t lba, uint64_t sequence);

#endif
