/* The end of a run: SiFive test finisher; QEMU exits with a code. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_POWER_H
#define PLATFORM_POWER_H

#include <stdint.h>

#include "shm.h"

void power_init(uint64_t finisher_base); /* before: at QEMU virt's address */
/* Notify the virtual clock of the end of the run, then switch the machine off. Any hart. */
_Noreturn void power_off(enum hz_power_code code);
/* For the assembler: a trap inside the report of a trap. */
_Noreturn void power_abort(void);

#endif
