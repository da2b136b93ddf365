/* Workers: dispatch of requests, completion, and the FTL's construction. */
#include "abandon.h"
#include "base/context.h"
#include "mount/mount.h"
#include "rest.h"
#include "zone/write.h"
#include "zone/zone_ops.h"

static struct ftl_request *request_of(struct lt_event *event)
{
	return (struct ftl_request *)((char *)event - offsetof(struct ftl_request, event));
}

static void completed(struct lt_event *event)
{
	struct ftl_request *req = request_of(event);

	req->done(req);
}

void io_complete(struct ftl_request *req, uint16_t status)
{
	req->status = status;
	lt_post(req->reply_to, &req->event, completed);
}

static void run_read(struct ftl_worker *self, struct ftl_request *req)
{
	bool woken = io_of(req)->woken;

	io_of(req)->queued = io_of(req)->woken = 0;
	read_run(self, req);
	if (woken)
		l2p_fetches_wake(self);
}

static void run(struct ftl_worker *self, struct ftl_request *req)
{
	switch (req->op) {
	case FTL_READ: run_read(self, req); break;
	case FTL_WRITE:
	case FTL_APPEND:
	case FTL_WRITE_ZEROES: page_space_holds(&self->ftl->page, req->lba) ? page_write_run(self, req) : write_run(self, req); break;
	case FTL_FLUSH: flush_run(self, req); break;
	case FTL_ZONE_REPORT: zone_report_run(self, req); break;
	case FTL_ABANDON: abandon_run(self, req); break;
	case FTL_REST: rest_run(self, req); break;
	default: zone_op_run(self, req); break;
	}
}

static void dispatch(struct lt_event *event)
{
	struct ftl_request *req = request_of(event);
	struct ftl_worker *self = io_of(req)->worker;

	if (io_abandoned(self, req))
		abandoned_end(self, req);
	else
		run(self, req);
}

void io_resume(struct ftl_request *req)
{
	lt_post(&io_of(req)->worker->thread, &req->event, dispatch);
}

void io_resume_all(struct io_queue *queue)
{
	struct ftl_request *req;

	while ((req = io_pop(queue)))
		io_resume(req);
}

void ftl_submit(struct ftl *ftl, unsigned worker, struct ftl_request *req)
{
	memset(req->work, 0, sizeof(struct ftl_io));
	io_of(req)->worker = &ftl->workers[worker];
	req->status = NVME_SUCCESS;
	req->ready_ns = 0;
	lt_post(&ftl->workers[worker].thread, &req->event, dispatch);
}

static void workers_init(struct ftl *ftl, struct arena *arena)
{
	ftl->worker_count = ftl->cfg->worker_count;
	ftl->workers = arena_alloc(arena, ftl->worker_count, sizeof(*ftl->workers), "FTL workers");
	for (uint32_t i = 0; i < ftl->worker_count; i++) {
		ftl->workers[i].thread = (struct lt_thread){ "ftl", ftl->cfg->worker_hart[i] };
		ftl->workers[i].ftl = ftl;
		read_pool_init(&ftl->workers[i], arena);
		flush_init(&ftl->workers[i], arena);
		if (ftl->cfg->l2p_cache_bytes)
			l2p_fetches_init(&ftl->workers[i], arena);
	}
}

static void shape_init(struct ftl *ftl)
{
	uint64_t size;

	hz_shape_of(ftl->cfg, &ftl->shape);
	size = ftl->shape.zone_size_sectors;
	ftl->body_sectors = ftl->shape.superblock_sectors;
	ftl->page_sectors = ftl->shape.page_sectors;
	ftl->unit_sectors = ftl->shape.unit_sectors;
	ftl->superpage_sectors = ftl->shape.superpage_sectors;
	ftl->flush_sectors = ftl->cfg->flush_unit_planes * ftl->unit_sectors;
	ftl->zone_multiplier = size > 1 ? UINT64_MAX / size + 1 : 0;
}

void ftl_damage_found(const struct ftl *ftl, struct ftl_damage *out)
{
	*out = ftl->damage;
}

struct ftl *ftl_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct tsu *tsu,
		     struct link_pair *links, const char **error)
{
	struct ftl *ftl = arena_alloc(arena, 1, sizeof(*ftl), "FTL");

	ftl->cfg = cfg;
	ftl->map = map;
	ftl->tsu = tsu;
	ftl->links = links;
	shape_init(ftl);
	*error = NULL;
	ftl->zero_page = arena_alloc(arena, 1, HZ_SECTOR_BYTES, "page of zeros");
	zones_init(ftl, arena);
	zone_changes_init(ftl, arena);
	page_space_init(ftl, arena);
	l2p_init(ftl, arena);
	slc_init(ftl, arena);
	superblocks_init(ftl, arena);
	zone_table_init(ftl, arena);
	write_pool_init(ftl, arena);
	relocator_init(ftl, arena);
	workers_init(ftl, arena);
	*error = mount_run(ftl, arena);
	return *error ? NULL : ftl;
}
