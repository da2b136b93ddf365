/* Power history and clean marks of the image, and what its blocks hold, for users of the TSU. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_image.h"

#include "tsu/tsu_state.h"

bool tsu_holds_data(struct tsu *tsu, ppa_t ppa)
{
	const struct hz_nand_block *block;
	bool holds;

	clock_freeze();
	block = tsu->nand->ops->block(tsu->nand, flash_addr_of(tsu->map, ppa));
	holds = (block->write_sector || block->flags & HZ_BLOCK_ERASING) && !(block->flags & (HZ_BLOCK_BAD_FACTORY | HZ_BLOCK_BAD_GROWN));
	clock_thaw();
	return holds;
}

void tsu_history(struct tsu *tsu, struct nand_history *out) { tsu->nand->ops->history(tsu->nand, out); }

void tsu_shut_down(struct tsu *tsu, bool done) { tsu->nand->ops->shut_down(tsu->nand, done); }

struct nand_clean_mark tsu_clean_mark(struct tsu *tsu) { return tsu->nand->ops->clean_mark(tsu->nand, tsu->window); }

void tsu_mark_clean(struct tsu *tsu, uint32_t record) { tsu->nand->ops->mark_clean(tsu->nand, tsu->window, record); }

struct nand_namespace tsu_namespace_state(struct tsu *tsu, uint32_t window) { return tsu->nand->ops->namespace_state(tsu->nand, window); }

void tsu_set_namespace(struct tsu *tsu, uint32_t window, struct nand_namespace to) { tsu->nand->ops->set_namespace(tsu->nand, window, to); }

void tsu_controller(struct tsu *tsu, struct hz_nand_controller *out) { tsu->nand->ops->controller(tsu->nand, out); }

void tsu_set_controller(struct tsu *tsu, const struct hz_nand_controller *to) { tsu->nand->ops->set_controller(tsu->nand, to); }
