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

/* Lock held. */
static void budget_count(struct zone_budget *budget, struct zone *zone, uint8_t state)
{
	uint8_t from = zone->state;

	budget->open += (uint32_t)zone_is_open(state) - zone_is_open(from);
	budget->active += (uint32_t)zone_is_active(state) - zone_is_active(from);
	budget->closing -= zone->budget.closes;
	zone->budget.closes = false;
	budget_drain(budget, zone, state == NVME_ZS_FULL && !zone_drained(zone));
	open_list_remove(budget, zone);
	if (state == NVME_ZS_IMPLICIT_OPEN)
		open_list_append(budget, zone);
	zone->state = state;
}

void budget_change(struct zone *zone, uint8_t state)
{
	struct zone_budget *budget = zone->ftl->budget;
	struct lt_lock_node node;

	lt_lock_acquire(&budget->lock, &node);
	budget_count(budget, zone, state);
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

/* --- opening --- */

/* Lock held. The zone becomes active if there is room, or another one drains. */
static enum budget_answer budget_await(struct zone_budget *budget, struct zone *zone)
{
	if (!budget->draining)
		return BUDGET_TOO_MANY_ACTIVE;
	zone->budget.waits = true;
	if (!zone->budget.queue.queued) {
		zone->budget.queue.queued = true;
		waiter_ask(&budget->waiting, &zone->budget.queue, HZ_LOGICAL_BUDGET, 0);
		lt_add(&budget->wanted, 1);
	}
	return BUDGET_WAITS;
}

/* Lock held. The oldest implicitly opened zone is to make room. */
static enum budget_answer budget_choose(struct zone_budget *budget, struct zone **victim)
{
	*victim = budget->oldest;
	if (*victim) {
		open_list_remove(budget, *victim);
		(*victim)->budget.closes = true;
		budget->closing++;
	}
	return budget->closing ? BUDGET_NEEDS_ROOM : BUDGET_TOO_MANY_OPEN;
}

/* Lock held. */
static enum budget_answer budget_try(struct zone_budget *budget, struct zone *zone, uint8_t state, struct zone **victim)
{
	if (!zone_is_active(zone->state) && budget->active >= budget->max_active)
		return budget_await(budget, zone);
	if (!zone_is_open(zone->state) && budget->open >= budget->max_open)
		return budget_choose(budget, victim);
	if (!zone_is_open(zone->state))
		lt_tell_had(HZ_LOGICAL_BUDGET);
	budget_count(budget, zone, state);
	return BUDGET_OPENED;
}

enum budget_answer budget_open(struct ftl_worker *self, struct zone *zone, uint8_t state, struct zone **victim)
{
	struct zone_budget *budget = zone->ftl->budget;
	struct lt_lock_node node;
	enum budget_answer answer;

	lt_lock_acquire(&budget->lock, &node);
	answer = budget_try(budget, zone, state, victim);
	lt_lock_release(&budget->lock, &node);
	if (answer == BUDGET_WAITS && self->ftl->space)
		buffers_kick(self); /* draining zones do so now */
	return answer;
}

void budget_make_room(struct zone *victim)
{
	struct lt_lock_node node;

	if (!victim)
		return;
	lt_lock_acquire(&victim->lock, &node);
	if (victim->state == NVME_ZS_IMPLICIT_OPEN)
		zone_set_state(victim, NVME_ZS_CLOSED);
	lt_lock_release(&victim->lock, &node);
}

uint16_t budget_status(enum budget_answer answer)
{
	if (answer == BUDGET_TOO_MANY_ACTIVE)
		return NVME_TOO_MANY_ACTIVE;
	return answer == BUDGET_TOO_MANY_OPEN ? NVME_TOO_MANY_OPEN : NVME_SUCCESS;
}

/* --- drained zones --- */

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
