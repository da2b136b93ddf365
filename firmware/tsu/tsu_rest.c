/* What the image knows of power and rest: the media's own words. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_rest.h"

#include "tsu/tsu_state.h"

void tsu_history(struct tsu *tsu, struct nand_history *out) { tsu->nand->ops->history(tsu->nand, out); }

void tsu_shut_down(struct tsu *tsu, bool done) { tsu->nand->ops->shut_down(tsu->nand, done); }

struct nand_rest tsu_rest(struct tsu *tsu) { return tsu->nand->ops->rest(tsu->nand); }

void tsu_come_to_rest(struct tsu *tsu, uint32_t record) { tsu->nand->ops->come_to_rest(tsu->nand, record); }
