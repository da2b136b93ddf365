/* Late answers of the admin queue: completions that do not follow their command at once (events, deletions, rounds over the harts). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_ADMIN_ANSWER_H
#define HIL_ADMIN_ANSWER_H

#include "hil/controller/hart_pings.h"
#include "hil/queue/completion.h"

/* Wait until the admin completion queue has room. */
struct admin_answers {
	struct queues *queues;
	uint32_t head, count;
	struct nvme_cqe cqe[2 * QUEUES + HART_ROUNDS];
};

void admin_answers_init(struct admin_answers *answers, struct queues *queues);
/* result: DW0, and DW1 above it. */
void admin_answer(struct admin_answers *answers, uint16_t cid, uint16_t status, uint64_t result);
/* Posts those for which there is room; true if there was one. */
bool admin_answers_post(struct admin_answers *answers, struct completion *completion);
/* The controller was reset. */
void admin_answers_clear(struct admin_answers *answers);

static inline bool admin_has_room(const struct queues *queues) { return !completion_ring_full(&queues->cq[0].ring); }

#endif
