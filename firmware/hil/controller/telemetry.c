/* Telemetry. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/health.h"

#include <string.h>

#include "hil/controller/controller.h"
#include "lt/arena.h"

HZ_STATIC_ASSERT((int)HZ_TELEMETRY_BLOCK == (int)NVME_TELEMETRY_BLOCK, "our blocks are the specification's");

/* In the order of their places. The largest, which few need, is in data area 2. */
static const struct {
	uint8_t id;
	uint32_t bytes;
} pages[] = {
	{ NVME_LOG_SMART, sizeof(struct nvme_smart_log) }, { HZ_LOG_FLASH, sizeof(struct hz_log_flash) },
	{ HZ_LOG_FTL, sizeof(struct hz_log_ftl) },         { HZ_LOG_IN_PLACE, sizeof(struct hz_log_in_place) },
	{ HZ_LOG_HARTS, sizeof(struct hz_log_harts) },
};
enum { PAGES = sizeof(pages) / sizeof(pages[0]), AREA_1_PAGES = PAGES - 1 };
HZ_STATIC_ASSERT(sizeof(((struct hz_log_telemetry *)0)->page) == PAGES * sizeof(struct hz_telemetry_page) &&
			 sizeof(struct hz_log_telemetry) <= HZ_TELEMETRY_BLOCK,
		 "a block lists all pages");

static uint32_t blocks_of(uint32_t bytes) { return (bytes + HZ_TELEMETRY_BLOCK - 1) / HZ_TELEMETRY_BLOCK; }

void telemetry_init(struct telemetry *telemetry, struct arena *arena)
{
	telemetry->block_count = 1;
	for (unsigned i = 0; i < PAGES; i++)
		telemetry->block_count += blocks_of(pages[i].bytes);
	telemetry->blocks = arena_alloc(arena, telemetry->block_count, HZ_TELEMETRY_BLOCK, "HIL telemetry");
	telemetry->header.lpi = NVME_LOG_TELEMETRY_HOST;
}

static uint8_t new_generation(struct hil *hil)
{
	struct hz_nand_controller record;

	hil->device.controller_record(hil->device.ctx, &record);
	record.telemetry_generation++;
	hil->device.keep_controller(hil->device.ctx, &record);
	return record.telemetry_generation;
}

void telemetry_create(struct hil *hil)
{
	struct telemetry *telemetry = &hil->telemetry;
	struct hz_log_telemetry *list = (struct hz_log_telemetry *)telemetry->blocks;
	uint32_t block = 2; /* behind the header and the list */

	memset(telemetry->blocks, 0, telemetry->block_count * HZ_TELEMETRY_BLOCK);
	list->version = LOG_VERSION;
	list->pages = PAGES;
	for (unsigned i = 0; i < PAGES; i++) {
		const struct nvme_sqe sqe = { .cdw10 = pages[i].id, .nsid = NVME_NSID_ALL };

		log_page_build(hil, &sqe);
		memcpy(telemetry->blocks + (block - 1) * HZ_TELEMETRY_BLOCK, hil->scratch, pages[i].bytes);
		list->page[i] = (struct hz_telemetry_page){ .id = pages[i].id, .block = block, .bytes = pages[i].bytes };
		block += blocks_of(pages[i].bytes);
		if (i + 1 == AREA_1_PAGES)
			telemetry->header.last_block[0] = (uint16_t)(block - 1);
	}
	telemetry->header.last_block[1] = telemetry->header.last_block[2] = (uint16_t)(block - 1);
	telemetry->header.host_generation = new_generation(hil);
}

uint32_t telemetry_header(const struct hil *hil, unsigned id, struct nvme_telemetry_header *out)
{
	struct hz_nand_controller record;

	hil->device.controller_record(hil->device.ctx, &record);
	*out = hil->telemetry.header;
	out->lpi = (uint8_t)id;
	out->host_generation = record.telemetry_generation;
	if (id == NVME_LOG_TELEMETRY_HOST)
		return out->last_block[2];
	memset(out->last_block, 0, sizeof(out->last_block));
	return 0;
}
