/* Copy: reads of the source ranges, then one write. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "ftl_internal.h"

#include "boundary/boundary.h"
#include "lt/arena.h"
#include "lt/logical.h"

enum {
	COPY_SECTORS = HZ_COPY_SECTORS,
	COPY_RANGES = HZ_COPY_RANGES,
	COPY_READS = 8, /* of a copy at a time */
};

/* A read or the write of a copy. */
struct copy_part {
	struct ftl_request req;
	struct copy_job *job;
};

struct copy_job {
	struct copy_job *next; /* in the pool */
	struct ftl_worker *worker;
	struct ftl_request *req; /* the copy */
	uint32_t next_range;     /* to be read */
	uint32_t sectors;        /* sectors requested so far */
	uint32_t under_way;      /* parts */
	uint16_t status;         /* of the first failed part */
	uint8_t **memory;        /* [COPY_SECTORS] */
	uint8_t *tuples;         /* of these */
	struct copy_part part[COPY_READS];
	struct nvme_copy_range range[COPY_RANGES]; /* as they were when the copy began: the host may change its list */
};

static struct copy_part *copy_part_of(struct ftl_request *req) { return (struct copy_part *)req; }
HZ_STATIC_ASSERT(offsetof(struct copy_part, req) == 0, "a part is its request");

static uint32_t range_sectors(const struct nvme_copy_range *range) { return range->nlb + 1u; }

/* Type 1 ties reference tags to LBAs: if they are checked, just these must be expected. */
static uint16_t source_status(const struct ftl *ftl, const struct ftl_request *req, const struct nvme_copy_range *range)
{
	uint64_t end = namespace_end(ftl, req);

	if (range->slba >= end || range_sectors(range) > end - range->slba)
		return NVME_LBA_OUT_OF_RANGE | NVME_DNR;
	if (req->source_checks & HZ_CHECK_REFERENCE && range->eilbrt != (uint32_t)range->slba)
		return NVME_INVALID_PROTECTION | NVME_DNR;
	return range_sectors(range) > COPY_SECTORS ? NVME_SIZE_LIMIT | NVME_DNR : NVME_SUCCESS;
}

static uint16_t job_status(const struct ftl *ftl, const struct copy_job *job)
{
	const struct ftl_request *req = job->req;
	uint32_t sectors = 0;
	uint16_t status = NVME_SUCCESS;

	for (uint32_t i = 0; i < req->sectors && !status; i++) {
		status = source_status(ftl, req, &job->range[i]);
		sectors += range_sectors(&job->range[i]);
	}
	if (status)
		return status;
	if (sectors > COPY_SECTORS)
		return NVME_SIZE_LIMIT | NVME_DNR;
	if (req->op == FTL_COPY && sectors > namespace_end(ftl, req) - req->lba)
		return NVME_LBA_OUT_OF_RANGE | NVME_DNR;
	return NVME_SUCCESS;
}

static void job_end(struct copy_job *job)
{
	struct copy_pool *pool = job->worker->copies;
	struct ftl_request *waiting;

	job->next = pool->free;
	pool->free = job;
	io_complete(job->req, job->status);
	waiting = io_pop(&pool->waiting);
	if (waiting)
		io_resume(waiting);
}

static void submit_part(struct copy_job *job, struct copy_part *part, void (*done)(struct ftl_request *))
{
	struct ftl_request *req = &part->req;

	req->flags |= FTL_INSIDE;
	req->life = job->req->life;
	req->queue = job->req->queue;
	req->reply_to = &job->worker->thread;
	req->done = done;
	job->under_way++;
	io_submit_cached(job->worker, req);
}

static void part_ended(struct copy_job *job, const struct ftl_request *part)
{
	job->under_way--;
	if (!job->status)
		job->status = part->status;
	if (part->ready_ns > job->req->ready_ns)
		job->req->ready_ns = part->ready_ns;
}

static void whole_copy_written(struct ftl_request *part)
{
	struct copy_job *job = copy_part_of(part)->job;

	part_ended(job, part);
	job->req->result = part->result;
	if (!job->status)
		job->worker->counters.copied_sectors += job->sectors;
	job_end(job);
}

static __attribute__((noinline)) uint16_t first_wrong_tuple(const struct copy_job *job)
{
	const struct ftl_request *req = job->req;
	uint16_t status = NVME_SUCCESS;

	for (uint32_t i = 0; i < job->sectors && !status; i++) {
		struct hz_tuple expected = req->expected;

		expected.reference += i;
		if (req->protect & HZ_CHECK_GUARD) {
			boundary_work(WORK_GUARD, 1, 0);
			expected.guard = hz_crc16(0, job->memory[i], HZ_SECTOR_BYTES);
		}
		status = hz_tuple_check(hz_tuple_load(job->tuples + i * HZ_TUPLE_BYTES), expected, req->protect, req->tag_mask);
	}
	return status;
}

/* Check copied protection tuples like those of a write. */
static uint16_t check_tuples(const struct copy_job *job)
{
	uint16_t status;

	clock_freeze();
	status = first_wrong_tuple(job);
	clock_thaw();
	return status;
}

static void write_all(struct copy_job *job)
{
	const struct ftl_request *req = job->req;
	struct copy_part *part = &job->part[0];

	if (!job->status && req->protect & FTL_HOST_TUPLES)
		job->status = check_tuples(job);
	if (job->status) {
		job_end(job);
		return;
	}
	part->req = (struct ftl_request){
		.op = req->op == FTL_COPY_APPEND ? FTL_APPEND : FTL_WRITE,
		.flags = req->flags & FTL_FUA,
		.lba = req->lba,
		.sectors = job->sectors,
		.sgl = { job->memory, 0, job->sectors * HZ_SECTOR_BYTES },
		.tuples = job->tuples,
		.expected = req->expected,
		.protect = req->protect,
		.placement = req->placement,
	};
	submit_part(job, part, whole_copy_written);
}

static void range_read(struct ftl_request *part);

/* False: all have been asked for, or one has failed. */
static bool read_next(struct copy_job *job, struct copy_part *part)
{
	const struct nvme_copy_range *range = &job->range[job->next_range];
	uint32_t sectors;

	if (job->status || job->next_range == job->req->sectors)
		return false;
	sectors = range_sectors(range);
	part->req = (struct ftl_request){
		.op = FTL_READ,
		.lba = range->slba,
		.sectors = sectors,
		.sgl = { job->memory + job->sectors, 0, sectors * HZ_SECTOR_BYTES },
		.tuples = job->tuples + job->sectors * HZ_TUPLE_BYTES,
		.expected = { 0, range->elbat, range->eilbrt },
		.tag_mask = range->elbatm,
		.protect = (uint8_t)(job->req->source_checks | (job->req->protect & FTL_HOST_TUPLES)),
	};
	job->next_range++;
	job->sectors += sectors;
	submit_part(job, part, range_read);
	return true;
}

static void range_read(struct ftl_request *part)
{
	struct copy_job *job = copy_part_of(part)->job;

	part_ended(job, part);
	if (!read_next(job, copy_part_of(part)) && !job->under_way)
		write_all(job);
}

static struct copy_job *job_take(struct ftl_worker *self, struct ftl_request *req)
{
	struct copy_job *job = self->copies->free;

	lt_tell_had(HZ_LOGICAL_COPIES);
	self->copies->free = job->next;
	job->req = req;
	job->next_range = job->sectors = job->under_way = 0;
	sgl_read(&req->sgl, 0, job->range, req->sectors * (uint32_t)sizeof(job->range[0]));
	req->ready_ns = link_transfer(&self->ftl->links->to_device, clock_now_ns(), req->sgl.bytes);
	job->status = job_status(self->ftl, job);
	return job;
}

void copy_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct copy_job *job;

	if (!self->copies->free) {
		io_wait(&self->copies->waiting, req, HZ_LOGICAL_COPIES, (uint32_t)(self - self->ftl->workers));
		return;
	}
	job = job_take(self, req);
	for (uint32_t i = 0; i < COPY_READS && read_next(job, &job->part[i]); i++)
		;
	if (!job->under_way)
		job_end(job);
}

static void job_init(struct copy_job *job, struct arena *arena)
{
	uint8_t *data = arena_alloc_raw(arena, COPY_SECTORS, HZ_SECTOR_BYTES, "data of copies");

	job->memory = arena_alloc(arena, COPY_SECTORS, sizeof(*job->memory), "memory of copies");
	job->tuples = arena_alloc_data(arena, COPY_SECTORS, HZ_TUPLE_BYTES, "tuples of copies");
	for (uint32_t i = 0; i < COPY_SECTORS; i++)
		job->memory[i] = data + (size_t)i * HZ_SECTOR_BYTES;
	for (uint32_t i = 0; i < COPY_READS; i++)
		job->part[i].job = job;
}

void copies_init(struct ftl_worker *worker, struct arena *arena)
{
	uint32_t jobs = worker->ftl->cfg->copies;
	struct copy_job *job = arena_alloc(arena, jobs, sizeof(*job), "copies");

	worker->copies = arena_alloc(arena, 1, sizeof(*worker->copies), "copies");
	for (uint32_t i = 0; i < jobs; i++) {
		job_init(&job[i], arena);
		job[i].worker = worker;
		job[i].next = worker->copies->free;
		worker->copies->free = &job[i];
	}
}
