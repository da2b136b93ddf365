/* Releases that a hart has not waited for. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "store_buffer.h"

#include "clock.h"

static void wait_until(struct vc_hart *h, uint64_t cycles)
{
	uint64_t now = vc_clock(h);

	if (cycles <= now)
		return;
	h->stores.waited += cycles - now;
	vc_charge(h, cycles - now);
}

static void let_go(struct vc_store_buffer *buffer, uint64_t now)
{
	while (buffer->used && buffer->done[buffer->oldest] <= now) {
		buffer->oldest = (buffer->oldest + 1) % VC_STORE_BUFFER;
		buffer->used--;
	}
}

uint64_t vc_store_buffer_room(struct vc_hart *h)
{
	struct vc_store_buffer *buffer = &h->stores;

	let_go(buffer, vc_clock(h));
	if (buffer->used == vc.options.store_buffer) {
		wait_until(h, buffer->done[buffer->oldest]);
		let_go(buffer, vc_clock(h));
	}
	return buffer->used ? buffer->last : vc_clock(h);
}

void vc_store_buffer_add(struct vc_hart *h, uint64_t cycles)
{
	struct vc_store_buffer *buffer = &h->stores;

	buffer->done[(buffer->oldest + buffer->used++) % VC_STORE_BUFFER] = cycles;
	buffer->last = cycles;
	buffer->entered++;
}

void vc_store_buffer_drain(struct vc_hart *h)
{
	if (h->stores.used)
		wait_until(h, h->stores.last);
	h->stores.used = 0;
}
