/* Sanitize: the command, its state in the image, what it refuses meanwhile, and its log page. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/controller.h"

enum { BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR };
static const uint64_t SECOND_NS = 1000000000;

static bool is_restricted(const struct sanitize *sanitize) { return !(sanitize->cdw10 >> NVME_SANITIZE_AUSE & 1); }
static bool runs(const struct sanitize *sanitize) { return sanitize->state == NVME_SANITIZE_RUNS; }
static bool in_failure_mode(const struct sanitize *sanitize) { return sanitize->state == NVME_SANITIZE_HAS_FAILED && !sanitize->exited; }

static void serve(struct hil *hil)
{
	namespaces_serve(hil, runs(&hil->sanitize)              ? FETCH_SANITIZE_RUNS
			      : in_failure_mode(&hil->sanitize) ? FETCH_SANITIZE_FAILED
								: FETCH_SERVES);
}

static void set_state(struct hil *hil, struct sanitize state)
{
	struct hz_nand_controller record;

	hil->sanitize = state;
	hil->device.controller_record(hil->device.ctx, &record);
	record.sanitize = state.state;
	record.failure_exited = state.exited;
	record.sanitize_cdw10 = state.cdw10;
	hil->device.keep_controller(hil->device.ctx, &record);
	serve(hil);
}

void sanitize_ended(struct hil *hil, bool good)
{
	if (good)
		namespaces_are_sanitized(hil);
	set_state(hil, (struct sanitize){ good ? NVME_SANITIZE_DONE : NVME_SANITIZE_HAS_FAILED, false, hil->sanitize.cdw10 });
	async_events_raise(&hil->events, NVME_AEN_IO, NVME_AEN_IO_SANITIZED);
}

void sanitize_resume(struct hil *hil)
{
	struct hz_nand_controller record;

	if (hil->change.busy) /* it has gone on */
		return;
	hil->device.controller_record(hil->device.ctx, &record);
	hil->sanitize = (struct sanitize){ record.sanitize, record.failure_exited, record.sanitize_cdw10 };
	if (hil->sanitize.state)
		serve(hil);
	if (runs(&hil->sanitize))
		namespaces_sanitize(hil);
}

/* After a failure in the restricted mode only another restricted operation helps. */
static uint16_t leave_failure_mode(struct hil *hil)
{
	if (!in_failure_mode(&hil->sanitize))
		return NVME_SUCCESS;
	if (is_restricted(&hil->sanitize))
		return NVME_SANITIZE_FAILED;
	set_state(hil, (struct sanitize){ NVME_SANITIZE_HAS_FAILED, true, hil->sanitize.cdw10 });
	return NVME_SUCCESS;
}

/* NDI and NODRM 0: deallocation cannot be declined. */
uint16_t admin_sanitize(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint32_t action = sqe->cdw10 >> NVME_SANITIZE_ACTION & 7;

	(void)result;
	if (action == NVME_SANITIZE_EXIT_FAILURE)
		return leave_failure_mode(hil);
	if (action != NVME_SANITIZE_BLOCK_ERASE || sqe->cdw10 >> NVME_SANITIZE_NDAS & 1)
		return BAD_FIELD;
	if (in_failure_mode(&hil->sanitize) && is_restricted(&hil->sanitize) && sqe->cdw10 >> NVME_SANITIZE_AUSE & 1)
		return NVME_SANITIZE_FAILED;
	set_state(hil, (struct sanitize){ NVME_SANITIZE_RUNS, false, sqe->cdw10 });
	namespaces_sanitize(hil);
	return NVME_SUCCESS;
}

/* Base spec 8.21. */
static bool is_allowed_page(uint8_t id)
{
	return id == NVME_LOG_ERROR || id == NVME_LOG_SMART || id == NVME_LOG_CHANGED_NAMESPACES || id == NVME_LOG_SANITIZE;
}

static bool is_allowed(const struct hil *hil, const struct nvme_sqe *sqe)
{
	switch (sqe->opcode) {
	case NVME_ADMIN_DELETE_SQ:
	case NVME_ADMIN_CREATE_SQ:
	case NVME_ADMIN_DELETE_CQ:
	case NVME_ADMIN_CREATE_CQ:
	case NVME_ADMIN_IDENTIFY:
	case NVME_ADMIN_ABORT:
	case NVME_ADMIN_SET_FEATURES:
	case NVME_ADMIN_GET_FEATURES:
	case NVME_ADMIN_ASYNC_EVENT: return true;
	case NVME_ADMIN_GET_LOG_PAGE: return is_allowed_page(sqe->cdw10 & 0xff);
	case NVME_ADMIN_SANITIZE: return !runs(&hil->sanitize);
	default: return false;
	}
}

uint16_t sanitize_refuses(const struct hil *hil, const struct nvme_sqe *sqe)
{
	if (!(runs(&hil->sanitize) || in_failure_mode(&hil->sanitize)) || is_allowed(hil, sqe))
		return NVME_SUCCESS;
	return runs(&hil->sanitize) ? NVME_SANITIZE_IN_PROGRESS : NVME_SANITIZE_FAILED;
}

uint32_t sanitize_capabilities(void) { return NVME_SANICAP_BLOCK_ERASE | NVME_SANICAP_NDI | NVME_SANICAP_UNMODIFIED; }

/* One block of each plane after the other. */
static uint32_t estimate_s(const struct hz_device_config *cfg)
{
	uint64_t normal = cfg->blocks_per_plane - cfg->slc_blocks_per_plane;
	uint64_t ns = normal * cfg->normal.erase_ns + cfg->slc_blocks_per_plane * (uint64_t)cfg->slc.erase_ns;

	return (uint32_t)(1 + ns / SECOND_NS);
}

uint32_t sanitize_page(const struct hil *hil, struct nvme_sanitize_log *log)
{
	log->sprog = runs(&hil->sanitize) ? (uint16_t)namespaces_sanitized(hil) : UINT16_MAX;
	log->sstat = hil->sanitize.state;
	log->scdw10 = hil->sanitize.cdw10;
	log->block_erase_s = estimate_s(hil->cfg);
	log->overwrite_s = log->crypto_erase_s = NVME_SANITIZE_NO_TIME;
	log->overwrite_kept_s = log->block_erase_kept_s = log->crypto_kept_s = NVME_SANITIZE_NO_TIME;
	return sizeof(*log);
}
