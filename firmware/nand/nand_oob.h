/* OOB records of the image: two copies of each. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_OOB_H
#define NAND_OOB_H

#include "nand/nand_media.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes both copies of record `number`; `checksum` is filled in. */
void nand_oob_store(struct nand_media *media, uint64_t number, const struct hz_nand_oob *record);
/* The record, from whichever copy is good; a damaged first copy is repaired. False: neither is. */
bool nand_oob_load(struct nand_media *media, uint64_t number, struct hz_nand_oob *out);
/* Both copies of `count` records are blank. */
void nand_oob_erase(struct nand_media *media, uint64_t number, uint32_t count);
/* Result of a torn program: neither copy is good. */
void nand_oob_spoil(struct nand_media *media, uint64_t number);

/* Memory kept alive by capacitors (nand.h, keep and kept), and clearing all of it. */
void nand_keep(struct nand *nand, uint32_t place, const uint8_t *sector, const struct hz_oob *oob);
uint8_t *nand_kept(struct nand *nand, uint32_t place, struct hz_oob *oob);
void nand_keep_nothing(struct nand *nand);

#ifdef __cplusplus
}
#endif
#endif
