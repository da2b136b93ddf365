/* Is a device's config legal? Both sides ask: the host of a file, the firmware at boot. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_CONFIG_CHECK_H
#define HZ_PROTOCOL_CONFIG_CHECK_H

#include "device_config.h"

#ifdef __cplusplus
extern "C" {
#endif
/* NULL if the config is legal, else one sentence with the field, its value and the rule (static or in text[bytes]). */
const char *hz_device_config_check(const struct hz_device_config *cfg, char *text, size_t bytes);
/* The same, and the machine has room for the device's image: for the host. The firmware finds an existing image. */
const char *hz_machine_config_check(const struct hz_device_config *cfg, char *text, size_t bytes);
/* Like the first for a device without FTL: its SLC region may have any size. */
const char *hz_flash_config_check(const struct hz_device_config *cfg, char *text, size_t bytes);
#ifdef __cplusplus
}
#endif

#endif
