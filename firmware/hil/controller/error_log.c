/* Error log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/error_log.h"

#include <stdbool.h>

#include "lt/arena.h"

enum { MEDIA_SCT = 0x200, SCT_MASK = 0x700 };

void error_log_init(struct error_log *log, struct arena *arena)
{
	log->entry = arena_alloc(arena, HIL_ERROR_ENTRIES, sizeof(*log->entry), "HIL error log");
}

/* Data that differ from the host's are what it asked about: the media are good. */
static bool is_media_error(uint16_t status) { return (status & SCT_MASK) == MEDIA_SCT && (status & ~NVME_DNR) != NVME_COMPARE_FAILURE; }

void error_log_add(struct error_log *log, uint16_t sqid, uint16_t cid, uint16_t status, uint64_t lba, uint32_t nsid)
{
	uint64_t number = ++log->errors;

	log->media_errors += is_media_error(status);
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
