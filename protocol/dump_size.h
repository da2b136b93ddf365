/* Flash and energy that a device must reserve for the data protected by its capacitors. Both sides count alike. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_DUMP_SIZE_H
#define HZ_PROTOCOL_DUMP_SIZE_H

#include "geometry.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Most sectors protected at a time: plp_bytes, or fewer if the energy lasts for fewer. */
uint32_t hz_dump_sectors(const struct hz_device_config *cfg, const struct hz_shape *shape);
/* SLC superblocks reserved for them; 0: nothing is protected. */
uint32_t hz_dump_superblocks(const struct hz_device_config *cfg, const struct hz_shape *shape);
/* Upper bound, in picojoules, on the energy of programming that many sectors on capacitors, at any place and with any running operations
 * of the dies, with plp_failures failing programs. */
uint64_t hz_dump_energy_pj(const struct hz_device_config *cfg, const struct hz_shape *shape, uint32_t sectors);
#ifdef __cplusplus
}
#endif

#endif
