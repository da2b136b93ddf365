/* The media: flash rules, faults and power cuts over an image in memory (layout: protocol/nand_image.h).
 *
 * Crash order: a program takes back the clean mark, raises the block's write_sector, then writes data, then OOB records with their
 * checksums last; an erase flags the block ERASING, clears OOB, then resets the block. So whenever the writer is killed, no sector has a
 * good OOB record over partial data, and a sector below write_sector without one is torn. Erased data are never touched: a sector
 * without OOB has no data. Duplicated structures (nand_header.h, nand_block.h, nand_oob.h) are written one copy after the other. Calls
 * run with the clock frozen: the flash itself does this work. Blocks of different channels may be used by different harts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_MEDIA_H
#define NAND_MEDIA_H

#include "lt/arena.h"
#include "lt/arch.h"
#include "namespaces.h"
#include "nand/nand.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Injected faults and their receiver. All zero: none, and a refusal stops the run (lt_fail). Operations = programs and erases, numbered
 * from 1 since nand_media_init. */
struct nand_policy {
	uint64_t power_cut_op;                        /* power goes in this operation; 0 = never */
	uint64_t power_cut_ns;                        /* power goes at this device time; 0 = never */
	uint64_t fail_op;                             /* this operation fails; 0 = none */
	uint64_t capacitors_empty_op;                 /* with capacitors: they are empty in this operation; 0 = never */
	uint32_t cut_before;                          /* with power_cut_op: 1 = just before the operation, without a trace of it */
	void (*power_lost)(void *ctx);                /* once, on the hart that saw it; NULL = no receiver */
	void (*refused)(void *ctx, const char *text); /* NULL = lt_fail */
	void *ctx;
};

struct nand_media {
	struct nand nand; /* first: a struct nand * is one of these */
	struct nand_policy policy;
	struct hz_nand_header *header;
	uint64_t header_copy_offset;
	struct hz_nand_block *blocks, *blocks_copy;
	struct hz_nand_oob *oob, *oob_copy;
	uint8_t *data;
	uint64_t *tuples;  /* NULL: none are kept */
	struct nand_kept { /* memory kept alive by capacitors: struct hz_nand_layout */
		uint32_t places, stride;
		struct hz_nand_oob *record;
		uint8_t *data;
	} kept;
	uint32_t data_blocks, data_sectors;     /* struct hz_nand_layout */
	uint32_t sectors_per_block[2], unit[2]; /* [0] SLC, [1] normal */
	uint32_t page_shift;                    /* log2 of sectors per page */
	uint32_t oob_per_block;
	uint64_t epoch_ns;          /* powered time of the image at the start of device time, plus shelf_hours */
	uint64_t powered_before_ns; /* header's powered_ns at the start of device time */
	lt_word operations, off;
	lt_word clean_mark[HZ_MAX_NAMESPACES]; /* the image's clean marks */
	struct hz_window window[HZ_MAX_NAMESPACES];
	lt_word repaired;           /* damaged copies rewritten from the other one */
	lt_word kind_operations[3]; /* programs, erases, reads: to fail a chosen one */
	char text[256];
};

/* A killed QEMU has done all stores up to some instruction, and none after it: program order is enough. */
static inline void nand_crash_order(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/* Use the image at base: formats a new one (magic 0), keeps an old one. policy may be NULL; it is copied. Returns NULL, or one
 * sentence (static or in media->text) if the image is too small or of another geometry. */
const char *nand_media_init(struct nand_media *media, const struct hz_device_config *cfg, const struct flash_map *map, void *base,
			    uint64_t bytes, const struct nand_policy *policy);
/* Programs and erases so far, refused ones not counted. */
uint64_t nand_media_operations(const struct nand_media *media);

#ifdef __cplusplus
}
#endif
#endif
