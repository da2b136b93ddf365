/* Sizes of the per-hart stack area; the addresses are in memory.ld. Read by the assembler too: defines only. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BOOT_MEMORY_MAP_H
#define BOOT_MEMORY_MAP_H

/* From low to high: guard page (any access traps), decision stack (lt/native.h), stack, trap stack. docs/reference/format.md draws it. */
#define BOOT_STACK_BYTES 32768
#define BOOT_STACK_SHIFT 15
#define BOOT_GUARD_BYTES 4096
#define BOOT_TRAP_STACK_BYTES 2048

#endif
