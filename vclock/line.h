/* Lines: cost of accesses, LR reservations, and who waits on what. Used by the token holder only.
 *
 * Model: an access is local if the hart holds the line as it must (cache.h); any other is a transfer: it starts when the line is free, and
 * with `dispatch` so long after the transfer before it, keeps the line busy, and takes what fetching costs. With reads=merge a read
 * keeps no line busy: reads of one line go side by side. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_LINE_H
#define VC_LINE_H

#include "cache.h"

struct vc_line {
	uint64_t tag;      /* address >> VC_LINE_SHIFT, plus 1; 0 = unused entry */
	uint64_t watchers; /* harts with a reservation (bits may be stale: reserved_line decides) */
	uint64_t busy_until;
	uint64_t accesses, transfers, queue_cycles, parks, wakes; /* outside freezes */
	uint64_t data_transfers;                                  /* for plain accesses */
};

/* LR at address: cost, then reservation. */
void vc_line_load_reserved(struct vc_hart *h, uint64_t address);
/* AMO, or SC that stores, at address: cost, then other harts' reservations break and their waiters become ready. release: it may go through
 * the hart's store buffer; the line counts as written when the store has it. */
void vc_line_write(struct vc_hart *h, uint64_t address, bool release);
/* With option turns, before an access that is an order point, whose clock has come: returns when the transfer that it needs may begin.
 * alone: it must hold the line so. */
void vc_line_wait_turn(struct vc_hart *h, enum vc_kind kind, uint64_t address, bool alone);
void vc_line_count_park(const struct vc_hart *h);
/* A plain access in RAM whose line the hart does not hold as it must, outside freezes. With data=ordered its turn has come, and a store
 * breaks reservations as above. */
void vc_line_data(struct vc_hart *h, uint64_t address, bool write);
/* The `count` lines with most transfers of both kinds (ties: lower address first) of those accessed outside freezes; returns how many
 * there are. */
unsigned vc_line_top(struct vc_line *out, unsigned count);

static inline uint64_t vc_line_address(const struct vc_line *line) { return (line->tag - 1) << VC_LINE_SHIFT; }

#endif
