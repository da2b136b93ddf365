/* What the steps of mount ask again and again: what is programmed where, and whether it lives. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_MOUNT_BLOCKS_H
#define FTL_MOUNT_BLOCKS_H

#include "base/extent.h"
#include "mount/mount_state.h"

/* What a zone has programmed in one piece: [base, …) of it, in a superblock, or the SLC superblock of its patch. */
struct part {
	uint32_t superblock, base, unit;
	bool patch;
};
struct part mount_body(const struct ftl *ftl, uint32_t superblock);
/* base: 0 until it is known whose it is. */
struct part mount_patch(const struct ftl *ftl, uint32_t superblock);

/* Block table entries of a superblock, column by column, into mount: it is at hand then. */
void mount_look_at_blocks(struct mount *mount, uint32_t superblock, uint32_t unit);
/* Units of a part's first `sectors` sectors in this column; its superblock is at hand. */
uint32_t mount_rows_for(const struct mount *mount, const struct part *part, uint32_t sectors, uint32_t column);
/* The image is no longer what this firmware wrote: a sentence in ftl->text. number: UINT32_MAX = none. */
const char *mount_damaged(struct mount *mount, const char *what, uint32_t number, const char *why);
/* Written since the zone's last reset? */
bool mount_alive(const struct mount *mount, const struct extent *ext, const struct hz_oob *oob);
/* Addresses of user data: those of the namespace, then those of the backing zones. */
bool mount_in_zones(const struct ftl *ftl, uint32_t lpa);

#endif
