/* PCIe link model: the end of the last transfer is one shared word, advanced by compare-and-swap. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#include "boundary/boundary.h"

enum { FRACTION_BITS = 20 };

void link_init(struct link *link, uint64_t bytes_per_s)
{
	lt_store(&link->free_ns, 0);
	link->byte_ns = bytes_per_s ? ((1000000000ull << FRACTION_BITS) + bytes_per_s / 2) / bytes_per_s : 0;
}

/* The controller's DMA engine arbitrates, not the harts: with the clock frozen, so that harts with simultaneous transfers do not contend
 * for the word. 24 harts otherwise spent more time here than on all the rest of a read. */
uint64_t link_transfer(struct link *link, uint64_t now_ns, uint32_t bytes)
{
	uint64_t cost_ns = link->byte_ns * bytes >> FRACTION_BITS;
	uint64_t free_ns, end_ns;

	clock_freeze();
	now_ns = boundary_work(WORK_DMA, (bytes + HZ_SECTOR_BYTES - 1) / HZ_SECTOR_BYTES, now_ns);
	do {
		free_ns = lt_load(&link->free_ns);
		end_ns = (free_ns > now_ns ? free_ns : now_ns) + cost_ns;
	} while (!lt_cas(&link->free_ns, free_ns, end_ns));
	clock_thaw();
	return end_ns;
}
