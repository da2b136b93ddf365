/* The header of an image: two copies (one is enough), each with a clean mark. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_HEADER_H
#define NAND_HEADER_H

#include "nand/nand_media.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nand_header_state {
	NAND_HEADER_GOOD,
	NAND_HEADER_NEW,     /* nothing was ever written: to be formatted */
	NAND_HEADER_FOREIGN, /* no image of this program */
	NAND_HEADER_OTHER,   /* of another format version: *version */
	NAND_HEADER_DAMAGED, /* neither copy can be believed */
};
/* Check both copies in an image of `bytes` bytes; changes nothing. Good: *header is the valid one. A new image has only zeros in its
 * first `formatted` bytes, the part written by formatting. */
enum nand_header_state nand_header_find(const uint8_t *base, uint64_t bytes, uint64_t formatted, const struct hz_nand_header **header,
					uint32_t *version);
/* True if its version is known, and it is whole and undamaged. */
bool nand_header_good(const struct hz_nand_header *header);
/* Write both copies from media->header and media->nand.cfg. */
void nand_header_store(struct nand_media *media);

/* The media's side of nand_ops.clean_mark and .mark_clean. */
struct nand_clean_mark nand_clean_mark_read(struct nand *nand, uint32_t window);
void nand_clean_mark_set(struct nand *nand, uint32_t window, uint32_t record);
/* Start: choose the valid one of the two words, and write it to both; for each namespace. */
void nand_clean_mark_open(struct nand_media *media);
/* Before every program and erase, of this block: its namespace is no longer clean. */
void nand_clean_mark_end(struct nand_media *media, uint32_t flat_block);

#ifdef __cplusplus
}
#endif
#endif
