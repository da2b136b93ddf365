/* The walk over the SLC log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "mount/mount_visit.h"

#include "mount/mount_blocks.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

void mount_visit_slc(struct mount *mount, mount_visit_fn *visit)
{
	struct ftl *ftl = mount->ftl;
	struct slc *slc = ftl->slc;

	for (uint32_t b = 0; b < slc->blocks; b++) {
		mount_look_at_blocks(mount, b, slc->unit_sectors);
		for (uint32_t u = 0; u < slc->units; u++) {
			ppa_t ppa = ppa_make(ftl->map, b, u * slc->unit_sectors);

			if (u / slc->planes >= mount->rows[u % slc->planes])
				continue;
			tsu_read_now(ftl->tsu, ppa, slc->unit_sectors, NULL, 0, mount->oob);
			for (uint32_t i = 0; i < slc->unit_sectors; i++)
				visit(mount, &mount->oob[i], ppa + i);
		}
	}
}
