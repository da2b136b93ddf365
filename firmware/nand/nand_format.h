/* Opening an image: format a new one, repair an old one, refuse one that is foreign, damaged beyond repair, or of another shape. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_FORMAT_H
#define NAND_FORMAT_H

#include "nand/nand_media.h"

/* Set header, blocks, oob and data of media; its nand.cfg and nand.map are set. NULL or one sentence. */
const char *nand_format_open(struct nand_media *media, uint8_t *base, uint64_t bytes);

#endif
