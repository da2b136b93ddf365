/* Power history and clean marks of the image, and what its blocks hold, for users of the TSU. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_IMAGE_H
#define TSU_IMAGE_H

#include "nand/nand.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tsu;

/* The device's power history, and the clean mark of this view's namespace, kept by the media; nand_ops describes them. */
void tsu_history(struct tsu *tsu, struct nand_history *out);
void tsu_shut_down(struct tsu *tsu, bool done);
struct nand_clean_mark tsu_clean_mark(struct tsu *tsu);
void tsu_mark_clean(struct tsu *tsu, uint32_t record);
struct nand_namespace tsu_namespace_state(struct tsu *tsu, uint32_t window);
void tsu_set_namespace(struct tsu *tsu, uint32_t window, struct nand_namespace to);
void tsu_controller(struct tsu *tsu, struct hz_nand_controller *out);
void tsu_set_controller(struct tsu *tsu, const struct hz_nand_controller *to);
/* Has the block of ppa been programmed since its last erase, or is it half erased, and is it not bad? No transaction for it is under way. */
bool tsu_holds_data(struct tsu *tsu, ppa_t ppa);

#ifdef __cplusplus
}
#endif
#endif
