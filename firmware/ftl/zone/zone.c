/* Zone state machine, and the budget of open and active zones. */
#include "zone/zone.h"

#include "base/context.h"
#include "zone/write.h"

bool zone_is_open(uint8_t state)
{
	return state == NVME_ZS_IMPLICIT_OPEN || state == NVME_ZS_EXPLICIT_OPEN;
}

bool zone_is_active(uint8_t state)
{
	return zone_is_open(state) || state == NVME_ZS_CLOSED;
}

#define TO(state) (1u << NVME_ZS_##state)
/* ZNS 1.1, section 2.1.1.1 and its state figure: from every state, the states that may follow. */
static const uint16_t edges[16] = {
	[NVME_ZS_EMPTY] = TO(IMPLICIT_OPEN) | TO(EXPLICIT_OPEN) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_IMPLICIT_OPEN] = TO(EMPTY) | TO(EXPLICIT_OPEN) | TO(CLOSED) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_EXPLICIT_OPEN] = TO(EMPTY) | TO(CLOSED) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_CLOSED] = TO(EMPTY) | TO(IMPLICIT_OPEN) | TO(EXPLICIT_OPEN) | TO(FULL) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_FULL] = TO(EMPTY) | TO(READ_ONLY) | TO(OFFLINE),
	[NVME_ZS_READ_ONLY] = TO(OFFLINE),
};

bool zone_edge_legal(uint8_t from, uint8_t to)
{
	return edges[from & 15] >> to & 1;
}

static void open_list_remove(struct zone_budget *budget, struct zone *zone)
{
	if (!zone->open_linked)
		return;
	*(zone->open_prev ? &zone->open_prev->open_next : &budget->oldest) = zone->open_next;
	*(zone->open_next ? &zone->open_next->open_prev : &budget->newest) = zone->open_prev;
	zone->open_linked = false;
}

static void open_list_append(struct zone_budget *budget, struct zone *zone)
{
	zone->open_next = NULL;
	zone->open_prev = budget->newest;
	*(budget->newest ? &budget->newest->open_next : &budget->oldest) = zone;
	budget->newest = zone;
	zone->open_linked = true;
}

/* Lock held. */
static void drain(struct zone_budget *budget, struct zone *zone, bool drains)
{
	budget->active += (uint32_t)drains - zone->drains;
	budget->draining += (uint32_t)drains - zone->drains;
	zone->drains = drains;
}

void zone_set_state(struct zone *zone, uint8_t state, uint8_t reserved)
{
	struct zone_budget *budget = &zone->ftl->budget;
	struct lt_lock_node node;
	uint8_t from = zone->state;

	if (!zone_edge_legal(from, state))
		lt_fail("ftl: illegal zone state transition");
	if (zone->backing) {
		zone->state = state;
		return;
	}
	lt_lock_acquire(&budget->lock, &node);
	budget->open += (uint32_t)zone_is_open(state) - zone_is_open(from) - !!(reserved & BUDGET_OPEN);
	budget->active += (uint32_t)zone_is_active(state) - zone_is_active(from) - !!(reserved & BUDGET_ACTIVE);
	drain(budget, zone, state == NVME_ZS_FULL && zone->placed < zone->wp);
	open_list_remove(budget, zone);
	if (state == NVME_ZS_IMPLICIT_OPEN)
		open_list_append(budget, zone);
	zone->state = state;
	lt_lock_release(&budget->lock, &node);
}

void zone_unfill(struct zone *zone)
{
	struct zone_budget *budget = &zone->ftl->budget;
	struct lt_lock_node node;

	lt_lock_acquire(&budget->lock, &node);
	drain(budget, zone, false);
	budget->active++;
	zone->state = NVME_ZS_CLOSED;
	lt_lock_release(&budget->lock, &node);
}

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
	return NVME_SUCCESS;
}

bool budget_wait(struct zone *zone, struct ftl_request *req, bool *retry)
{
	struct zone_budget *budget = &zone->ftl->budget;
	struct lt_lock_node node, budget_node;
	bool waits;

	lt_lock_acquire(&zone->lock, &node);
	lt_lock_acquire(&budget->lock, &budget_node);
	waits = zone->waits_budget = budget->draining != 0;
	*retry = budget->active < budget->max_active;
	if (waits && !zone->budget_queued) {
		zone->budget_queued = true;
		zone->next_budget = NULL;
		*(budget->waiting_tail ? &budget->waiting_tail->next_budget : &budget->waiting_head) = zone;
		budget->waiting_tail = zone;
	}
	lt_lock_release(&budget->lock, &budget_node);
	if (waits)
		io_push(&zone->parked, req);
	lt_lock_release(&zone->lock, &node);
	return waits; /* the zone's flag may have changed since its lock was released */
}

static struct zone *next_waiting(struct zone_budget *budget)
{
	struct lt_lock_node node;
	struct zone *zone;

	lt_lock_acquire(&budget->lock, &node);
	zone = budget->waiting_head;
	if (zone) {
		zone->budget_queued = false;
		budget->waiting_head = zone->next_budget;
		if (!budget->waiting_head)
			budget->waiting_tail = NULL;
	}
	lt_lock_release(&budget->lock, &node);
	return zone;
}

void budget_drained(struct ftl_worker *self, struct zone *zone)
{
	struct zone_budget *budget = &zone->ftl->budget;
	struct lt_lock_node node;
	struct zone *waiting;

	lt_lock_acquire(&budget->lock, &node);
	drain(budget, zone, false);
	lt_lock_release(&budget->lock, &node);
	while ((waiting = next_waiting(budget)))
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

uint16_t budget_reserve(struct ftl *ftl, uint8_t need)
{
	struct zone *victim;
	uint16_t status;

	do {
		struct lt_lock_node node;

		lt_lock_acquire(&ftl->budget.lock, &node);
		status = budget_try(&ftl->budget, need, &victim);
		lt_lock_release(&ftl->budget.lock, &node);
		if (victim)
			close_implicit(victim);
	} while (victim);
	return status;
}

void budget_give_back(struct ftl *ftl, uint8_t need)
{
	struct lt_lock_node node;

	if (!need)
		return;
	lt_lock_acquire(&ftl->budget.lock, &node);
	ftl->budget.open -= !!(need & BUDGET_OPEN);
	ftl->budget.active -= !!(need & BUDGET_ACTIVE);
	lt_lock_release(&ftl->budget.lock, &node);
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

static void zone_kick_run(struct lt_event *event)
{
	struct zone *zone = (struct zone *)((char *)event - offsetof(struct zone, kick));
	struct ftl_worker *self = (struct ftl_worker *)(uintptr_t)lt_swap(&zone->kicked, 0);
	struct lt_lock_node node;

	lt_lock_acquire(&zone->lock, &node);
	zone_pump(self, zone);
	lt_lock_release(&zone->lock, &node);
}

void zone_kick(struct ftl_worker *self, struct zone *zone)
{
	if (lt_cas(&zone->kicked, 0, (uintptr_t)self))
		lt_post(&self->thread, &zone->kick, zone_kick_run);
}

void zones_init(struct ftl *ftl, struct arena *arena)
{
	ftl->zone_count = ftl->shape.zones;
	ftl->all_zones = ftl->shape.zones + ftl->shape.backing_zones;
	ftl->zones = arena_alloc(arena, ftl->all_zones, sizeof(*ftl->zones), "zones");
	ftl->budget.max_open = ftl->cfg->max_open ? ftl->cfg->max_open : UINT32_MAX;
	ftl->budget.max_active = ftl->cfg->max_active ? ftl->cfg->max_active : UINT32_MAX;
	lt_lock_init(&ftl->budget.lock, HZ_LC_OPEN, 0);
	for (uint32_t i = 0; i < ftl->all_zones; i++) {
		struct zone *zone = &ftl->zones[i];

		lt_lock_init(&zone->lock, HZ_LC_ZONE, i);
		zone->ftl = ftl;
		zone->index = i;
		zone->backing = i >= ftl->zone_count;
		zone->start = i * ftl->shape.zone_size_sectors;
		zone->state = NVME_ZS_EMPTY;
		zone->superblock = zone->patch = zone->old_superblock = SUPERBLOCK_NONE;
		staged_init(ftl, zone, arena);
	}
}
