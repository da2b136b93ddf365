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

static uint64_t *slot_at(struct vc_store_buffer *buffer, unsigned behind_oldest)
{
	return &buffer->done[(buffer->oldest + behind_oldest) % HZ_MAX_STORE_BUFFER];
}

/* When all are done; there is one. */
static uint64_t all_done(struct vc_store_buffer *buffer) { return *slot_at(buffer, buffer->used - 1); }

static void let_go(struct vc_store_buffer *buffer, uint64_t now)
{
	while (buffer->used && *slot_at(buffer, 0) <= now) {
		buffer->oldest = (buffer->oldest + 1) % HZ_MAX_STORE_BUFFER;
		buffer->used--;
	}
}

uint64_t vc_store_buffer_room(struct vc_hart *h)
{
	struct vc_store_buffer *buffer = &h->stores;

	let_go(buffer, vc_clock(h));
	if (buffer->used == vc.options.store_buffer) {
		wait_until(h, *slot_at(buffer, 0));
		let_go(buffer, vc_clock(h));
	}
	return buffer->used ? all_done(buffer) : vc_clock(h);
}

void vc_store_buffer_add(struct vc_hart *h, uint64_t cycles)
{
	*slot_at(&h->stores, h->stores.used++) = cycles;
	h->stores.entered++;
}

void vc_store_buffer_drain(struct vc_hart *h)
{
	if (h->stores.used)
		wait_until(h, all_done(&h->stores));
	h->stores.used = 0;
}
