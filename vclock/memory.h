/* The guest's memory as the plugin sees it: RAM with the slots of the hints, and ivshmem #0. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_MEMORY_H
#define VC_MEMORY_H

#include "state.h"

/* Maps both; false with a sentence on stderr. Called once the machine exists. */
bool vc_map_files(void);
/* Where `bytes` at a guest address lie, NULL if that is not in RAM. */
void *vc_guest(uint64_t address, unsigned bytes);

#endif
