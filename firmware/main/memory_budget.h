/* The budget of memory: allocations are charged to the device's SRAM or DRAM, and reported to the host. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MAIN_MEMORY_BUDGET_H
#define MAIN_MEMORY_BUDGET_H

#include "device_config.h"
#include "lt/arena.h"
#include "memory_ledger.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the whole boot. State is in SRAM; tables and data are in DRAM, unless the device has SRAM only. NULL, or one sentence in text[]
 * with the item that does not fit and the missing bytes. */
const char *memory_charge(const struct arena_ledger *ledger, const struct hz_device_config *cfg, struct hz_memory_ledger *out, char *text,
			  size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
