/* Which SC succeeds. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <string.h>

#include "memory.h"
#include "registers.h"

static uint64_t value_of(const struct vc_pair *pair)
{
	const void *word = vc_guest(pair->address, pair->bytes);
	uint64_t value = 0;

	if (word)
		memcpy(&value, word, pair->bytes);
	return value;
}

void vc_pair_open(struct vc_hart *h, uint64_t address, unsigned bytes)
{
	h->pair = (struct vc_pair){ .address = address, .bytes = bytes, .open = true };
	h->pair.found = value_of(&h->pair);
}

void vc_pair_drop(struct vc_hart *h)
{
	h->pair.open = false;
	h->reserved = false;
}

static unsigned bytes_of(uint32_t insn) { return 1u << (insn >> 12 & 7); }

static void write(const struct vc_pair *pair, uint64_t value) { memcpy(vc_guest(pair->address, pair->bytes), &value, pair->bytes); }

void vc_pair_decide(struct vc_hart *h)
{
	struct vc_pair *pair = &h->pair;
	uint32_t insn = vc_guest_instruction(h->wait_pc);
	bool same_width = bytes_of(insn) == pair->bytes;
	bool may_store = pair->open && (value_of(pair) == pair->found || !same_width); /* as QEMU sees it */

	pair->stores = may_store && same_width && h->reserved;
	pair->hidden = may_store && !pair->stores && vc_guest(pair->address, pair->bytes) && vc.phase == VC_RUNNING &&
		       vc_register(h->index, insn >> 15 & 31) == pair->address;
	if (pair->hidden) {
		pair->held = value_of(pair);
		write(pair, ~pair->found);
	}
	vc_pair_drop(h);
}

bool vc_pair_close(struct vc_hart *h)
{
	if (h->pair.hidden)
		write(&h->pair, h->pair.held);
	h->pair.hidden = false;
	return h->pair.stores;
}
