/* The header of an image: two copies, of which one is enough, and the rest word beside each. */
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
/* Looks at both copies in an image of `bytes` bytes; changes nothing. Good: *header is the one that counts. A new image has nothing but
 * zeros up to `formatted` bytes, which is where formatting writes. */
enum nand_header_state nand_header_find(const uint8_t *base, uint64_t bytes, uint64_t formatted, const struct hz_nand_header **header,
					uint32_t *version);
/* Of a version that this format has, whole and undamaged? */
bool nand_header_good(const struct hz_nand_header *header);
/* Both copies become what media->header and media->nand.cfg say. */
void nand_header_store(struct nand_media *media);

/* The media's side of nand_ops.rest and .come_to_rest. */
struct nand_rest nand_rest_read(struct nand *nand, uint32_t window);
void nand_rest_come(struct nand *nand, uint32_t window, uint32_t record);
/* Start: which of the two words counts, and both become that one; for each namespace. */
void nand_rest_open(struct nand_media *media);
/* Before every program and erase, of this block: its namespace is no longer at rest. */
void nand_rest_end(struct nand_media *media, uint32_t flat_block);

#ifdef __cplusplus
}
#endif
#endif
