/* Admission of writes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/write.h"

#include "zone/park.h"
#include "zone/zone.h"

static uint16_t state_status(const struct zone *zone)
{
	switch (zone->state) {
	case NVME_ZS_FULL: return NVME_ZONE_FULL;
	case NVME_ZS_READ_ONLY: return NVME_ZONE_READ_ONLY;
	case NVME_ZS_OFFLINE: return NVME_ZONE_OFFLINE;
	default: return NVME_SUCCESS;
	}
}

static uint16_t zone_write_status(const struct zone *zone, const struct ftl_request *req)
{
	uint64_t capacity = zone->ext.ftl->capacity;
	uint64_t at = req->op == FTL_APPEND ? zone->ext.wp : req->lba - zone->ext.start;
	uint16_t status = state_status(zone);

	if (req->op == FTL_APPEND && req->lba != zone->ext.start)
		return NVME_INVALID_FIELD;
	if (status)
		return status;
	if (at + req->sectors > capacity)
		return NVME_ZONE_BOUNDARY;
	return at == zone->ext.wp ? NVME_SUCCESS : NVME_ZONE_INVALID_WRITE;
}

/* Zone lock held, everything checked: the write owns its range from here on. */
static void write_accept(struct ftl_worker *self, struct zone *zone, struct ftl_request *req)
{
	struct extent *ext = &zone->ext;
	struct ftl_io *io = io_of(req);

	if (zone_is_open(zone->state))
		budget_give_back(ext->ftl, io->budget);
	else
		zone_set_state(zone, NVME_ZS_IMPLICIT_OPEN, io->budget);
	io->budget = BUDGET_NONE;
	io->zone = zone;
	io->end = req->sectors;
	req->result = ext->start + ext->wp;
	ext->wp += req->sectors;
	if (ext->wp == ext->ftl->capacity)
		zone_set_state(zone, NVME_ZS_FULL, BUDGET_NONE);
	io_push(&zone->writers, req);
	self->counters.host_write_sectors += host_sectors(req, req->sectors);
	extent_pump(self, ext);
}

enum write_verdict { WRITE_ACCEPTED, WRITE_REFUSED, WRITE_PARKED, WRITE_LACKS_BUDGET };

static enum write_verdict write_try(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t *status, uint8_t *need)
{
	struct lt_lock_node node;
	enum write_verdict verdict = WRITE_ACCEPTED;

	lt_lock_acquire(&zone->ext.lock, &node);
	*status = zone_write_status(zone, req);
	*need = budget_need(zone->state);
	if (!zone_admits(zone, req)) {
		verdict = WRITE_PARKED;
	} else if (*status) {
		zone_turn_ends(zone, req);
		verdict = WRITE_REFUSED;
	} else if (*need & (uint8_t)~io_of(req)->budget) {
		verdict = WRITE_LACKS_BUDGET;
	} else {
		zone_turn_ends(zone, req); /* before the request may end */
		write_accept(self, zone, req);
	}
	lt_lock_release(&zone->ext.lock, &node);
	return verdict;
}

static void write_rejected(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint16_t status)
{
	struct ftl_io *io = io_of(req);

	zone_give_up_turn(zone, req);
	budget_give_back(self->ftl, io->budget);
	io->budget = BUDGET_NONE;
	io_complete(req, status);
}

/* It opens the zone, and tries again with what that needs. A call, so that a write to an open zone need not save registers. */
static __attribute__((noinline)) void write_opens(struct ftl_worker *self, struct zone *zone, struct ftl_request *req, uint8_t need)
{
	uint16_t status = budget_for(self->ftl, req, need);
	bool retry = false;

	if (status == NVME_TOO_MANY_ACTIVE && budget_wait(self, zone, req, &retry))
		return;
	if (status && !retry)
		write_rejected(self, zone, req, status);
	else
		write_run(self, req);
}

void write_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct zone *zone = zone_at(self->ftl, req->lba);
	enum write_verdict verdict;
	uint16_t status;
	uint8_t need;

	verdict = write_try(self, zone, req, &status, &need);
	if (verdict == WRITE_LACKS_BUDGET)
		write_opens(self, zone, req, need);
	else if (verdict == WRITE_REFUSED)
		write_rejected(self, zone, req, status);
}
