/* The end of a run: SiFive test finisher, which makes QEMU exit with a code. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_POWER_H
#define PLATFORM_POWER_H

#include <stdint.h>

#include "shm.h"

void power_init(uint64_t finisher_base); /* before: where QEMU virt has it */
/* Any hart. Tells the virtual clock that the run is over, then switches the machine off. */
_Noreturn void power_off(enum hz_power_code code);
/* For the assembler: a trap inside the report of a trap. */
_Noreturn void power_abort(void);

#endif
