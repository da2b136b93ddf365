/* Conversions between cycles and device nanoseconds. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

static const uint64_t max_cycles = (VC_NEVER >> VC_HART_BITS) - 1;

/* 1 GHz, the default, needs no division, and the first months of a run no wide one. */
uint64_t vc_cycles_to_ns(uint64_t cycles)
{
	if (vc.options.mhz == 1000)
		return cycles;
	return cycles <= UINT64_MAX / 1000 ? cycles * 1000 / vc.options.mhz : (uint64_t)((unsigned __int128)cycles * 1000 / vc.options.mhz);
}

void vc_show_now(struct vc_hart *h) { h->slot->now_ns = vc_cycles_to_ns(vc_clock(h)); }

uint64_t vc_deadline_cycles(uint64_t ns)
{
	unsigned __int128 cycles = vc.options.mhz == 1000 ? ns : ((unsigned __int128)ns * vc.options.mhz + 999) / 1000;

	return cycles > max_cycles ? VC_NEVER : (uint64_t)cycles;
}

uint64_t vc_duration_cycles(uint64_t ns) { return (uint64_t)(((unsigned __int128)ns * vc.options.mhz + 500) / 1000); }

uint64_t vc_counted(const struct vc_hart *h) { return (h->frozen ? h->mark : *h->retired) - h->skipped; }
