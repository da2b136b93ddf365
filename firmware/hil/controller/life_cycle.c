/* Registers of the controller, and its life cycle. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/controller.h"
#include "hil/queue/queues.h"
#include "lt/hart.h"

/* Controller registers. */

enum { DOORBELL_END = NVME_REG_DOORBELLS + QUEUES * 8 };

/* CAP.TO = CRTO.CRWMT = 40, 20 seconds: a reset waits for flash reads only (ftl/cancel.c), not for queued commands. CRMS: ready with
 * media, the only mode. */
enum { READY_TIMEOUT = 40 };
static const uint64_t cap = (uint64_t)(HZ_MAX_QUEUE_DEPTH - 1) << NVME_CAP_MQES | 1ull << NVME_CAP_CQR |
			    (uint64_t)READY_TIMEOUT << NVME_CAP_TO | 1ull << NVME_CAP_CRMS |
			    (uint64_t)NVME_CAP_AMS_WEIGHTED << NVME_CAP_AMS |
			    (uint64_t)(NVME_CAP_CSS_NVM | NVME_CAP_CSS_CSI) << NVME_CAP_CSS;

static uint64_t read_register(const struct hil *hil, uint32_t offset)
{
	switch (offset & ~7u) {
	case NVME_REG_CAP: return cap;
	case NVME_REG_VS: return NVME_VERSION_2_0 | (uint64_t)hil->irq.masked << 32;
	case NVME_REG_INTMC: return hil->irq.masked | (uint64_t)hil->reg.cc << 32;
	case 0x18: return (uint64_t)hil->reg.csts << 32;
	case NVME_REG_NSSR: return (uint64_t)hil->reg.aqa << 32;
	case NVME_REG_ASQ: return hil->reg.asq;
	case NVME_REG_ACQ: return hil->reg.acq;
	case NVME_REG_CRTO: return READY_TIMEOUT;
	default: return 0; /* CMBLOC, CMBSZ: no controller memory buffer. Doorbells read as 0. */
	}
}

static bool wide(uint32_t offset) { return offset == NVME_REG_CAP || offset == NVME_REG_ASQ || offset == NVME_REG_ACQ; }

bool registers_read(struct hil *hil, uint32_t offset, unsigned size, uint64_t *value)
{
	if (size == 8 && !wide(offset))
		return false;
	*value = size == 8 ? read_register(hil, offset) : (uint32_t)(read_register(hil, offset) >> (offset & 4) * 8);
	return true;
}

static bool write_half(uint64_t *reg, uint32_t offset, unsigned size, uint64_t value)
{
	if (size == 8)
		*reg = value;
	else if (offset & 4)
		*reg = (uint32_t)*reg | value << 32;
	else
		*reg = (*reg & 0xffffffff00000000ull) | (uint32_t)value;
	return true;
}

static bool write_cc(struct hil *hil, uint32_t value)
{
	uint32_t changed = hil->reg.cc ^ value;

	if ((value & NVME_CC_EN) && hil->life.state == LIFE_RESETTING)
		return false;
	hil->reg.cc = value;
	if ((changed & NVME_CC_EN) && (value & NVME_CC_EN))
		life_enable(hil);
	else if (changed & NVME_CC_EN)
		life_disable(hil);
	if ((changed >> NVME_CC_SHN_SHIFT & 3) && (value >> NVME_CC_SHN_SHIFT & 3))
		life_shut_down(hil);
	return true;
}

/* The admin queue's place may only change while the controller is disabled. */
static bool write_admin_place(struct hil *hil, uint32_t offset, unsigned size, uint64_t value)
{
	if (hil->reg.cc & NVME_CC_EN)
		return false;
	switch (offset & ~7u) {
	case NVME_REG_ASQ: return write_half(&hil->reg.asq, offset, size, value);
	case NVME_REG_ACQ: return write_half(&hil->reg.acq, offset, size, value);
	default: hil->reg.aqa = (uint32_t)value; return true;
	}
}

bool registers_write(struct hil *hil, uint32_t offset, unsigned size, uint64_t value)
{
	if (size == 8 && !wide(offset))
		return false;
	if (offset >= NVME_REG_DOORBELLS && offset < DOORBELL_END) {
		unsigned index = (offset - NVME_REG_DOORBELLS) / 4;

		if (life_is_ready(&hil->life))
			doorbell_write(&hil->group.queues, index / 2, index & 1, (uint32_t)value);
		return true;
	}
	switch (offset) {
	case NVME_REG_INTMS: hil->irq.masked |= (uint32_t)value; return true;
	case NVME_REG_INTMC: hil->irq.masked &= ~(uint32_t)value; return true;
	case NVME_REG_CC: return write_cc(hil, (uint32_t)value);
	case NVME_REG_AQA:
	case NVME_REG_ASQ:
	case NVME_REG_ASQ + 4:
	case NVME_REG_ACQ:
	case NVME_REG_ACQ + 4: return write_admin_place(hil, offset, size, value);
	default: return false;
	}
}

/* Life cycle. A shutdown waits for the commands in the device; a reset makes the device cancel them (ftl/cancel.c), so queued commands
 * do not make it longer. */

/* CC and the admin queue's place, as base spec 3.5.1 wants them before CC.EN. */
static uint32_t arbitration_of(const struct register_file *reg) { return reg->cc >> NVME_CC_AMS_SHIFT & 7; }

static bool settings_possible(const struct hil *hil)
{
	const struct register_file *reg = &hil->reg;
	uint32_t css = reg->cc >> NVME_CC_CSS_SHIFT & 7, mps = reg->cc >> NVME_CC_MPS_SHIFT & 15;
	uint32_t sq_slots = (reg->aqa & NVME_AQA_ASQS_MASK) + 1;
	uint32_t cq_slots = (reg->aqa >> NVME_AQA_ACQS_SHIFT & NVME_AQA_ASQS_MASK) + 1;

	if ((css != NVME_CC_CSS_NVM && css != NVME_CC_CSS_CSI) || mps != 0 || arbitration_of(reg) > NVME_CC_AMS_WEIGHTED)
		return false;
	if (sq_slots < 2 || cq_slots < 2 || (reg->asq | reg->acq) & (HZ_SECTOR_BYTES - 1))
		return false;
	return host_bus_holds(&hil->bus, reg->asq, sq_slots * sizeof(struct nvme_sqe)) &&
	       host_bus_holds(&hil->bus, reg->acq, cq_slots * sizeof(struct nvme_cqe));
}

void life_order(struct hil *hil)
{
	const struct fetch *fetch = &hil->group.fetch;
	struct relay_settings settings = { .sectors = fetch->sectors,
					   .arbitration = fetch->arbitration,
					   .weighted = fetch->weighted,
					   .served = fetch_served(fetch),
					   .write_cache = fetch->limits[0].write_cache };

	relays_order(&hil->relays, &hil->life, settings);
}

void life_enable(struct hil *hil)
{
	const struct register_file *reg = &hil->reg;
	struct queues *queues = &hil->group.queues;
	uint8_t *base = hil->bus.base;

	if (!settings_possible(hil)) {
		life_set(&hil->life, LIFE_FAILED);
		hil->reg.csts = NVME_CSTS_CFS;
		return;
	}
	queues_add_cq(queues, 0, base + reg->acq, (reg->aqa >> NVME_AQA_ACQS_SHIFT & NVME_AQA_ASQS_MASK) + 1, true, 0);
	queues_add_sq(queues, 0, 0, base + reg->asq, (reg->aqa & NVME_AQA_ASQS_MASK) + 1);
	fetch_reset(&hil->group.fetch, arbitration_of(reg) == NVME_CC_AMS_WEIGHTED);
	async_events_reset(&hil->events);
	features_reset(hil);
	hil->queues_allowed = HZ_MAX_IO_QUEUES;
	hil->device.shut_down(hil->device.ctx, false);
	hil->life.number++;
	life_set(&hil->life, LIFE_READY);
	life_order(hil);
	health_tell(&hil->health); /* of events enabled by a saved value */
	sanitize_resume(hil);
	namespaces_resume_formats(hil);
	self_test_resume(hil);
	hil->reg.csts |= NVME_CSTS_RDY;
}

static void on_cancelled(struct ftl_request *req);

static void cancel_in(struct hil *hil, uint32_t number)
{
	hil->cancelling = number;
	hil->cancel =
		(struct ftl_request){ .op = FTL_CANCEL, .lba = hil->life.number, .reply_to = &hil->group.thread, .done = on_cancelled };
	hil->device.submit(hil->device.ctx, 0, &hil->cancel, number);
}

static void on_cancelled(struct ftl_request *req)
{
	struct hil *hil = (struct hil *)((char *)req - offsetof(struct hil, cancel));

	if (hil->cancelling + 1 < hil->namespaces.count) {
		cancel_in(hil, hil->cancelling + 1);
		return;
	}
	hil->life.cancelling = false;
	life_step(hil);
}

static void cancel_all(struct hil *hil)
{
	hil->life.cancelling = true;
	cancel_in(hil, 0);
	completion_drop_ready(&hil->group.completion);
}

void life_disable(struct hil *hil)
{
	if (hil->life.state == LIFE_FAILED) {
		hil->reg.csts = 0;
		life_set(&hil->life, LIFE_DISABLED);
		return;
	}
	queues_retire_all(&hil->group.queues);
	life_set(&hil->life, LIFE_RESETTING);
	self_test_interrupt(hil);
	fetch_abort_drop(&hil->group.fetch);
	life_order(hil);
	cancel_all(hil);
}

static void set_shutdown(struct hil *hil, enum life_shutdown to, uint32_t shst)
{
	hil->life.shutdown = to;
	hil->reg.csts = (hil->reg.csts & ~(uint32_t)NVME_CSTS_SHST_MASK) | shst;
}

void life_shut_down(struct hil *hil)
{
	if (hil->life.shutdown != SHUTDOWN_NONE)
		return;
	queues_retire_all(&hil->group.queues);
	set_shutdown(hil, SHUTDOWN_DRAINING, NVME_CSTS_SHST_OCCURRING);
	self_test_interrupt(hil);
	fetch_abort_drop(&hil->group.fetch);
	life_order(hil);
	life_step(hil);
}

/* The host has left, so the controller resets. After a shutdown the device's work is done. */
void life_host_left(struct hil *hil)
{
	if (hil->life.shutdown == SHUTDOWN_COMPLETE) {
		lt_harts_stop();
		return;
	}
	if (hil->reg.cc & NVME_CC_EN) {
		hil->reg.cc &= ~(uint32_t)NVME_CC_EN;
		life_disable(hil);
	}
}

static void end_run(struct hil *hil)
{
	hil->device.shut_down(hil->device.ctx, true);
	host_store32(&hil->host.header->boot_state, HZ_BOOT_STOPPED);
}

static void on_flushed(struct ftl_request *req);

static void flush_in(struct hil *hil, uint32_t number)
{
	hil->flushing = number;
	hil->flush = (struct ftl_request){ .op = FTL_FLUSH, .flags = FTL_CLEAN, .reply_to = &hil->group.thread, .done = on_flushed };
	hil->device.submit(hil->device.ctx, 0, &hil->flush, number);
}

/* A failed flush leaves volatile data behind: the stop is not marked clean, and the controller reports a fatal status. */
static void on_flushed(struct ftl_request *req)
{
	struct hil *hil = (struct hil *)((char *)req - offsetof(struct hil, flush));

	if (req->status)
		hil->reg.csts |= NVME_CSTS_CFS;
	if (hil->flushing + 1 < hil->namespaces.count) {
		flush_in(hil, hil->flushing + 1);
		return;
	}
	set_shutdown(hil, SHUTDOWN_COMPLETE, NVME_CSTS_SHST_COMPLETE);
	if (!(hil->reg.csts & NVME_CSTS_CFS))
		end_run(hil);
	if (hil->link.gone)
		lt_harts_stop();
	life_step(hil);
}

static void flush_everything(struct hil *hil)
{
	hil->life.shutdown = SHUTDOWN_FLUSHING;
	flush_in(hil, 0);
}

static void finish_reset(struct hil *hil)
{
	completion_drop_parked(&hil->group.completion);
	queues_clear(&hil->group.queues);
	hil->relays.in_device = 0;
	admin_answers_clear(&hil->answers);
	hil->reg.csts = 0;
	hil->irq.masked = 0;
	hil->life.shutdown = SHUTDOWN_NONE;
	life_set(&hil->life, LIFE_DISABLED);
}

/* A sanitize operation goes on behind a reset; a shutdown waits for it. */
static bool awaits_change(const struct hil *hil)
{
	return namespaces_change_blocks(&hil->change) || (hil->change.busy && hil->life.shutdown == SHUTDOWN_DRAINING);
}

void life_step(struct hil *hil)
{
	if (completion_in_flight(&hil->group.completion) || hil->pings.out || hil->life.cancelling || awaits_change(hil) ||
	    hil->self_test.busy || hil->abort.busy)
		return;
	if (hil->life.shutdown == SHUTDOWN_DRAINING && relays_obeyed(&hil->relays))
		flush_everything(hil);
	if (hil->life.state == LIFE_RESETTING && hil->life.shutdown != SHUTDOWN_FLUSHING && relays_obeyed(&hil->relays))
		finish_reset(hil);
}
