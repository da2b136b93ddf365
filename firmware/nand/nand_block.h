/* The block table of the image: two copies of each entry, and the checks of an entry. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_BLOCK_H
#define NAND_BLOCK_H

#include "nand/nand_media.h"

#ifdef __cplusplus
extern "C" {
#endif

/* After a change of media->blocks[number] (but read_count): checksum and copy. The first copy is written first and whole, so a killed
 * writer leaves one good entry, the new one or the old. */
void nand_block_store(struct nand_media *media, uint32_t number);
/* Formatting: all entries are those of unused blocks; chance makes some of them bad. */
void nand_blocks_format(struct nand_media *media);
/* Start: repairs damaged entries from their copies. NULL, or one sentence about the first lost or impossible entry. */
const char *nand_blocks_open(struct nand_media *media);
/* Offline check, after nand_blocks_open refused: a lost or impossible entry becomes that of a fully programmed block, so that its
 * sectors' records can be read. */
void nand_blocks_guess(struct nand_media *media);

#ifdef __cplusplus
}
#endif
#endif
