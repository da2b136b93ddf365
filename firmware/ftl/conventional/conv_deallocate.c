/* Deallocation: ranges leave the map piece by piece, a few at a time so that other requests of the worker go on in between. It is
 * volatile like a write until a flush saves the trims, or, with FTL_FUA, saves them before it ends. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "conventional/conv_deallocate.h"

#include "l2p/l2p.h"
#include "places/trims.h"
#include "zone/trim_save.h"

enum { PIECES = 16 /* at a time */ };

/* Zeros that are deallocated are one range. */
uint32_t conv_range_count(const struct ftl_request *req) { return req->flags & FTL_FREES ? 1 : req->sectors; }

struct nvme_dsm_range conv_range_at(const struct ftl_request *req, uint32_t index)
{
	struct nvme_dsm_range range = { .nlb = req->sectors, .slba = req->lba };

	if (req->flags & FTL_FREES)
		return range;
	sgl_read(&req->sgl, index * (uint32_t)sizeof(range), &range, sizeof(range));
	return range;
}

bool conv_range_exists(const struct ftl *ftl, const struct ftl_request *req, const struct nvme_dsm_range *range)
{
	uint64_t end = namespace_end(ftl, req);

	return range->slba <= end && range->nlb <= end - range->slba;
}

bool conv_ranges_exist(const struct ftl *ftl, const struct ftl_request *req)
{
	for (uint32_t i = 0; i < conv_range_count(req); i++) {
		struct nvme_dsm_range range = conv_range_at(req, i);

		if (!conv_range_exists(ftl, req, &range))
			return false;
	}
	return true;
}

/* How many of [lba, lba + most) the map takes at once; *hole: so many do not exist. */
static uint32_t piece_at(const struct ftl *ftl, uint64_t lba, uint64_t most, uint32_t *hole)
{
	uint64_t offset = lba - extent_at(ftl, lba)->start, piece = L2P_PIECE;

	*hole = 0;
	if (offset >= ftl->capacity) {
		*hole = (uint32_t)(ftl->shape.zone_size_sectors - offset);
		return 0;
	}
	piece = piece < ftl->capacity - offset ? piece : ftl->capacity - offset;
	return (uint32_t)(piece < most ? piece : most);
}

/* A piece of the range that the request has come to. Only of conventional sectors the map is asked: of others it need not know that there are
 * such. False: the request waits. */
static bool unmap_piece(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->ftl;
	struct ftl_io *io = io_of(req);
	struct nvme_dsm_range range = conv_range_at(req, io->cursor);
	uint64_t lba = range.slba + io->done, end = range.slba + range.nlb;
	uint32_t hole, piece;

	end = end < ftl->conventional_end ? end : ftl->conventional_end;
	if (!conv_range_exists(ftl, req, &range) || lba >= end) {
		io->cursor++;
		io->done = 0;
		return true;
	}
	if (!l2p_conv_admits(self, req))
		return false;
	piece = piece_at(ftl, lba, end - lba, &hole);
	if (piece)
		self->counters.deallocated_sectors += l2p_conv_unmap(self, lba, piece);
	io->done += piece + hole;
	return true;
}

/* False: it waits, or goes on later. */
static bool unmap_all(struct ftl_worker *self, struct ftl_request *req)
{
	for (uint32_t i = 0; io_of(req)->cursor < conv_range_count(req); i++) {
		if (i == PIECES) {
			io_resume(req);
			return false;
		}
		if (l2p_lost(self->ftl)) {
			io_of(req)->step = FLUSH_FAILED;
			return true;
		}
		if (!unmap_piece(self, req))
			return false;
	}
	return true;
}

void conv_deallocate_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct ftl_io *io = io_of(req);

	if (io->step == FLUSH_NEW) {
		if (!conv_ranges_exist(self->ftl, req)) {
			io_complete(req, NVME_LBA_OUT_OF_RANGE | NVME_DNR);
			return;
		}
		if (req->sectors && !(req->flags & FTL_FREES))
			req->ready_ns = link_transfer(&self->ftl->links->to_device, clock_now_ns(), req->sgl.bytes);
		io->step = FLUSH_WAITS;
	}
	if (io->step == FLUSH_WAITS && !unmap_all(self, req))
		return;
	if (io->step == FLUSH_WAITS && req->flags & FTL_FUA && trims_wait_saved(self, req))
		return;
	io_complete(req, io->step == FLUSH_FAILED ? NVME_WRITE_FAULT : NVME_SUCCESS);
}
