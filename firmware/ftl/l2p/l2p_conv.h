/* Conventional zones' side of the map on flash: the functions of l2p.h for them, and what they share with the rest of it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_CONV_H
#define FTL_L2P_CONV_H

#include "l2p/l2p.h"

uint32_t l2p_cached_conv_read(struct ftl_worker *self, struct ftl_request *req, uint64_t lba, uint32_t count, uint32_t *place);
void l2p_cached_conv_map(struct ftl_worker *self, uint64_t lba, uint32_t count, uint32_t to, struct hz_oob *oob);
bool l2p_cached_conv_move(struct ftl_worker *self, uint64_t lba, uint32_t from, uint32_t to, struct hz_oob *oob);
uint32_t l2p_cached_conv_unmap(struct ftl_worker *self, uint64_t lba, uint32_t count);
uint32_t l2p_cached_conv_hint(struct ftl *ftl, uint64_t lba);
uint32_t l2p_cached_conv_peek(struct ftl *ftl, uint64_t lba);
uint32_t l2p_cached_conv_mapped(struct ftl *ftl, const struct extent *ext, uint32_t *offset, struct l2p_sector *sector);
uint64_t l2p_cached_conv_stale(struct ftl *ftl);

#endif
