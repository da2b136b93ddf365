/* Namespaces: each has a window of the flash to itself, a range of channels, chips, dies and planes, and a share of their blocks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_NAMESPACES_H
#define HZ_PROTOCOL_NAMESPACES_H

#include <stdbool.h>

#include "device_config.h"
#include "geometry.h"

/* A range as struct hz_device_config keeps it: the first in the low half, the one behind the last in the high half; 0 = all. */
static inline uint32_t hz_range_word(uint32_t first, uint32_t last) { return first | (last + 1) << 16; }

struct hz_range {
	uint32_t first, count;
};

struct hz_window {
	struct hz_range channel, chip, die, plane; /* chips of a channel, dies of a chip, planes of a die */
	struct hz_range slc, normal;               /* blocks of each of these planes */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Namespaces are numbered from 0 on: number + 1 is the NSID. Requires a legal config. Those with the same planes have equal shares of
 * their blocks, in the order of their numbers. */
void hz_window_of(const struct hz_device_config *cfg, uint32_t number, struct hz_window *window);
/* The device of its FTL: as large as the window, with nothing else on it. For one over the whole device: cfg itself. */
void hz_namespace_config(const struct hz_device_config *cfg, uint32_t number, struct hz_device_config *out);
/* hz_shape_of that. */
void hz_namespace_shape(const struct hz_device_config *cfg, uint32_t number, struct hz_shape *shape);
/* Have two namespaces all planes in common? Or none? */
bool hz_same_planes(const struct hz_device_config *cfg, uint32_t a, uint32_t b);
bool hz_no_common_plane(const struct hz_device_config *cfg, uint32_t a, uint32_t b);
/* NVM set of a namespace, from 1 on: namespaces with the same planes are of one set. */
uint32_t hz_nvm_set(const struct hz_device_config *cfg, uint32_t number);
/* Number of the namespace with this block of a flat plane in its window (nand_image.h); the number of namespaces: none. */
uint32_t hz_window_at(const struct hz_device_config *cfg, const struct hz_window *windows, uint32_t plane_index, uint32_t block);
#ifdef __cplusplus
}
#endif

#endif
