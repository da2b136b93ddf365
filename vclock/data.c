/* Lines that plain accesses fetch. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"

#include "cache.h"
#include "clock.h"
#include "line.h"

static void access_line(struct vc_hart *h, uint64_t address, bool write)
{
	uint64_t *holders = vc_cache_ram_holders(address);
	enum vc_source source;
	uint64_t cost;

	if (!holders || vc_cache_hit(h, *holders, write))
		return;
	source = vc_cache_fetch(h, address, holders, write);
	cost = vc_cache_cost(source);
	vc_charge(h, cost);
	h->fetches[source]++;
	h->fetch_cycles += cost;
	vc_line_count_data(address);
}

void vc_data_access(struct vc_hart *h, uint64_t address, unsigned bytes, bool write)
{
	uint64_t last = address + bytes - 1;

	if (h->frozen)
		return;
	access_line(h, address, write);
	if (__builtin_expect(last >> VC_LINE_SHIFT != address >> VC_LINE_SHIFT, 0))
		access_line(h, last, write);
}
