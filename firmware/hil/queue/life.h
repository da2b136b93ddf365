/* What the controller is doing about CC.EN and CC.SHN: the queues look at it, controller/life_cycle.c changes it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_LIFE_H
#define HIL_LIFE_H

#include <stdbool.h>
#include <stdint.h>

enum life_state {
	LIFE_DISABLED, /* CC.EN = 0, nothing in flight */
	LIFE_READY,
	LIFE_RESETTING, /* CC.EN went to 0: commands in flight are abandoned, CSTS.RDY follows */
	LIFE_FAILED,    /* CSTS.CFS: enabled with impossible settings */
};
enum life_shutdown { SHUTDOWN_NONE, SHUTDOWN_DRAINING, SHUTDOWN_FLUSHING, SHUTDOWN_COMPLETE };

struct life {
	enum life_state state; /* one setter: life_set */
	enum life_shutdown shutdown;
	uint32_t number; /* how often it was enabled: ftl_request.life */
	bool abandoning; /* the device has not yet given back everything of the life that ended */
};

void life_set(struct life *life, enum life_state to);

static inline bool life_is_ready(const struct life *life) { return life->state == LIFE_READY; }
/* New commands are taken. */
static inline bool life_serves(const struct life *life) { return life->state == LIFE_READY && life->shutdown == SHUTDOWN_NONE; }

#endif
