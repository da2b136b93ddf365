/* Telemetry (base spec 5.16.1.8, 5.16.1.9): log pages of ours, taken together when a host asks for it.
 *
 * The data stay until the next creation, over controller resets; a restart loses them, not their number. The controller itself never
 * creates any, so that its page is a header. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_CONTROLLER_TELEMETRY_H
#define HIL_CONTROLLER_TELEMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "logs.h"
#include "nvme.h"

struct arena;
struct hil;
struct telemetry {
	struct nvme_telemetry_header header;
	uint8_t *blocks;      /* header.last_block[2] of them, behind the header */
	uint32_t block_count; /* there is room for */
};

/* Before the harts run. */
void telemetry_init(struct telemetry *telemetry, struct arena *arena);
static inline bool telemetry_is_page(unsigned id) { return id == NVME_LOG_TELEMETRY_HOST || id == NVME_LOG_TELEMETRY_CONTROLLER; }
/* The command creates data before it reads them: all harts must have published their part first. */
static inline bool telemetry_creates(const struct nvme_sqe *sqe)
{
	return (sqe->cdw10 & 0xff) == NVME_LOG_TELEMETRY_HOST && sqe->cdw10 & NVME_TELEMETRY_CREATE;
}
/* All harts have published their part. Overwrites hil->scratch. Clock frozen. */
void telemetry_create(struct hil *hil);
/* The header of the page, and the number of blocks behind it. Clock frozen. */
uint32_t telemetry_header(const struct hil *hil, unsigned id, struct nvme_telemetry_header *out);

#endif
