/* The end of a run: SiFive test finisher, which makes QEMU exit with a code. */
#ifndef PLATFORM_POWER_H
#define PLATFORM_POWER_H

#include <stdint.h>

enum power_code { POWER_OK = 0, POWER_FAILED = 1, POWER_ABORTED = 2 }; /* exit code of QEMU */

void power_init(uint64_t finisher_base); /* before: where QEMU virt has it */
/* Any hart. Tells the virtual clock that the run is over, then switches the machine off. */
_Noreturn void power_off(enum power_code code);
/* For the assembler: a trap inside the report of a trap. */
_Noreturn void power_abort(void);

#endif
