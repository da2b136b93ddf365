/* Work that harts do in place of engines: what it takes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "boundary/boundary.h"

enum { NS_PER_US = 1000 };

const uint16_t boundary_instructions[WORKS] = {
	[WORK_FETCH] = 69,    [WORK_COMPLETION] = 91, [WORK_DMA] = 62,   [WORK_CHECKSUM] = 2519,
	[WORK_GUARD] = 22536, [WORK_PARITY] = 3587,   [WORK_NAND] = 577,
};

uint64_t boundary_unit[WORKS];
uint64_t boundary_rest[HZ_MAX_HARTS];

static uint64_t unit_of(const struct hz_device_config *cfg, uint32_t by, enum boundary_work work)
{
	uint64_t cycles = (uint64_t)boundary_instructions[work] * cfg->clock.insn;

	return by == HZ_BY_FIRMWARE ? (cycles * NS_PER_US << BOUNDARY_FRACTION_BITS) / cfg->clock.mhz : 0;
}

void boundary_init(const struct hz_device_config *cfg)
{
	boundary_unit[WORK_FETCH] = unit_of(cfg, cfg->fetch_by, WORK_FETCH);
	boundary_unit[WORK_COMPLETION] = unit_of(cfg, cfg->completion_by, WORK_COMPLETION);
	boundary_unit[WORK_DMA] = unit_of(cfg, cfg->dma_by, WORK_DMA);
	boundary_unit[WORK_CHECKSUM] = unit_of(cfg, cfg->checksum_by, WORK_CHECKSUM);
	boundary_unit[WORK_GUARD] = unit_of(cfg, cfg->checksum_by, WORK_GUARD);
	boundary_unit[WORK_PARITY] = unit_of(cfg, cfg->parity_by, WORK_PARITY);
	boundary_unit[WORK_NAND] = unit_of(cfg, cfg->nand_by, WORK_NAND);
}
