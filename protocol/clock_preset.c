/* Presets of the virtual clock's costs; sources: docs/internals/clock-costs.md. The schema's defaults are those of LitexFull4DConfig of
 * Rocket, memory 20 cycles away, measured by bench rtl (bench/rtl/measured.json; a test compares). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock_preset.h"

#include "device_fields.h"

/* Round numbers of no chip: what all other presets begin with, since they say nothing of what only RTL shows. */
static void take_free(struct hz_clock_costs *costs)
{
	costs->local = 2;
	costs->remote = costs->far = costs->memory = 40;
	costs->clean = costs->dispatch = costs->loop_exit = costs->div_bit = 0;
	costs->busy = HZ_BUSY_OCCUPANCY;
	costs->arbiter = HZ_ARBITER_ARRIVAL;
	costs->pause = 10;
	costs->pause_multiple = 0;
	costs->data = HZ_DATA_FREE;
	costs->load = costs->mul = costs->div = costs->csr = 0;
	costs->cache_bytes = 0;
	costs->cache_ways = 8;
}

/* Caches and memory of a SiFive U740, an in-order RV64 core at 1.2 GHz. */
static void take_small(struct hz_clock_costs *costs)
{
	costs->mhz = 1200;
	costs->data = HZ_DATA_MOVES;
	costs->cache_bytes = 32 << 10;
	costs->cache_ways = 8;
	costs->memory = 120;
}

/* Result latencies of a SiFive E31, a five-stage single-issue core, less the cycle of the instruction; the longest of a division. */
static void take_single(struct hz_clock_costs *costs)
{
	take_small(costs);
	costs->load = 1;
	costs->mul = 4;
	costs->div = 32;
	costs->csr = 2;
}

static void take_clustered(struct hz_clock_costs *costs)
{
	take_small(costs);
	costs->cluster = 4;
	costs->far = 100;
}

/* Xeon E5-2660 v4 at 3 GHz: a line changed by another core of the socket takes 40.3 to 42.3 ns; 42 store buffers. */
static void take_server(struct hz_clock_costs *costs)
{
	costs->mhz = 3000;
	costs->data = HZ_DATA_MOVES;
	costs->reads = HZ_READS_MERGE;
	costs->local = 20;
	costs->remote = 124;
	costs->occupancy = 62;
	costs->cluster = 14;
	costs->far = 300;
	costs->memory = 270;
	costs->cache_bytes = 256 << 10;
	costs->ipi = 3000;
	costs->store_buffer = 42;
}

/* 64 cores on a mesh, none far from another: a message from core to core takes 118 cycles of either chip below. */
static void take_mesh(struct hz_clock_costs *costs, uint32_t mhz, uint32_t local, uint32_t memory, uint32_t cache_bytes)
{
	costs->mhz = costs->ipi = mhz; /* an interrupt takes 1 us */
	costs->data = HZ_DATA_MOVES;
	costs->reads = HZ_READS_MERGE;
	costs->local = local;
	costs->remote = costs->far = 118;
	costs->occupancy = 59;
	costs->memory = memory;
	costs->cache_bytes = cache_bytes;
	costs->cache_ways = 8;
}

/* Xeon Phi 7210 at 1.3 GHz: a message takes 91 ns; memory, see clock-costs.md. */
static void take_manycore(struct hz_clock_costs *costs) { take_mesh(costs, 1300, 20, 170, 32 << 10); }

/* Graviton2 with Neoverse N1 at 2.5 GHz: a message takes 47 ns, memory 81 ns; each core has 1 MiB of its own. */
static void take_arm(struct hz_clock_costs *costs) { take_mesh(costs, 2500, 11, 203, 1 << 20); }

void hz_clock_preset_costs(enum hz_clock_preset preset, struct hz_clock_costs *costs)
{
	struct hz_device_config defaults;

	hz_device_defaults(&defaults);
	*costs = defaults.clock;
	costs->preset = preset;
	if (preset != HZ_CLOCK_ROCKET)
		take_free(costs);
	switch (preset) {
	case HZ_CLOCK_IDEAL:
		costs->local = costs->remote = costs->far = costs->memory = costs->occupancy = costs->wake = costs->ipi = 0;
		costs->l2 = 0;
		break;
	case HZ_CLOCK_PLAIN: costs->data = HZ_DATA_MOVES; break;
	case HZ_CLOCK_SINGLE: take_single(costs); break;
	case HZ_CLOCK_MANYCORE: take_manycore(costs); break;
	case HZ_CLOCK_ARM: take_arm(costs); break;
	case HZ_CLOCK_SMALL: take_small(costs); break;
	case HZ_CLOCK_CLUSTERED: take_clustered(costs); break;
	case HZ_CLOCK_SERVER: take_server(costs); break;
	case HZ_CLOCK_FREE:
	case HZ_CLOCK_ROCKET:
	case HZ_CLOCK_PRESETS: break;
	}
}
