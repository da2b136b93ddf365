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

/* Of the SC at hand: what rs1 holds. */
static uint64_t address_of_store(const struct vc_hart *h)
{
	const void *code = vc_guest(h->wait_pc, 4);
	uint32_t insn = 0;

	if (code)
		memcpy(&insn, code, sizeof(insn));
	return vc_register(h->index, insn >> 15 & 31);
}

static void write(const struct vc_pair *pair, uint64_t value) { memcpy(vc_guest(pair->address, pair->bytes), &value, pair->bytes); }

void vc_pair_decide(struct vc_hart *h)
{
	struct vc_pair *pair = &h->pair;
	bool would_store = pair->open && value_of(pair) == pair->found;

	pair->stores = would_store && h->reserved;
	pair->hidden = would_store && !h->reserved && vc_guest(pair->address, pair->bytes) && vc.phase == VC_RUNNING &&
		       address_of_store(h) == pair->address;
	if (pair->hidden)
		write(pair, ~pair->found);
	vc_pair_drop(h);
}

bool vc_pair_close(struct vc_hart *h)
{
	if (h->pair.hidden)
		write(&h->pair, h->pair.found);
	h->pair.hidden = false;
	return h->pair.stores;
}
