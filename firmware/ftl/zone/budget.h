/* The budget of open and active zones, and zones waiting for it. Class OPEN; taken under a zone's lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BUDGET_H
#define FTL_BUDGET_H

#include "base/waiter.h"
#include "lt/lock.h"
#include "request/io.h"

struct arena;
struct zone;

struct zone_budget {
	struct lt_lock lock;
	uint32_t max_open, max_active;
	uint32_t open, active; /* zones in such a state (active: or draining) */
	uint32_t draining;
	uint32_t closing;             /* zones chosen to make room, which some hart is about to close */
	struct waiter_queue waiting;  /* zones waiting until another has drained */
	lt_word wanted;               /* how many; written under the lock */
	struct zone *oldest, *newest; /* implicitly opened, and not chosen */
};

/* What becomes of a zone that is to be opened. */
enum budget_answer {
	BUDGET_OPENED,
	BUDGET_WAITS,           /* for another zone to drain: park the request here, the zone is kicked then */
	BUDGET_NEEDS_ROOM,      /* call budget_make_room and try again */
	BUDGET_TOO_MANY_OPEN,   /* as many as may be are open, each by its own command */
	BUDGET_TOO_MANY_ACTIVE, /* as many as may be are active, and none of them drains */
};

void budget_init(struct ftl *ftl, struct arena *arena);
/* Opens the zone if the budget allows it: `state` is one of the open states, and the edge to it is legal. *victim is for
 * budget_make_room. Zone lock held. */
enum budget_answer budget_open(struct ftl_worker *self, struct zone *zone, uint8_t state, struct zone **victim);
/* Closes the victim. NULL: another hart closes one; then nothing is done. No zone lock held. */
void budget_make_room(struct zone *victim);
/* 0, or the status of a refusal. */
uint16_t budget_status(enum budget_answer answer);
/* Count a change of state that needs nothing new. Zone lock held. */
void budget_change(struct zone *zone, uint8_t state);
/* A zone FULL by writes that were taken back before landing is CLOSED, as after a power cut. It stays active. Zone lock held. */
void budget_undrain(struct zone *zone);
/* Zone lock held: a FULL zone's last sector has become durable. */
void budget_drained(struct ftl_worker *self, struct zone *zone);

#endif
