/* Lines that plain accesses fetch. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"

#include "cache.h"
#include "clock.h"
#include "hold.h"
#include "line.h"
#include "token.h"

/* Returns when h has the smallest key; false: it holds the token no more. */
static bool in_turn(struct vc_hart *h, uint64_t pc, uint64_t address, bool write)
{
	h->wait_pc = pc;
	if (vc.options.hold != 1000)
		vc_hold(h);
	vc_order(h, VC_DATA);
	if (vc.options.turns)
		vc_line_wait_turn(h, VC_DATA, address, write);
	return vc_holds(h) && !vc.ended;
}

static void access_line(struct vc_hart *h, uint64_t pc, uint64_t address, bool write)
{
	struct vc_copies *copies = vc_cache_in_ram(address);

	if (!copies)
		return;
	if (!vc_cache_hit(h, copies, write)) {
		if (vc.options.data != HZ_DATA_ORDERED || in_turn(h, pc, address, write))
			vc_line_data(h, address, write);
	} else if (write && !copies->dirty) {
		copies->dirty = true;
	}
}

void vc_data_access(struct vc_hart *h, uint64_t pc, uint64_t address, unsigned bytes, bool write)
{
	uint64_t last = address + bytes - 1;

	if (h->frozen)
		return;
	access_line(h, pc, address, write);
	if (__builtin_expect(last >> VC_LINE_SHIFT != address >> VC_LINE_SHIFT, 0) && vc_holds(h))
		access_line(h, pc, last, write);
}
