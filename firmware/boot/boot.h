/* What start-up hands to C, and what the linker script says about memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BOOT_BOOT_H
#define BOOT_BOOT_H

#include <stdint.h>

/* Written by the image (firmware, lockbench, platform check); called once on every hart, on its own stack; must not return. */
_Noreturn void hart_main(uint64_t hart, const void *device_tree);

/* First byte of RAM that nobody else uses; the heap goes from here to the end of RAM. */
extern uint8_t boot_heap[];

#endif
