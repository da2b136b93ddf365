/* What a device must have at hand for the data that its capacitors protect: flash, and energy. Both sides count alike. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_KEEP_SIZE_H
#define HZ_PROTOCOL_KEEP_SIZE_H

#include "geometry.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Sectors that may be protected at a time: plp_bytes, or fewer if the energy lasts for fewer. */
uint32_t hz_keep_sectors(const struct hz_device_config *cfg, const struct hz_shape *shape);
/* SLC superblocks that are kept erased for them; 0: nothing is protected. */
uint32_t hz_keep_superblocks(const struct hz_device_config *cfg, const struct hz_shape *shape);
/* Most energy, in picojoules, that programming so many sectors on capacitors takes, wherever they lie and whatever the dies do when power
 * goes, with plp_failures failing programs. */
uint64_t hz_keep_energy_pj(const struct hz_device_config *cfg, const struct hz_shape *shape, uint32_t sectors);
#ifdef __cplusplus
}
#endif

#endif
