/* Controller registers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/registers.h"

#include "hil/controller/hil_state.h"
#include "hil/controller/life_cycle.h"
#include "hil/queue/doorbell_registers.h"

enum { DOORBELL_END = NVME_REG_DOORBELLS + QUEUES * 8 };

/* CAP.TO = CRTO.CRWMT = 40, 20 seconds: a reset waits for flash reads only (ftl/abandon.c), whatever is queued. CRMS: ready with media, the
 * only mode. */
enum { READY_TIMEOUT = 40 };
static const uint64_t cap = (uint64_t)(HZ_MAX_QUEUE_DEPTH - 1) << NVME_CAP_MQES | 1ull << NVME_CAP_CQR |
			    (uint64_t)READY_TIMEOUT << NVME_CAP_TO | 1ull << NVME_CAP_CRMS |
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
