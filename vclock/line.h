/* Lines: cost of synchronising accesses, LR reservations, and who waits on what. Used by the token holder only.
 *
 * Model: a line is held by a set of harts. A read is local if the hart is in the set, a write if it is alone in
 * it; any other access is a transfer: it starts when the line is free, keeps it busy for `occupancy` and takes
 * `remote`. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_LINE_H
#define VC_LINE_H

#include "state.h"

enum { VC_LINE_SHIFT = 6 };

struct vc_line {
	uint64_t tag;      /* address >> VC_LINE_SHIFT, plus 1; 0 = unused entry */
	uint64_t holders;  /* bit per hart */
	uint64_t watchers; /* harts with a reservation (bits may be stale: reserved_line decides) */
	uint64_t busy_until;
	uint64_t accesses, transfers, queue_cycles, parks, wakes; /* outside freezes */
};

/* LR at address: cost, then reservation. */
void vc_line_load_reserved(struct vc_hart *h, uint64_t address);
/* AMO, or SC that stores, at address: cost, then other harts' reservations break and their waiters become ready. */
void vc_line_write(struct vc_hart *h, uint64_t address);
void vc_line_count_park(const struct vc_hart *h);
/* The `count` lines with most transfers (ties: lower address first) of those accessed outside freezes; returns how many there are. */
unsigned vc_line_top(struct vc_line *out, unsigned count);

static inline uint64_t vc_line_address(const struct vc_line *line) { return (line->tag - 1) << VC_LINE_SHIFT; }

#endif
