/* The guest's memory as the plugin sees it: RAM with the slots of the hypercalls, and the files behind both ivshmem devices. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_GUEST_MEMORY_H
#define VCLOCK_GUEST_MEMORY_H

#include "base/state.h"

/* Map the files; false with a sentence on stderr. Called once the machine exists. */
bool vc_map_files(void);
/* Host pointer to `bytes` at a guest address; NULL if outside RAM. */
void *vc_guest(uint64_t address, unsigned bytes);
/* The 32 bits of code at an address; 0 if outside RAM. */
uint32_t vc_guest_instruction(uint64_t pc);
/* Announce the guest address of a file (enum hz_vc_file); no effect for an unknown file. */
void vc_guest_window(uint64_t file, uint64_t guest, uint64_t bytes);
/* As vc_guest, for RAM or an announced window. */
void *vc_guest_bulk(uint64_t address, uint64_t bytes);

#endif
