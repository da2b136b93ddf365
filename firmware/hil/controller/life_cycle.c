/* Enable, controller reset, shutdown (base spec 3.5, 3.6, 3.7.2). A shutdown waits for the commands that are in the device; a reset has the
 * FTL abandon them (ftl/abandon.c), so what is queued does not make it longer. */
#include "hil/controller/hil_state.h"
#include "lt/hart.h"
#include "tsu/tsu_rest.h"

void hil_set_life(struct hil *hil, enum hil_life life)
{
	static const uint8_t may_follow[] = {
		[LIFE_DISABLED] = 1 << LIFE_READY | 1 << LIFE_FAILED, [LIFE_READY] = 1 << LIFE_RESETTING,
		[LIFE_RESETTING] = 1 << LIFE_DISABLED, [LIFE_FAILED] = 1 << LIFE_DISABLED,
	};

	if (!(may_follow[hil->life] >> life & 1))
		lt_fail("hil_set_life: impossible change of the controller's life");
	hil->life = life;
}

/* CC and the admin queue's place, as base spec 3.5.1 wants them before CC.EN. */
static bool settings_possible(const struct hil *hil)
{
	const struct registers *reg = &hil->reg;
	uint32_t css = reg->cc >> NVME_CC_CSS_SHIFT & 7, mps = reg->cc >> NVME_CC_MPS_SHIFT & 15;
	uint32_t ams = reg->cc >> NVME_CC_AMS_SHIFT & 7;
	uint32_t sq_slots = (reg->aqa & NVME_AQA_ASQS_MASK) + 1;
	uint32_t cq_slots = (reg->aqa >> NVME_AQA_ACQS_SHIFT & NVME_AQA_ASQS_MASK) + 1;

	if ((css != NVME_CC_CSS_NVM && css != NVME_CC_CSS_CSI) || mps != 0 || ams != 0)
		return false;
	if (sq_slots < 2 || cq_slots < 2 || (reg->asq | reg->acq) & (HZ_SECTOR_BYTES - 1))
		return false;
	return host_bus_holds(&hil->limits.bus, reg->asq, sq_slots * sizeof(struct nvme_sqe)) &&
	       host_bus_holds(&hil->limits.bus, reg->acq, cq_slots * sizeof(struct nvme_cqe));
}

void hil_enable(struct hil *hil)
{
	const struct registers *reg = &hil->reg;
	uint8_t *base = hil->limits.bus.base;

	if (!settings_possible(hil)) {
		hil_set_life(hil, LIFE_FAILED);
		hil->reg.csts = NVME_CSTS_CFS;
		return;
	}
	hil_cq_create(hil, 0, base + reg->acq, (reg->aqa >> NVME_AQA_ACQS_SHIFT & NVME_AQA_ASQS_MASK) + 1, true, 0);
	hil_sq_create(hil, 0, 0, base + reg->asq, (reg->aqa & NVME_AQA_ASQS_MASK) + 1);
	hil_features_reset(hil);
	hil->events = (struct async_events){ 0 };
	hil->queues_allowed = HZ_MAX_IO_QUEUES;
	hil->device.shut_down(hil->device.ctx, false);
	hil->lives++;
	hil_set_life(hil, LIFE_READY);
	hil->reg.csts |= NVME_CSTS_RDY;
}

static void retire_all(struct hil *hil)
{
	for (unsigned id = 1; id < QUEUES; id++)
		if (hil->sq[id].live)
			hil_sq_retire(hil, &hil->sq[id]);
}

static struct hil *hil_of(struct ftl_request *req)
{
	return ((struct command *)((char *)req - offsetof(struct command, req)))->hil;
}

static void on_abandoned(struct ftl_request *req)
{
	struct hil *hil = hil_of(req);

	hil->abandoning = false;
	hil_life_step(hil);
}

static void abandon_all(struct hil *hil)
{
	hil->abandoning = true;
	hil->abandon->req = (struct ftl_request){ .op = FTL_ABANDON, .lba = hil->lives, .reply_to = &hil->thread, .done = on_abandoned };
	hil->device.submit(hil->device.ctx, 0, &hil->abandon->req);
	hil_drop_ready(hil);
}

void hil_disable(struct hil *hil)
{
	if (hil->life == LIFE_FAILED) {
		hil->reg.csts = 0;
		hil_set_life(hil, LIFE_DISABLED);
		return;
	}
	retire_all(hil);
	hil_set_life(hil, LIFE_RESETTING);
	abandon_all(hil);
}

void hil_begin_shutdown(struct hil *hil)
{
	if (hil->shutdown != SHUTDOWN_NONE)
		return;
	retire_all(hil);
	hil->reg.csts = (hil->reg.csts & ~(uint32_t)NVME_CSTS_SHST_MASK) | NVME_CSTS_SHST_OCCURRING;
	hil->shutdown = SHUTDOWN_DRAINING;
	hil_life_step(hil);
}

static void end_run(struct hil *hil)
{
	hil->device.shut_down(hil->device.ctx, true);
	host_store32(&hil->header->boot_state, HZ_BOOT_STOPPED);
}

/* A flush that fails leaves data behind: no clean stop is claimed, and the controller says that it is not well. */
static void on_flushed(struct ftl_request *req)
{
	struct hil *hil = hil_of(req);

	hil->shutdown = SHUTDOWN_COMPLETE;
	hil->reg.csts = (hil->reg.csts & ~(uint32_t)NVME_CSTS_SHST_MASK) | NVME_CSTS_SHST_COMPLETE;
	if (req->status)
		hil->reg.csts |= NVME_CSTS_CFS;
	else
		end_run(hil);
	if (hil->hung_up)
		lt_harts_stop();
	hil_life_step(hil);
}

static void flush_everything(struct hil *hil)
{
	hil->shutdown = SHUTDOWN_FLUSHING;
	hil->flush->req = (struct ftl_request){ .op = FTL_FLUSH, .flags = FTL_AT_REST, .reply_to = &hil->thread, .done = on_flushed };
	hil->device.submit(hil->device.ctx, 0, &hil->flush->req);
}

static void finish_reset(struct hil *hil)
{
	hil_queues_clear(hil);
	hil->reg.csts = 0;
	hil->reg.masked = 0;
	hil->shutdown = SHUTDOWN_NONE;
	hil_set_life(hil, LIFE_DISABLED);
}

void hil_life_step(struct hil *hil)
{
	if (hil->outstanding != hil->parked || hil->pings_out || hil->abandoning)
		return;
	if (hil->shutdown == SHUTDOWN_DRAINING)
		flush_everything(hil);
	if (hil->life == LIFE_RESETTING && hil->shutdown != SHUTDOWN_FLUSHING)
		finish_reset(hil);
}
