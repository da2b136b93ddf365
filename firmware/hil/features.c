/* Get and Set Features (base spec 5.15, 5.27). Nothing is saveable; values return to their defaults at each controller reset. */
#include "hil_state.h"

enum { BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR, ANY = 0xffffffff, QUEUE_COUNT = HZ_MAX_IO_QUEUES - 1 };

struct feature { bool known, changeable; uint32_t initial, valid; }; /* valid: bits that a host may set */

static const struct feature features[32] = {
	[NVME_FEAT_ARBITRATION] = { true, true, 0, ANY },
	[NVME_FEAT_POWER_MANAGEMENT] = { true, true, 0, 0xe0 },        /* one power state; the workload hint is free */
	[NVME_FEAT_TEMPERATURE_THRESHOLD] = { true, true, 0x157, 0x3fffff },
	[NVME_FEAT_ERROR_RECOVERY] = { true, true, 0, 0xffff },        /* no deallocated-error */
	[NVME_FEAT_VOLATILE_WRITE_CACHE] = { true, true, 1, 1 },
	[NVME_FEAT_NUMBER_OF_QUEUES] = { true, true, QUEUE_COUNT << 16 | QUEUE_COUNT, ANY },
	[NVME_FEAT_INTERRUPT_COALESCING] = { true, true, 0, 0xffff },
	[NVME_FEAT_INTERRUPT_VECTOR] = { true, true, 0, 0x1ffff },
	[NVME_FEAT_WRITE_ATOMICITY] = { true, true, 0, 1 },
	[NVME_FEAT_ASYNC_EVENT] = { true, true, 0, NVME_WARNINGS },    /* and hil_notices() */
	[NVME_FEAT_IOCS_PROFILE] = { true, true, 0, 0 },               /* one combination of command sets */
};

void hil_features_reset(struct hil *hil)
{
	for (unsigned i = 0; i < 32; i++)
		hil->feature[i] = features[i].initial;
	hil->vector_masked[0] = hil->vector_masked[1] = 0;
	hil->limits.write_cache = true;
	hil->burst_left = 0;
}

uint32_t hil_notices(const struct hil *hil) { return hil->limits.zoned ? NVME_NOTICE_ZONES : 0; }

bool hil_feature_known(unsigned id) { return id < 32 && features[id].known; }

static const struct feature *feature_of(const struct nvme_sqe *sqe)
{
	uint8_t id = sqe->cdw10 & 0xff;

	return hil_feature_known(id) ? &features[id] : NULL;
}

static uint32_t vector_value(const struct hil *hil, uint32_t vector)
{
	return vector | (uint32_t)(hil->vector_masked[vector >> 6] >> (vector & 63) & 1) << 16;
}

uint16_t hil_admin_get_features(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct feature *feature = feature_of(sqe);
	uint32_t select = sqe->cdw10 >> 8 & 7, id = sqe->cdw10 & 0xff, vector = sqe->cdw11 & 0xffff;

	if (!feature || select > NVME_FEAT_CAPABILITIES)
		return BAD_FIELD;
	if (id == NVME_FEAT_INTERRUPT_VECTOR && vector >= VECTORS)
		return BAD_FIELD;
	if (select == NVME_FEAT_CAPABILITIES)
		result->dw0 = feature->changeable ? NVME_FEAT_CAP_CHANGEABLE : 0;
	else if (select != NVME_FEAT_CURRENT)
		result->dw0 = feature->initial | (id == NVME_FEAT_INTERRUPT_VECTOR ? vector : 0);
	else
		result->dw0 = id == NVME_FEAT_INTERRUPT_VECTOR ? vector_value(hil, vector) : hil->feature[id];
	return NVME_SUCCESS;
}

/* Once per reset, before the first I/O queue (base spec 5.27.1.5). The answer is what the host got. */
static uint16_t set_queue_count(struct hil *hil, uint32_t value, struct admin_result *result)
{
	uint32_t sqs = value & 0xffff, cqs = value >> 16, count;

	if (sqs == 0xffff || cqs == 0xffff)
		return BAD_FIELD;
	for (unsigned id = 1; id < QUEUES; id++)
		if (hil->sq[id].live || hil->cq[id].live)
			return NVME_COMMAND_SEQUENCE | NVME_DNR;
	count = sqs > cqs ? sqs : cqs;
	count = count < QUEUE_COUNT ? count : QUEUE_COUNT;
	hil->queues_allowed = count + 1;
	hil->feature[NVME_FEAT_NUMBER_OF_QUEUES] = count << 16 | count;
	result->dw0 = hil->feature[NVME_FEAT_NUMBER_OF_QUEUES];
	return NVME_SUCCESS;
}

static uint16_t set_vector(struct hil *hil, uint32_t value)
{
	uint32_t vector = value & 0xffff;
	uint64_t bit = 1ull << (vector & 63);

	if (vector >= VECTORS)
		return BAD_FIELD;
	if (value >> 16 & 1)
		hil->vector_masked[vector >> 6] |= bit;
	else
		hil->vector_masked[vector >> 6] &= ~bit;
	return NVME_SUCCESS;
}

uint16_t hil_admin_set_features(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct feature *feature = feature_of(sqe);
	uint32_t id = sqe->cdw10 & 0xff, value = sqe->cdw11;

	if (!feature)
		return BAD_FIELD;
	if (sqe->cdw10 >> 31)
		return NVME_FEATURE_NOT_SAVEABLE | NVME_DNR;
	if (sqe->nsid != 0 && sqe->nsid != NVME_NSID_ALL)
		return NVME_FEATURE_NOT_PER_NAMESPACE | NVME_DNR;
	if (value & ~(id == NVME_FEAT_ASYNC_EVENT ? feature->valid | hil_notices(hil) : feature->valid))
		return BAD_FIELD;
	if (id == NVME_FEAT_NUMBER_OF_QUEUES)
		return set_queue_count(hil, value, result);
	if (id == NVME_FEAT_INTERRUPT_VECTOR)
		return set_vector(hil, value);
	hil->feature[id] = value;
	if (id == NVME_FEAT_ASYNC_EVENT) {
		async_event_warn(hil, value);
		async_event_zones(hil);
	}
	if (id == NVME_FEAT_VOLATILE_WRITE_CACHE)
		hil->limits.write_cache = value;
	return NVME_SUCCESS;
}
