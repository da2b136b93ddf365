/* The budget of open and active zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/budget.h"

#include "buffer/buffer.h"
#include "lt/arena.h"
#include "zone/zone.h"

/* --- implicitly opened zones --- */

static void open_list_remove(struct zone_budget *budget, struct zone *zone)
{
	if (!zone->budget.open_linked)
		return;
	*(zone->budget.open_prev ? &zone->budget.open_prev->budget.open_next : &budget->oldest) = zone->budget.open_next;
	*(zone->budget.open_next ? &zone->budget.open_next->budget.open_prev : &budget->newest) = zone->budget.open_prev;
	zone->budget.open_linked = false;
}

static void open_list_append(struct zone_budget *budget, struct zone *zone)
{
	zone->budget.open_next = NULL;
	zone->budget.open_prev = budget->newest;
	*(budget->newest ? &budget->newest->budget.open_next : &budget->oldest) = zone;
	budget->newest = zone;
	zone->budget.open_linked = true;
}

/* Lock held. */
static void budget_drain(struct zone_budget *budget, struct zone *zone, bool drains)
{
	budget->active += (uint32_t)drains - zone->budget.drains;
	budget->draining += (uint32_t)drains - zone->budget.drains;
	zone->budget.drains = drains;
}

/* --- changes of state --- */

void budget_change(struct zone *zone, uint8_t state, uint8_t reserved)
{
	struct zone_budget *budget = zone->ftl->budget;
	struct lt_lock_node node;
	uint8_t from = zone->state;

	lt_lock_acquire(&budget->lock, &node);
	budget->open += (uint32_t)zone_is_open(state) - zone_is_open(from) - !!(reserved & BUDGET_OPEN);
	budget->active += (uint32_t)zone_is_active(state) - zone_is_active(from) - !!(reserved & BUDGET_ACTIVE);
	budget_drain(budget, zone, state == NVME_ZS_FULL && !zone_drained(zone));
	open_list_remove(budget, zone);
	if (state == NVME_ZS_IMPLICIT_OPEN)
		open_list_append(budget, zone);
	zone->state = state;
	lt_lock_release(&budget->lock, &node);
}

void budget_undrain(struct zone *zone)
{
	struct zone_budget *budget = zone->ftl->budget;
	struct lt_lock_node node;

	lt_lock_acquire(&budget->lock, &node);
	budget_drain(budget, zone, false);
	budget->active++;
	zone->state = NVME_ZS_CLOSED;
	lt_lock_release(&budget->lock, &node);
}

/* --- reservations --- */

uint8_t budget_need(uint8_t state)
{
	if (state == NVME_ZS_EMPTY)
		return BUDGET_OPEN | BUDGET_ACTIVE;
	return state == NVME_ZS_CLOSED ? BUDGET_OPEN : BUDGET_NONE;
}

/* 0: taken. Else the status; *victim is then an implicitly opened zone to close first, or NULL. */
static uint16_t budget_try(struct zone_budget *budget, uint8_t need, struct zone **victim)
{
	*victim = NULL;
	if ((need & BUDGET_ACTIVE) && budget->active >= budget->max_active)
		return NVME_TOO_MANY_ACTIVE;
	if ((need & BUDGET_OPEN) && budget->open >= budget->max_open) {
		*victim = budget->oldest;
		if (*victim)
			open_list_remove(budget, *victim);
		return NVME_TOO_MANY_OPEN;
	}
	budget->open += !!(need & BUDGET_OPEN);
	budget->active += !!(need & BUDGET_ACTIVE);
	lt_tell_had(HZ_LOGICAL_BUDGET);
	return NVME_SUCCESS;
}

bool budget_wait(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, bool *retry)
{
	struct zone_budget *budget = zone->ftl->budget;
	struct lt_lock_node node, budget_node;
	bool waits;

	lt_lock_acquire(&zone->lock, &node);
	lt_lock_acquire(&budget->lock, &budget_node);
	waits = budget->draining != 0;
	zone->budget.waits |= waits; /* another request may wait already: it goes on when it is kicked */
	*retry = budget->active < budget->max_active;
	if (waits && !zone->budget.queue.queued) {
		zone->budget.queue.queued = true;
		waiter_ask(&budget->waiting, &zone->budget.queue, HZ_LOGICAL_BUDGET, 0);
		lt_add(&budget->wanted, 1);
	}
	lt_lock_release(&budget->lock, &budget_node);
	if (waits)
		zone_park(zone, req);
	lt_lock_release(&zone->lock, &node);
	if (waits && self->ftl->space)
		buffers_kick(self); /* draining zones do so now */
	return waits;               /* the zone's flag may have changed since its lock was released */
}

static struct zone *budget_next_waiting(struct zone_budget *budget)
{
	struct lt_lock_node node;
	struct waiter *waiter;

	lt_lock_acquire(&budget->lock, &node);
	waiter = waiter_pop(&budget->waiting);
	if (waiter) {
		waiter->queued = false;
		lt_add(&budget->wanted, (uint64_t)-1);
	}
	lt_lock_release(&budget->lock, &node);
	return waiter ? waiter->zone : NULL;
}

void budget_drained(struct ftl_worker *self, struct zone *zone)
{
	struct zone_budget *budget = zone->ftl->budget;
	struct lt_lock_node node;
	struct zone *waiting;

	lt_lock_acquire(&budget->lock, &node);
	budget_drain(budget, zone, false);
	lt_lock_release(&budget->lock, &node);
	while ((waiting = budget_next_waiting(budget)))
		zone_kick(self, waiting);
}

static void close_implicit(struct zone *zone)
{
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	if (zone->state == NVME_ZS_IMPLICIT_OPEN)
		zone_set_state(zone, NVME_ZS_CLOSED, BUDGET_NONE);
	lt_lock_release(&zone->lock, &node);
}

static uint16_t budget_reserve(struct ftl *ftl, uint8_t need)
{
	struct zone *victim;
	uint16_t status;

	do {
		struct lt_lock_node node;

		lt_lock_acquire(&ftl->budget->lock, &node);
		status = budget_try(ftl->budget, need, &victim);
		lt_lock_release(&ftl->budget->lock, &node);
		if (victim)
			close_implicit(victim);
	} while (victim);
	return status;
}

void budget_release(struct ftl *ftl, uint8_t need)
{
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->budget->lock, &node);
	ftl->budget->open -= !!(need & BUDGET_OPEN);
	ftl->budget->active -= !!(need & BUDGET_ACTIVE);
	lt_lock_release(&ftl->budget->lock, &node);
}

uint16_t budget_for(struct ftl *ftl, struct ftl_request *req, uint8_t need)
{
	struct ftl_io *io = io_of(req);
	uint16_t status;

	budget_give_back(ftl, io->budget);
	status = budget_reserve(ftl, need);
	io->budget = status ? BUDGET_NONE : need;
	return status;
}

void budget_init(struct ftl *ftl, struct arena *arena)
{
	struct zone_budget *budget = arena_alloc(arena, 1, sizeof(*budget), "zone budget");

	ftl->budget = budget;
	budget->max_open = ftl->cfg->max_open ? ftl->cfg->max_open : UINT32_MAX;
	budget->max_active = ftl->cfg->max_active ? ftl->cfg->max_active : UINT32_MAX;
	lt_lock_init(&budget->lock, HZ_LC_OPEN, 0);
	for (uint32_t i = 0; i < ftl->all_zones; i++)
		ftl->zones[i].budget.queue.zone = &ftl->zones[i];
}
