/* Features: the table. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/features.h"

#include <stddef.h>

enum {
	ANY_VALUE = 0xffffffff,
	OVER_NEVER = 0xffff,      /* temperature threshold that is never exceeded */
	COALESCING_OFF = 1 << 16, /* of a vector */
};

static const struct feature table[FEATURES] = {
	[NVME_FEAT_ARBITRATION] = { true, true, 0, 7 },      /* burst; no weights, since round robin is all there is */
	[NVME_FEAT_POWER_MANAGEMENT] = { true, true, 0, 0 }, /* one power state, whatever the workload */
	[NVME_FEAT_TEMPERATURE_THRESHOLD] = { true, false, OVER_NEVER, 0 },
	[NVME_FEAT_ERROR_RECOVERY] = { true, false, 0, 0 }, /* no time limit of retries */
	[NVME_FEAT_VOLATILE_WRITE_CACHE] = { true, true, 1, 1 },
	[NVME_FEAT_NUMBER_OF_QUEUES] = { true, true, QUEUE_COUNT << 16 | QUEUE_COUNT, ANY_VALUE },
	[NVME_FEAT_INTERRUPT_COALESCING] = { true, false, 0, 0 },
	[NVME_FEAT_INTERRUPT_VECTOR] = { true, false, COALESCING_OFF, 0 },
	[NVME_FEAT_WRITE_ATOMICITY] = { true, true, 0, 1 },         /* one block is atomic, either way */
	[NVME_FEAT_ASYNC_EVENT] = { true, true, 0, NVME_WARNINGS }, /* and feature_notices() */
	[NVME_FEAT_IOCS_PROFILE] = { true, true, 0, 0 },            /* one combination of command sets */
};

void features_reset(struct features *features)
{
	for (unsigned id = 0; id < FEATURES; id++)
		features->value[id] = table[id].initial;
}

const struct feature *feature_find(unsigned id, bool volatile_cache)
{
	if (id >= FEATURES || !table[id].known || (id == NVME_FEAT_VOLATILE_WRITE_CACHE && !volatile_cache))
		return NULL;
	return &table[id];
}
