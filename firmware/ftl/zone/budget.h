/* The budget of open and active zones, and zones waiting for it. Class OPEN; taken under a zone's lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BUDGET_H
#define FTL_BUDGET_H

#include "base/waiter.h"
#include "lt/lock.h"
#include "request/io.h"

struct arena;
struct zone;

/* Resources a zone must have before it enters a state. */
enum budget_need { BUDGET_NONE = 0, BUDGET_OPEN = 1, BUDGET_ACTIVE = 2 };

struct zone_budget {
	struct lt_lock lock;
	uint32_t max_open, max_active;
	uint32_t open, active; /* zones in such a state (active: or draining) plus reservations */
	uint32_t draining;
	struct waiter_queue waiting;  /* zones waiting until another has drained */
	lt_word wanted;               /* how many; written under the lock */
	struct zone *oldest, *newest; /* implicitly opened */
};

void budget_init(struct ftl *ftl, struct arena *arena);
/* Resources that a zone in this state lacks to be written or opened. */
uint8_t budget_need(uint8_t state);
/* Balance the budget for a change of state. reserved = taken before by budget_reserve. Zone lock held. */
void budget_change(struct zone *zone, uint8_t state, uint8_t reserved);
/* A zone FULL by writes that were taken back before landing is CLOSED, as after a power cut. It stays active. Zone lock held. */
void budget_undrain(struct zone *zone);
/* Takes the resources, closing the oldest implicitly opened zone if that makes room; a request's earlier reservation is exchanged for
 * this one and kept in io.budget. Returns 0, NVME_TOO_MANY_ACTIVE or NVME_TOO_MANY_OPEN. No zone lock held. */
uint16_t budget_for(struct ftl *ftl, struct ftl_request *req, uint8_t need);
/* No zone lock held, after NVME_TOO_MANY_ACTIVE: true if req is parked at the zone until a draining zone has drained. False: no zone
 * drains any more; the refusal stands if it is repeated. */
bool budget_wait(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, bool *retry);
/* Zone lock held: a FULL zone's last sector has become durable. */
void budget_drained(struct ftl_worker *self, struct zone *zone);
void budget_release(struct ftl *ftl, uint8_t need); /* the same, not for BUDGET_NONE */
/* Release a reservation. */
static inline void budget_give_back(struct ftl *ftl, uint8_t need)
{
	if (need != BUDGET_NONE)
		budget_release(ftl, need);
}

#endif
