/* Lines: cost of accesses, LR reservations, and who waits on what. Used by the token holder only.
 *
 * Model: an access is local if the hart holds the line as it must (cache.h); any other is a transfer: it starts when the line is free, and
 * with `dispatch` so long after the transfer before it, keeps the line busy, and takes what fetching costs. With reads=merge a read
 * keeps no line busy: reads of one line go side by side. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_COST_LINE_H
#define VCLOCK_COST_LINE_H

#include "base/state.h"
#include "cache.h"

struct vc_line {
	uint64_t tag;      /* address >> VC_LINE_SHIFT, plus 1; 0 = unused entry */
	uint64_t watchers; /* harts with a reservation (bits may be stale: reserved_line decides) */
	uint64_t busy_until;
	uint64_t accesses, transfers, queue_cycles, parks, wakes; /* outside freezes */
	uint64_t data_transfers;                                  /* for plain accesses */
	uint64_t lock; /* class of the lock that it was last used for, plus 1; 0: none. Kept with option transfer */
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

/* With option transfer, lines of locks take so many thousandths of what it takes them to come, with transfer_class those of one class. They
 * are what a hart accesses, synchronising, while it waits for a lock, and what it accessed last when it has it.
 *
 * In a freeze: the lock's event in the hart's slot. */
void vc_line_lock_event(const struct vc_hart *h);

static inline uint64_t vc_line_address(const struct vc_line *line) { return (line->tag - 1) << VC_LINE_SHIFT; }

/* LR and SC as a pair: an SC stores exactly if it has the address and the width of its hart's last LR, the reservation is intact, and the
 * word holds what the LR found.
 *
 * QEMU compares values only: its SC stores if the word holds what LR found, also when other harts changed it and changed it back
 * (ABA), or wrote another word of the line, and one of another width compares what it sees of it. Where QEMU's could store but ours must
 * not, the word's value is hidden from QEMU while the SC executes; nobody else runs then. In RAM only. */

/* LR has read. */
void vc_pair_open(struct vc_hart *h, uint64_t address, unsigned bytes);
/* Something other than an SC has used up the reservation, in QEMU too. */
void vc_pair_drop(struct vc_hart *h);
/* Before the SC, by the token holder: decides whether it stores. */
void vc_pair_decide(struct vc_hart *h);
/* After the SC has accessed its word: true if it stored. One that names another word than the LR makes no access. */
bool vc_pair_close(struct vc_hart *h);

/* Store buffer of a hart (option store_buffer): a release takes the hart no longer than a store that hits. It waits in the buffer for its
 * line, behind the releases before it, while the hart goes on.
 *
 * Of the order points, only those that release and read nothing go this way: AMO with rl, without aq, whose result nobody wants. Every other
 * synchronising access of the hart waits until its buffer is empty (RISC-V's aq and rl are RCsc: a later acquire does not pass them). */

/* Outside freezes: if no entry is free, the hart waits for the oldest one. Returns the cycle from which on the store may ask for its
 * line. */
uint64_t vc_store_buffer_room(struct vc_hart *h);
/* The store that has room is done at `cycles`, after all before it. */
void vc_store_buffer_add(struct vc_hart *h, uint64_t cycles);
/* Outside freezes: the hart waits until all are done. */
void vc_store_buffer_drain(struct vc_hart *h);

#endif
