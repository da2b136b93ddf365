/* Device self-test. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/health.h"

#include <string.h>

#include "hil/controller/controller.h"

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR,
	PIECE = HZ_MAX_TRANSFER_SECTORS,
	SHORT_PIECES = 16, /* of a namespace, at most */
	CONTROLLER = 1,    /* segments */
	MEDIA = 2,
};
static const uint64_t HOUR_NS = 3600000000000ull;

static void step(struct hil *hil);

static uint32_t test_of(const struct self_test *test) { return test->state.running.status >> 4; }
static bool runs(const struct self_test *test) { return test->state.running.status; }

static void keep(struct hil *hil)
{
	struct hz_nand_controller record;

	hil->device.controller_record(hil->device.ctx, &record);
	record.self_test = hil->self_test.state;
	hil->device.keep_controller(hil->device.ctx, &record);
}

/* The result is there before the test is over, and both are stored at once. */
static void end_test(struct hil *hil, enum nvme_self_test_end end)
{
	struct self_test *test = &hil->self_test;
	struct hz_nand_self_test *state = &test->state;
	struct power_history history;

	hil->device.power_history(hil->device.ctx, &history);
	state->running.status |= (uint8_t)end;
	state->running.power_on_hours[0] = (uint32_t)(history.powered_ns / HOUR_NS);
	memmove(&state->result[1], &state->result[0], sizeof(state->result) - sizeof(state->result[0]));
	state->result[0] = state->running;
	state->results += state->results < NVME_SELF_TEST_RESULTS;
	memset(&state->running, 0, sizeof(state->running));
	test->stale = test->busy;
	keep(hil);
}

static void fail_controller(struct hil *hil)
{
	hil->self_test.state.running.segment = CONTROLLER;
	end_test(hil, NVME_SELF_TEST_FAILED);
}

static void fail_media(struct hil *hil, uint16_t status)
{
	struct nvme_self_test_result *running = &hil->self_test.state.running;

	running->segment = MEDIA;
	running->valid = NVME_SELF_TEST_NSID | NVME_SELF_TEST_LBA | NVME_SELF_TEST_SCT | NVME_SELF_TEST_SC;
	running->nsid = hil->self_test.state.number + 1;
	running->failing_lba[0] = (uint32_t)hil->self_test.state.lba;
	running->failing_lba[1] = (uint32_t)(hil->self_test.state.lba >> 32);
	running->sct = status >> 8 & 7;
	running->sc = (uint8_t)status;
	end_test(hil, NVME_SELF_TEST_FAILED);
}

/* --- media --- */

static bool is_tested(struct hil *hil, uint32_t number)
{
	const struct namespace_slot *slot = &hil->namespaces.slot[number];
	uint32_t nsid = hil->self_test.state.nsid;

	return (nsid == NVME_NSID_ALL || nsid == number + 1) && namespace_exists(slot) && !namespace_is_formatting(slot);
}

static void pass_piece(struct self_test *test, uint64_t namespace_sectors)
{
	uint64_t done = test->req.sectors, stride = namespace_sectors / SHORT_PIECES;

	test->state.lba += test_of(test) == NVME_SELF_TEST_SHORT && test->state.lba + done >= test->singles && stride > done ? stride
															     : done;
}

/* Only what flash cannot give back is a failure: a zone that is offline has nothing to be read. */
static void on_verified(struct ftl_request *req)
{
	struct hil *hil = (struct hil *)((char *)req - offsetof(struct hil, self_test.req));
	struct self_test *test = &hil->self_test;
	bool stale = test->stale;

	test->busy = test->stale = false;
	if (stale) {
		/* the test has ended meanwhile, and perhaps another one begun */
	} else if (!failure_is_of_media(req->status)) {
		pass_piece(test, hil->namespaces.slot[test->state.number].sectors);
		keep(hil);
	} else if (req->sectors > 1) {
		test->singles = test->state.lba + req->sectors;
	} else {
		fail_media(hil, req->status);
	}
	step(hil);
	life_step(hil);
}

static void verify(struct hil *hil, uint64_t sectors)
{
	struct self_test *test = &hil->self_test;
	uint64_t most = test->state.lba < test->singles ? 1 : PIECE, left = sectors - test->state.lba;

	test->busy = true;
	test->req = (struct ftl_request){ .op = FTL_VERIFY,
					  .flags = FTL_INSIDE,
					  .lba = test->state.lba,
					  .sectors = (uint32_t)(left < most ? left : most),
					  .namespace_sectors = sectors,
					  .reply_to = &hil->group.thread,
					  .done = on_verified };
	hil->device.submit(hil->device.ctx, 0, &test->req, test->state.number);
}

/* The next piece, if it may be read now; behind the last one the test has passed. */
static void step(struct hil *hil)
{
	struct hz_nand_self_test *state = &hil->self_test.state;

	if (!runs(&hil->self_test) || hil->self_test.busy || !life_serves(&hil->life))
		return;
	for (; state->number < hil->namespaces.count; state->number++, state->lba = 0) {
		uint64_t sectors = hil->namespaces.slot[state->number].sectors;

		if (state->lba == 0)
			hil->self_test.singles = 0;
		if (is_tested(hil, state->number) && state->lba < sectors) {
			verify(hil, sectors);
			return;
		}
	}
	end_test(hil, NVME_SELF_TEST_PASSED);
}

/* --- command --- */

static uint16_t begin_test(struct hil *hil, uint32_t which, uint32_t nsid)
{
	struct self_test *test = &hil->self_test;

	if (runs(test))
		return NVME_SELF_TEST_RUNS | NVME_DNR;
	test->state.nsid = nsid;
	test->state.number = 0;
	test->state.lba = 0;
	test->state.running = (struct nvme_self_test_result){ .status = (uint8_t)(which << 4) };
	keep(hil);
	if (hil->health.warning)
		fail_controller(hil);
	step(hil);
	return NVME_SUCCESS;
}

uint16_t admin_self_test(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, sqe->nsid);
	uint32_t which = sqe->cdw10 & 0xf;

	(void)result;
	if (which != NVME_SELF_TEST_SHORT && which != NVME_SELF_TEST_EXTENDED && which != NVME_SELF_TEST_ABORT)
		return BAD_FIELD;
	if (which == NVME_SELF_TEST_ABORT) {
		if (runs(&hil->self_test))
			end_test(hil, NVME_SELF_TEST_ABORTED);
		return NVME_SUCCESS;
	}
	if (!slot && sqe->nsid && sqe->nsid != NVME_NSID_ALL)
		return NVME_INVALID_NAMESPACE | NVME_DNR;
	if (slot && !namespace_is_attached(slot))
		return BAD_FIELD;
	return begin_test(hil, which, sqe->nsid);
}

void self_test_resume(struct hil *hil)
{
	struct hz_nand_controller record;

	hil->device.controller_record(hil->device.ctx, &record);
	hil->self_test.state = record.self_test;
	self_test_interrupt(hil); /* a loss of power has been no less than a reset */
	step(hil);
}

void self_test_interrupt(struct hil *hil)
{
	if (test_of(&hil->self_test) == NVME_SELF_TEST_SHORT)
		end_test(hil, NVME_SELF_TEST_RESET);
}

void self_test_drop(struct hil *hil, uint32_t number, enum nvme_self_test_end end)
{
	if (runs(&hil->self_test) && is_tested(hil, number))
		end_test(hil, end);
}

/* --- log --- */

static uint8_t percent(struct hil *hil)
{
	const struct hz_nand_self_test *state = &hil->self_test.state;
	uint64_t all = 0, done = 0;

	for (uint32_t i = 0; i < hil->namespaces.count; i++) {
		uint64_t sectors = is_tested(hil, i) ? hil->namespaces.slot[i].sectors : 0;

		all += sectors;
		done += i < state->number ? sectors : 0;
		done += sectors && i == state->number ? state->lba : 0;
	}
	return (uint8_t)(all ? done * 100 / all : 0);
}

uint32_t self_test_page(struct hil *hil, struct nvme_self_test_log *log)
{
	const struct self_test *test = &hil->self_test;

	log->current = (uint8_t)test_of(test);
	log->percent = runs(test) ? percent(hil) : 0;
	for (uint32_t i = 0; i < NVME_SELF_TEST_RESULTS; i++) {
		log->result[i] = test->state.result[i];
		if (i >= test->state.results)
			log->result[i].status = NVME_SELF_TEST_UNUSED;
	}
	return sizeof(*log);
}
