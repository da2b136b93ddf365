/* Lines: cost of accesses, LR reservations, and their waiters. Used by the token holder only.
 *
 * Model: an access is local if the hart holds the line as it must (cache.h); any other is a
 * transfer. A transfer starts when the line is free, with option `dispatch` at least that long
 * after the previous transfer; it keeps the line busy and takes the cost of the fetch. With
 * reads=merge a read keeps no line busy: reads of one line overlap. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_COST_LINE_H
#define VCLOCK_COST_LINE_H

#include "base/state.h"
#include "cache.h"

struct vc_line {
	uint64_t tag;      /* address >> VC_LINE_SHIFT, plus 1 */
	uint64_t watchers; /* harts with a reservation (bits may be stale: reserved_line decides) */
	uint64_t busy_until;
	uint64_t accesses, transfers, queue_cycles, parks, wakes; /* outside freezes */
	uint64_t data_transfers;                                  /* for plain accesses */
	uint64_t lock; /* class of the lock that it was last used for, plus 1; 0: none. Kept with option transfer */
};

/* Before any access; false: out of memory. */
bool vc_line_create(void);

/* LR at address: charge, then reserve. */
void vc_line_load_reserved(struct vc_hart *h, uint64_t address);
/* AMO, or SC that stores, at address: charge, then break the reservations of other harts and make
 * their waiters ready. release: the store may go through the hart's store buffer; the line counts
 * as written when the store completes. */
void vc_line_write(struct vc_hart *h, uint64_t address, bool release);
/* With option turns, before an access that is a sync point, once its clock is reached: returns
 * when the transfer that it needs may begin. alone: the line must be held exclusively. */
void vc_line_wait_turn(struct vc_hart *h, enum vc_kind kind, uint64_t address, bool alone);
void vc_line_count_park(const struct vc_hart *h);
/* A plain access in RAM to a line that the hart does not hold as it must, outside freezes. With
 * data=ordered its turn has come, and a store breaks reservations as above. */
void vc_line_data(struct vc_hart *h, uint64_t address, bool write);
/* The `count` lines with most transfers of both kinds (ties: lower address first) among those
 * accessed outside freezes; returns their number. */
unsigned vc_line_top(struct vc_line *out, unsigned count);

/* The lock's event in the hart's slot: marks a line as the lock's. Called in a freeze.
 *
 * Option transfer scales the transfers of such lines, transfer_class those of one class. A line is the lock's if the hart accesses it by a
 * synchronising instruction while it waits for the lock, or accessed it last when it acquires the lock. */
void vc_line_lock_event(const struct vc_hart *h);

static inline uint64_t vc_line_address(const struct vc_line *line) { return (line->tag - 1) << VC_LINE_SHIFT; }

/* LR and SC as a pair: an SC stores exactly if it has the address and the width of its hart's last
 * LR, the reservation is intact, and the word holds the value that the LR found.
 *
 * QEMU compares values only: its SC stores if the word holds the LR's value, even if other harts
 * changed it and changed it back (ABA) or wrote another word of the line; an SC of another width
 * compares only the bytes that it covers. Where QEMU could store but the model must not, the word's
 * value is hidden from QEMU while the SC executes; no other hart runs then. In RAM only. */

/* LR has read. */
void vc_pair_open(struct vc_hart *h, uint64_t address, unsigned bytes);
/* An instruction other than SC used up the reservation, in QEMU too. */
void vc_pair_drop(struct vc_hart *h);
/* Before the SC, by the token holder: decide whether it stores. */
void vc_pair_decide(struct vc_hart *h);
/* After the SC has accessed its word: true if it stored. An SC to another word than the LR's makes
 * no access. */
bool vc_pair_close(struct vc_hart *h);

/* Store buffer of a hart (option store_buffer): a release takes the hart no longer than a store
 * that hits. The store waits in the buffer for its line, behind earlier releases, while the hart
 * continues.
 *
 * Among sync points, only those that release and read nothing use it: AMO with rl, without aq,
 * whose result is discarded. Every other synchronising access of the hart waits until its buffer is
 * empty (RISC-V's aq and rl are RCsc: a later acquire does not pass them). */

/* Outside freezes: if no entry is free, wait for the oldest one. Returns the cycle from which the
 * store may request its line. */
uint64_t vc_store_buffer_room(struct vc_hart *h);
/* Enter a store that has room and is done at `cycles`, after all earlier ones. */
void vc_store_buffer_add(struct vc_hart *h, uint64_t cycles);
/* Outside freezes: wait until the buffer is empty. */
void vc_store_buffer_drain(struct vc_hart *h);

#endif
