/* Error log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/error_log.h"

#include "hil/queue/queue_client.h"
#include "lt/arena.h"

void error_log_init(struct error_log *log, struct arena *arena)
{
	log->entry = arena_alloc(arena, HIL_ERROR_ENTRIES, sizeof(*log->entry), "HIL error log");
}

void error_log_add(struct error_log *log, uint16_t sqid, uint16_t cid, uint16_t status, uint64_t lba, uint32_t nsid)
{
	uint64_t number = ++log->errors;

	log->media_errors += failure_is_of_media(status);
	log->entry[(number - 1) % HIL_ERROR_ENTRIES] = (struct nvme_error_entry){
		.error_count = number,
		.sqid = sqid,
		.cid = cid,
		.status_field = (uint16_t)(status << 1),
		.parameter_location = 0xffff,
		.lba = lba,
		.nsid = nsid,
	};
}

void error_log_copy(const struct error_log *log, struct nvme_error_entry *out)
{
	for (uint64_t i = 0; i < HIL_ERROR_ENTRIES && i < log->errors; i++)
		out[i] = log->entry[(log->errors - 1 - i) % HIL_ERROR_ENTRIES];
}
