/* Interface of start-up to C, and memory symbols of the linker script. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BOOT_BOOT_H
#define BOOT_BOOT_H

#include <stdint.h>

/* Written by the image (firmware, lockbench, platform check); called once on every hart, on its own stack; must not return. */
_Noreturn void hart_main(uint64_t hart, const void *device_tree);

/* First unused byte of RAM; the heap goes from here to the end of RAM. */
extern uint8_t boot_heap[];

#endif
