/* Get and Set Features. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/admin_features.h"

#include "hil/controller/hil_state.h"
#include "hil/controller/life_cycle.h"

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR,
	UNDER = 0x10, /* THSEL and TMPSEL: the under temperature threshold of the composite temperature */
};

static const struct feature *feature_of(const struct hil *hil, const struct nvme_sqe *sqe)
{
	return feature_find(sqe->cdw10 & 0xff, has_volatile_cache(hil));
}

/* CDW11 of Get Features picks the vector, or the threshold: over or under, of the composite temperature. */
static bool known_part(uint32_t id, uint32_t part)
{
	if (id == NVME_FEAT_INTERRUPT_VECTOR)
		return (part & 0xffff) < VECTORS;
	return id != NVME_FEAT_TEMPERATURE_THRESHOLD || (part >> 16 & 0x3f) == 0 || (part >> 16 & 0x3f) == UNDER;
}

static uint32_t part_value(uint32_t id, uint32_t value, uint32_t part)
{
	if (id == NVME_FEAT_INTERRUPT_VECTOR)
		return value | (part & 0xffff);
	return id == NVME_FEAT_TEMPERATURE_THRESHOLD && (part >> 16 & 0x3f) == UNDER ? 0 : value;
}

uint16_t admin_get_features(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct feature *feature = feature_of(hil, sqe);
	uint32_t select = sqe->cdw10 >> 8 & 7, id = sqe->cdw10 & 0xff;

	if (!feature || select > NVME_FEAT_CAPABILITIES || !known_part(id, sqe->cdw11))
		return BAD_FIELD;
	if (select == NVME_FEAT_CAPABILITIES)
		result->dw0 = feature->changeable ? NVME_FEAT_CAP_CHANGEABLE : 0;
	else
		result->dw0 = part_value(id, select == NVME_FEAT_CURRENT ? hil->features.value[id] : feature->initial, sqe->cdw11);
	return NVME_SUCCESS;
}

/* Once per reset, before the first I/O queue (base spec 5.27.1.5). The answer is what the host got. */
static uint16_t set_queue_count(struct hil *hil, uint32_t value, struct admin_result *result)
{
	const struct queues *queues = &hil->group.queues;
	uint32_t sqs = value & 0xffff, cqs = value >> 16, count;

	if (sqs == 0xffff || cqs == 0xffff)
		return BAD_FIELD;
	for (unsigned id = 1; id < QUEUES; id++)
		if (queues->sq[id].live || queues->cq[id].live)
			return NVME_COMMAND_SEQUENCE | NVME_DNR;
	count = sqs > cqs ? sqs : cqs;
	count = count < QUEUE_COUNT ? count : QUEUE_COUNT;
	hil->queues_allowed = count + 1;
	hil->features.value[NVME_FEAT_NUMBER_OF_QUEUES] = count << 16 | count;
	result->dw0 = hil->features.value[NVME_FEAT_NUMBER_OF_QUEUES];
	return NVME_SUCCESS;
}

/* Those that something other than Get Features looks at. */
static void apply_feature(struct hil *hil, uint32_t id, uint32_t value)
{
	if (id == NVME_FEAT_ARBITRATION)
		hil->group.fetch.burst = value;
	if (id == NVME_FEAT_VOLATILE_WRITE_CACHE)
		fetch_set_write_cache(&hil->group.fetch, value);
	if (id == NVME_FEAT_ARBITRATION || id == NVME_FEAT_VOLATILE_WRITE_CACHE)
		life_order(hil);
	if (id == NVME_FEAT_ASYNC_EVENT) {
		hil->events.enabled = value;
		health_tell(&hil->health);
	}
}

uint16_t admin_set_features(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct feature *feature = feature_of(hil, sqe);
	uint32_t id = sqe->cdw10 & 0xff, value = sqe->cdw11;

	if (!feature)
		return BAD_FIELD;
	if (sqe->cdw10 >> 31)
		return NVME_FEATURE_NOT_SAVEABLE | NVME_DNR;
	if (sqe->nsid != 0 && sqe->nsid != NVME_NSID_ALL)
		return NVME_FEATURE_NOT_PER_NAMESPACE | NVME_DNR;
	if (!feature->changeable)
		return NVME_FEATURE_NOT_CHANGEABLE | NVME_DNR;
	if (value & ~(id == NVME_FEAT_ASYNC_EVENT ? feature->valid | feature_notices(hil->zoned) : feature->valid))
		return BAD_FIELD;
	if (id == NVME_FEAT_NUMBER_OF_QUEUES)
		return set_queue_count(hil, value, result);
	hil->features.value[id] = value;
	apply_feature(hil, id, value);
	return NVME_SUCCESS;
}
