/* Get and Set Features (base spec 5.15, 5.27). Nothing is saveable; values return to their defaults at each controller reset. A feature
 * that the specification asks for but that has nothing to act on here can be read, and is not changeable. */
#include "hil/controller/hil_state.h"

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR, ANY = 0xffffffff, QUEUE_COUNT = HZ_MAX_IO_QUEUES - 1,
	UNDER = 0x10,              /* THSEL and TMPSEL: the under temperature threshold of the composite temperature */
	OVER_NEVER = 0xffff,       /* temperature threshold that is never exceeded */
	COALESCING_OFF = 1 << 16,  /* of a vector */
};

struct feature { bool known, changeable; uint32_t initial, valid; }; /* valid: bits that a host may set */

static const struct feature features[32] = {
	[NVME_FEAT_ARBITRATION] = { true, true, 0, 7 },                /* burst; no weights, since round robin is all there is */
	[NVME_FEAT_POWER_MANAGEMENT] = { true, true, 0, 0 },           /* one power state, whatever the workload */
	[NVME_FEAT_TEMPERATURE_THRESHOLD] = { true, false, OVER_NEVER, 0 },
	[NVME_FEAT_ERROR_RECOVERY] = { true, false, 0, 0 },            /* no time limit of retries */
	[NVME_FEAT_VOLATILE_WRITE_CACHE] = { true, true, 1, 1 },
	[NVME_FEAT_NUMBER_OF_QUEUES] = { true, true, QUEUE_COUNT << 16 | QUEUE_COUNT, ANY },
	[NVME_FEAT_INTERRUPT_COALESCING] = { true, false, 0, 0 },
	[NVME_FEAT_INTERRUPT_VECTOR] = { true, false, COALESCING_OFF, 0 },
	[NVME_FEAT_WRITE_ATOMICITY] = { true, true, 0, 1 },            /* one block is atomic, either way */
	[NVME_FEAT_ASYNC_EVENT] = { true, true, 0, NVME_WARNINGS },    /* and hil_notices() */
	[NVME_FEAT_IOCS_PROFILE] = { true, true, 0, 0 },               /* one combination of command sets */
};

void hil_features_reset(struct hil *hil)
{
	for (unsigned i = 0; i < 32; i++)
		hil->feature[i] = features[i].initial;
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

uint16_t hil_admin_get_features(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct feature *feature = feature_of(sqe);
	uint32_t select = sqe->cdw10 >> 8 & 7, id = sqe->cdw10 & 0xff;

	if (!feature || select > NVME_FEAT_CAPABILITIES || !known_part(id, sqe->cdw11))
		return BAD_FIELD;
	if (select == NVME_FEAT_CAPABILITIES)
		result->dw0 = feature->changeable ? NVME_FEAT_CAP_CHANGEABLE : 0;
	else
		result->dw0 = part_value(id, select == NVME_FEAT_CURRENT ? hil->feature[id] : feature->initial, sqe->cdw11);
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
	if (!feature->changeable)
		return NVME_FEATURE_NOT_CHANGEABLE | NVME_DNR;
	if (value & ~(id == NVME_FEAT_ASYNC_EVENT ? feature->valid | hil_notices(hil) : feature->valid))
		return BAD_FIELD;
	if (id == NVME_FEAT_NUMBER_OF_QUEUES)
		return set_queue_count(hil, value, result);
	hil->feature[id] = value;
	if (id == NVME_FEAT_ASYNC_EVENT) {
		async_event_warn(hil, value);
		async_event_zones(hil);
	}
	if (id == NVME_FEAT_VOLATILE_WRITE_CACHE)
		hil->limits.write_cache = value;
	return NVME_SUCCESS;
}
