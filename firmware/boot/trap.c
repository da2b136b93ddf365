/* Traps: every one is fatal. One sentence with cause, pc, value and hart goes to the console and to the host, then the run ends. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdint.h>

#include "platform/fail.h"

static const char *const cause_names[] = {
	"instruction address misaligned", "instruction access fault", "illegal instruction",      "breakpoint",
	"load address misaligned",        "load access fault",        "store address misaligned", "store access fault",
};

static const char *cause_name(uint64_t cause)
{
	if (cause >> 63)
		return "interrupt";
	return cause < sizeof(cause_names) / sizeof(cause_names[0]) ? cause_names[cause] : "exception";
}

_Noreturn void trap_report(uint64_t cause, uint64_t pc, uint64_t value, uint64_t sp, uint64_t ra);

void trap_report(uint64_t cause, uint64_t pc, uint64_t value, uint64_t sp, uint64_t ra)
{
	fail_with("trap: cause %lu (%s) mepc 0x%lx mtval 0x%lx hart %u ra 0x%lx sp 0x%lx", (unsigned long)cause, cause_name(cause),
		  (unsigned long)pc, (unsigned long)value, lt_hart_id(), (unsigned long)ra, (unsigned long)sp);
}
