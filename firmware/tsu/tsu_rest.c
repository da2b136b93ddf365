/* Power history and clean marks of the image, for users of the TSU. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_rest.h"

#include "tsu/tsu_state.h"

void tsu_history(struct tsu *tsu, struct nand_history *out) { tsu->nand->ops->history(tsu->nand, out); }

void tsu_shut_down(struct tsu *tsu, bool done) { tsu->nand->ops->shut_down(tsu->nand, done); }

struct nand_rest tsu_rest(struct tsu *tsu) { return tsu->nand->ops->rest(tsu->nand, tsu->window); }

void tsu_come_to_rest(struct tsu *tsu, uint32_t record) { tsu->nand->ops->come_to_rest(tsu->nand, tsu->window, record); }

struct nand_namespace tsu_namespace_state(struct tsu *tsu, uint32_t window) { return tsu->nand->ops->namespace_state(tsu->nand, window); }

void tsu_set_namespace(struct tsu *tsu, uint32_t window, struct nand_namespace to) { tsu->nand->ops->set_namespace(tsu->nand, window, to); }

void tsu_controller(struct tsu *tsu, struct hz_nand_controller *out) { tsu->nand->ops->controller(tsu->nand, out); }

void tsu_set_controller(struct tsu *tsu, const struct hz_nand_controller *to) { tsu->nand->ops->set_controller(tsu->nand, to); }
