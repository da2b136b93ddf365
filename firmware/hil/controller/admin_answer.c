/* Late answers: a ring as long as everything that may be late: deletions, events, rounds over the harts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/admin_answer.h"

enum { ANSWERS = sizeof(((struct admin_answers *)0)->cqe) / sizeof(struct nvme_cqe) };

void admin_answers_init(struct admin_answers *answers, struct queues *queues) { answers->queues = queues; }

void admin_answers_clear(struct admin_answers *answers) { answers->count = 0; }

void admin_answer(struct admin_answers *answers, uint16_t cid, uint16_t status, uint64_t result)
{
	uint32_t at = answers->head + answers->count;

	if (answers->count == ANSWERS)
		lt_fail("admin_answer: more late answers than commands that can be late");
	answers->cqe[at < ANSWERS ? at : at - ANSWERS] = (struct nvme_cqe){
		.cid = cid,
		.status = status,
		.dw0 = (uint32_t)result,
		.dw1 = (uint32_t)(result >> 32),
	};
	answers->count++;
	answers->queues->admin_wanted = true;
}

bool admin_answers_post(struct admin_answers *answers, struct completion *completion)
{
	struct queues *queues = answers->queues;
	bool posted = false;

	while (answers->count && admin_has_room(queues)) {
		const struct nvme_cqe *cqe = &answers->cqe[answers->head];

		completion_post(completion, &queues->sq[0], cqe->cid, cqe->status, cqe->dw0 | (uint64_t)cqe->dw1 << 32, 0);
		answers->head = answers->head + 1 == ANSWERS ? 0 : answers->head + 1;
		answers->count--;
		posted = true;
	}
	return posted;
}
