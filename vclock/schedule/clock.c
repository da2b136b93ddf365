/* Conversions between cycles and device nanoseconds, and random charges at sync points. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#include "token.h"

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

/* Jitter. */

enum { TAIL = 16, MOST_CYCLES = 1000000 };

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014) */
static uint64_t jitter_draw(struct vc_hart *h)
{
	uint64_t z = h->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void vc_jitter_start(void)
{
	for (unsigned i = 0; i < VC_MAX_HARTS; i++) {
		vc.hart[i].random = vc.options.jitter.seed;
		vc.hart[i].random = jitter_draw(&vc.hart[i]) ^ i * 0xd1342543de82ef95ull; /* decorrelates the streams of seeds and harts */
	}
}

/* numerator / denominator, rounded at random so that the mean is exact. */
static uint64_t jitter_divided(struct vc_hart *h, unsigned __int128 numerator, uint64_t denominator)
{
	return (uint64_t)(numerator / denominator) + (jitter_draw(h) % denominator < numerator % denominator);
}

static bool is_sync_point(enum vc_kind kind)
{
	switch (kind) {
	case VC_AMO:
	case VC_LR:
	case VC_SC:
	case VC_PAUSE:
	case VC_SYNC:
	case VC_WAIT:
	case VC_WAKE:
	case VC_TAKE: return true;
	default: return false;
	}
}

/* The factor is 2^k * u * 4 / (TAIL + 2). k is 0, 1, … with probability 1/2, 1/4, …, at most TAIL, so 2^k has the mean (TAIL + 2) / 2;
 * u is even between 0 and 1. */
void vc_jitter(struct vc_hart *h, enum vc_kind kind)
{
	uint64_t counted = vc_counted(h), bits, extra;
	unsigned __int128 cycles;

	if (h->frozen || !is_sync_point(kind) || !vc_holds(h) || vc.ended)
		return;
	cycles = (unsigned __int128)(counted - h->jittered) * vc.options.cost.insn;
	h->jittered = counted;
	bits = jitter_draw(h);
	cycles *= vc.options.jitter.permille * (bits >> 48) << __builtin_ctzll(bits | 1ull << TAIL);
	extra = jitter_divided(h, cycles * 4, (TAIL + 2) * 1000ull << 16);
	vc_charge(h, extra < MOST_CYCLES ? extra : MOST_CYCLES);
}
