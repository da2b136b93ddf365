/* Folding: staged sectors of a complete unit come back from SLC into the buffer before it is programmed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/fold.h"

#include "buffer/staged.h"
#include "l2p/l2p.h"
#include "slc/slc.h"

enum { FOLD_LOOKUP = 32 /* sectors that are looked up at a time */ };

static void fold_read(struct ftl_worker *self, struct extent *ext);

/* [unit start, this) is not in the ring. */
static uint32_t fold_end_of(const struct extent *ext, const struct flush_unit *unit)
{
	return min_u32(ext->resident, min_u32(unit->end, ext->landed));
}

static void fold_end(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;
	struct flush_unit *unit = &buffer->unit[buffer->oldest];

	unit->state = UNIT_FULL;
	if (!buffer->fold.failed) {
		self->counters.fold_sectors += fold_end_of(ext, unit) - unit->start;
		unit->folded = true;
		if (ext->resident <= unit->end)
			ext->resident = unit->start;
	} else if (++buffer->fold.tries < SLC_READ_TRIES) {
		unit->state = UNIT_FOLDING;
		fold_read(self, ext);
		return;
	} else {
		extent_fail(self, ext);
	}
	extent_pump(self, ext);
}

static void fold_done(struct tsu_txn *txn)
{
	struct buffer_txn *part = (struct buffer_txn *)txn;
	struct ftl_worker *self = worker_of(txn);
	struct extent *ext = part->buffer->ext;
	struct fold *fold = &part->buffer->fold;
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	slc_unpin(self, txn->ppa);
	lt_lock_acquire(&ext->lock, &node);
	fold->failed |= txn->status != NAND_OK;
	if (--fold->pending == 0)
		fold_end(self, ext);
	lt_lock_release(&ext->lock, &node);
}

/* What is not in the ring comes from SLC. Its addresses are at hand. */
static void fold_read(struct ftl_worker *self, struct extent *ext)
{
	struct ftl *ftl = ext->ftl;
	struct write_buffer *buffer = ext->buffer;
	struct flush_unit *unit = &buffer->unit[buffer->oldest];
	struct fold *fold = &buffer->fold;
	uint32_t count = fold_end_of(ext, unit) - unit->start, slot = extent_slot(ext, unit->start);

	fold->failed = false;
	fold->pending = count;
	staged_read(ftl, ext, unit->start, count, fold->ppa);
	for (uint32_t i = 0; i < count; i++, slot++) {
		struct buffer_txn *part = &fold->txn[i];

		buffer->oob[slot] = (struct hz_oob){ .lpa = (uint32_t)(ext->start + unit->start + i),
						     .generation = ext->generation,
						     .kind = HZ_OOB_DATA };
		part->buffer = buffer;
		if (fold->memory)
			buffer->memory[slot] = fold->memory[i];
		part->txn = (struct tsu_txn){
			.owner = &self->thread,
			.done = fold_done,
			.op = TSU_READ,
			.cause = HZ_CAUSE_FOLD,
			.sectors = 1,
			.ppa = fold->ppa[i],
			.data = { &buffer->memory[slot], 0, HZ_SECTOR_BYTES },
			.oob = extent_is_backing(ext) ? &buffer->oob[slot] : NULL,
			.next = i + 1 < count ? &part[1].txn : NULL,
		};
	}
	tsu_submit_list(ftl->tsu, &fold->txn->txn);
}

/* From `offset` on: sectors whose address is not at hand. */
static uint32_t unknown_run(const struct extent *ext, uint32_t offset, uint32_t end)
{
	uint32_t count = 0;

	while (offset + count < end && count < FOLD_LOOKUP && extent_staged(ext, offset + count) == PPA_NONE)
		count++;
	return count;
}

/* What was staged before the zone got this buffer is looked up in the map. */
static void fold_locate(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;
	const struct flush_unit *unit = &buffer->unit[buffer->oldest];
	uint32_t end = min_u32(fold_end_of(ext, unit), ext->staged_before), found;
	ppa_t ppa[FOLD_LOOKUP];

	io_of(&buffer->fold.request)->worker = self;
	for (uint32_t o = unit->start; o < end; o += found) {
		uint32_t count = unknown_run(ext, o, end);

		found = count ? l2p_staged_read(self, &buffer->fold.request, ext, o, count, ppa) : 1;
		if (!found)
			return; /* the request waits, and comes back to fold_run */
		if (count)
			staged_found(ext, o, found, ppa);
	}
	l2p_leave(self, &buffer->fold.request);
	fold_read(self, ext);
}

void fold_run(struct ftl_worker *self, struct ftl_request *req)
{
	struct extent *ext = ((struct write_buffer *)((char *)req - offsetof(struct write_buffer, fold.request)))->ext;
	bool woken = io_of(req)->woken;
	struct lt_lock_node node;

	io_of(req)->woken = 0;
	lt_lock_acquire(&ext->lock, &node);
	fold_locate(self, ext);
	lt_lock_release(&ext->lock, &node);
	if (woken)
		l2p_fetches_wake(self);
}

void fold_start(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;
	struct fold *fold = &buffer->fold;

	buffer->unit[buffer->oldest].state = UNIT_FOLDING;
	fold->tries = 0;
	fold->pending = 1;
	memset(fold->request.work, 0, sizeof(struct ftl_io));
	fold->request.op = FTL_FOLD;
	fold_locate(self, ext);
}
