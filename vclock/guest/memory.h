/* The guest's memory as the plugin sees it: RAM with the slots of the hints, and the files behind both ivshmem devices. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_GUEST_MEMORY_H
#define VCLOCK_GUEST_MEMORY_H

#include "base/state.h"

/* Maps them; false with a sentence on stderr. Called once the machine exists. */
bool vc_map_files(void);
/* Where `bytes` at a guest address lie, NULL if that is not in RAM. */
void *vc_guest(uint64_t address, unsigned bytes);
/* The 32 bits of code at an address, 0 if that is not in RAM. */
uint32_t vc_guest_instruction(uint64_t pc);
/* The guest sees the file (enum hz_vc_file) from `guest` on; no effect where the file is unknown. */
void vc_guest_window(uint64_t file, uint64_t guest, uint64_t bytes);
/* The same in RAM or in a window. */
void *vc_guest_bulk(uint64_t address, uint64_t bytes);

#endif
