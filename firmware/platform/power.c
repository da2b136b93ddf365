/* The end of a run. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/power.h"

#include "vclock_abi.h"

enum { QEMU_VIRT_FINISHER = 0x100000, FINISHER_PASS = 0x5555, FINISHER_FAIL = 0x3333 };

static uintptr_t finisher = QEMU_VIRT_FINISHER;

void power_init(uint64_t finisher_base) { finisher = finisher_base; }

_Noreturn void power_off(enum hz_power_code code)
{
	uint32_t word = code == HZ_POWER_OK ? FINISHER_PASS : (uint32_t)code << 16 | FINISHER_FAIL;

	/* One block: nothing may run between the hypercall and the store, see HZ_VC_END. */
	__asm__ volatile("fence iorw, iorw\n\tslti x0, x0, %0\n\tsw %1, 0(%2)" ::"i"(HZ_VC_END), "r"(word), "r"(finisher) : "memory");
	for (;;)
		__asm__ volatile("wfi");
}

_Noreturn void power_abort(void) { power_off(HZ_POWER_ABORTED); }
