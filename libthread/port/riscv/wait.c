/* Waiting of an idle hart: WRS.STO under the virtual clock, WFI with IPI and timer on plain QEMU. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/arch.h"

#include "vclock_abi.h"

uintptr_t lt_clint_base = 0x2000000;
uint32_t lt_ns_per_tick = 100;

enum { MIE_MSIE = 1 << 3, MIE_MTIE = 1 << 7, CLINT_MTIMECMP = 0x4000 };

static volatile uint32_t *clint_msip(unsigned hart) { return (volatile uint32_t *)(lt_clint_base + 4ul * hart); }

/* The plugin parks the hart on the reservation until another hart writes the line or slot.arg0 passes. The slot is written before the
 * LR, so that nothing is between the LR, its branch and the WRS. */
static bool wait_virtual(const lt_word *w, uint64_t value, uint64_t deadline_ns)
{
	uint64_t seen;

	lt_vc_slot()->arg0 = deadline_ns;
	__asm__ volatile("	lr.d.aq %0, (%1)\n"
			 "	bne %0, %2, 1f\n"
			 "	.word 0x01d00073\n" /* wrs.sto */
			 "1:"
			 : "=&r"(seen)
			 : "r"(&w->value), "r"(value)
			 : "memory");
	return seen != value || deadline_ns == LT_FOREVER || clock_now_ns() < deadline_ns;
}

static void set_alarm(uint64_t deadline_ns)
{
	volatile uint64_t *mtimecmp = (volatile uint64_t *)(lt_clint_base + CLINT_MTIMECMP + 8ul * lt_hart_id());

	/* Rounded up: the alarm must not go off before the deadline. */
	*mtimecmp = deadline_ns == LT_FOREVER ? LT_FOREVER : deadline_ns / lt_ns_per_tick + 1;
}

/* mstatus.MIE stays 0 in this firmware, so no interrupt is ever taken; a pending one, enabled in mie, ends WFI. No wake can be lost:
 * msip is cleared before the word is read, so a kick after a write not seen here stays pending. */
static bool wait_real(const lt_word *w, uint64_t value, uint64_t deadline_ns)
{
	set_alarm(deadline_ns);
	__asm__ volatile("csrs mie, %0" : : "r"((unsigned long)(MIE_MSIE | MIE_MTIE)));
	*clint_msip(lt_hart_id()) = 0;
	/* fence o,r: the clearing device write is ordered before the LR below. */
	__asm__ volatile("fence o, r" : : : "memory");
	if (lt_load(w) == value && clock_now_ns() < deadline_ns)
		__asm__ volatile("wfi" : : : "memory");
	return lt_load(w) != value || clock_now_ns() < deadline_ns;
}

bool lt_wait_while(const lt_word *w, uint64_t value, uint64_t deadline_ns)
{
	return clock_is_virtual() ? wait_virtual(w, value, deadline_ns) : wait_real(w, value, deadline_ns);
}

uint64_t lt_real_take(lt_word *w, uint64_t deadline_ns)
{
	wait_real(w, 0, deadline_ns);
	return lt_load(w) ? lt_swap(w, 0) : 0;
}

void lt_kick(unsigned hart)
{
	if (clock_is_virtual())
		return;
	/* fence w,o: the changed word becomes visible before the interrupt. */
	__asm__ volatile("fence w, o" : : : "memory");
	*clint_msip(hart) = 1;
}
