/* Fetching: round robin over the queues that have commands, with the arbitration burst of feature 01h. */
#include <string.h>

#include "hil/controller/hil_state.h"
#include "lt/bits.h"

enum { BATCH = 8, UNLIMITED_BURST = 7 };

/* The queue at `turn` goes on while its burst lasts, then the next ready one in circular order. */
static unsigned pick(struct hil *hil)
{
	uint64_t ready = hil->ready_mask, behind = ready & ~(1ull << hil->turn | ((1ull << hil->turn) - 1));
	uint32_t burst = hil->feature[NVME_FEAT_ARBITRATION] & 7;

	if ((ready >> hil->turn & 1) && hil->burst_left > 0) {
		hil->burst_left--;
		return hil->turn;
	}
	hil->turn = lt_lowest_bit(behind ? behind : ready);
	hil->burst_left = burst == UNLIMITED_BURST ? UINT32_MAX : (1u << burst) - 1;
	return hil->turn;
}

/* The fetch engine copies the entry; the copy is what is decoded, since the host may change its ring at any time. */
static void take_entry(struct hil *hil, struct submission_queue *sq, struct nvme_sqe *sqe)
{
	clock_freeze();
	memcpy(sqe, &sq->ring[sq->head], sizeof(*sqe));
	sq->fetched++;
	sq->head = sq->head + 1 == sq->depth ? 0 : sq->head + 1;
	hil->ready_mask &= ~(1ull << (sq->id - 1));
	if (hil->virtual_clock)
		hil_horizon_update(hil, sq);
	clock_thaw();
}

static void fetch_one(struct hil *hil, struct submission_queue *sq)
{
	struct command *command = hil->pool;
	struct nvme_sqe sqe;

	hil->pool = command->next;
	hil->outstanding++;
	sq->outstanding++;
	take_entry(hil, sq, &sqe);
	command->sq = sq;
	command->cid = sqe.cid;
	command->req.status = io_decode(&hil->limits, &sqe, command->page, &command->req);
	if (command->req.status) {
		hil_complete(command);
		return;
	}
	command->req.ready_ns = 0;
	command->req.queue = (uint8_t)sq->id;
	command->req.life = hil->lives;
	hil->device.submit(hil->device.ctx, sq->worker, &command->req);
}

static bool refresh(struct hil *hil)
{
	bool go_on;

	clock_freeze();
	go_on = hil->virtual_clock ? hil_horizon_settle(hil) : hil_doorbells_poll(hil);
	clock_thaw();
	return go_on && hil->ready_mask;
}

bool hil_fetch(struct hil *hil)
{
	unsigned taken = 0;

	while (taken < BATCH && hil_may_fetch(hil) && refresh(hil)) {
		if (!hil_may_fetch(hil))
			break;
		fetch_one(hil, &hil->sq[pick(hil) + 1]);
		taken++;
	}
	return taken > 0;
}
