/* Error log: the last errors that the host was told of, and how many there were (base spec 5.16.1.2). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_ERROR_LOG_H
#define HIL_ERROR_LOG_H

#include "nvme.h"

enum { HIL_ERROR_ENTRIES = 64 };

struct arena;
struct error_log {
	uint64_t errors, media_errors;  /* commands that ended with any status, because of the media */
	struct nvme_error_entry *entry; /* ring of HIL_ERROR_ENTRIES */
};

void error_log_init(struct error_log *log, struct arena *arena);
void error_log_add(struct error_log *log, uint16_t sqid, uint16_t cid, uint16_t status, uint64_t lba, uint32_t nsid);
/* HIL_ERROR_ENTRIES entries, newest first; those that there are not stay as they were. */
void error_log_copy(const struct error_log *log, struct nvme_error_entry *out);

#endif
