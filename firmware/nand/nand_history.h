/* The media's side of nand_ops.history and .shut_down (nand.h), and the count of this start. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_HISTORY_H
#define NAND_HISTORY_H

#include "nand/nand_media.h"

/* Once per start, by nand_media_init, on an accepted image. */
void nand_history_begin(struct nand_media *media);
void nand_history_read(struct nand *nand, struct nand_history *out);
void nand_history_shut_down(struct nand *nand, bool done);

#endif
