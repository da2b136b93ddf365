/* The block table of the image: two copies of each entry, and what an entry must be to be believed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_BLOCK_H
#define NAND_BLOCK_H

#include "nand/nand_media.h"

#ifdef __cplusplus
extern "C" {
#endif

/* After a change of media->blocks[number] (but read_count): checksum and copy. The first copy is written first and whole, so a writer that
 * is killed leaves one good entry, the new one or the old. */
void nand_block_store(struct nand_media *media, uint32_t number);
/* Formatting: all entries are those of blocks that were never used; chance makes some of them bad. */
void nand_blocks_format(struct nand_media *media);
/* Start: repairs damaged entries from their copies. NULL, or one sentence about the first entry that is lost or impossible. */
const char *nand_blocks_open(struct nand_media *media);
/* Offline check, after nand_blocks_open refused: an entry that is lost or impossible becomes that of a fully programmed block, so that its
 * sectors' records can be looked at. */
void nand_blocks_guess(struct nand_media *media);

#ifdef __cplusplus
}
#endif
#endif
