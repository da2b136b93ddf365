/* Staging: the sectors of a unit that is not complete go to the SLC log, because somebody waits for their durability, or for the buffer. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/stage.h"

#include "buffer/flush_unit.h"
#include "buffer/staged.h"
#include "l2p/l2p.h"
#include "slc/slc.h"

static void stage_ended(struct ftl_worker *self, struct extent *ext)
{
	struct stage *stage = &ext->buffer->stage;

	staged_map(self, ext, stage->from, stage->to);
	if (stage->refused) {
		ext->failed = true;
	} else {
		ext->staged = stage->to;
		self->counters.slc_sectors += stage->to - stage->from;
		units_note_fill(ext);
	}
	extent_pump(self, ext);
}

static void piece_crossed(struct ftl_worker *self, struct slc_write *piece)
{
	struct write_buffer *buffer = piece->context;

	piece->txn.loaded = NULL;
	if (--buffer->stage.loading == 0 && buffer->bank && lt_load(&buffer->bank->waiting))
		extent_pump(self, buffer->ext);
}

static void piece_loaded(struct tsu_txn *txn)
{
	struct slc_write *piece = (struct slc_write *)txn;
	struct extent *ext = ((struct write_buffer *)piece->context)->ext;
	struct lt_lock_node node;

	lt_lock_acquire(&ext->lock, &node);
	piece_crossed(worker_of(txn), piece);
	lt_lock_release(&ext->lock, &node);
}

static void piece_done(struct slc_write *piece)
{
	struct write_buffer *buffer = piece->context;
	struct ftl_worker *self = worker_of(&piece->txn);
	struct extent *ext = buffer->ext;
	struct stage *stage = &buffer->stage;
	uint32_t piece_sectors = ext->ftl->cfg->slc_program_sectors;
	uint32_t at = stage->from + (uint32_t)(piece - stage->piece) * piece_sectors, rest = stage->to - at;
	struct lt_lock_node node;

	lt_lock_acquire(&ext->lock, &node);
	if (piece->txn.loaded)
		piece_crossed(self, piece);
	if (piece->ppa == PPA_NONE)
		stage->refused = true;
	else
		staged_put(ext->ftl, ext, at, rest < piece_sectors ? rest : piece_sectors, piece->ppa);
	if (--stage->pending == 0)
		stage_ended(self, ext);
	lt_lock_release(&ext->lock, &node);
}

static void piece_write(struct ftl_worker *self, struct extent *ext, struct slc_write *piece, uint32_t at)
{
	struct ftl *ftl = ext->ftl;
	struct write_buffer *buffer = ext->buffer;
	uint32_t count = ftl->cfg->slc_program_sectors, slot = extent_slot(ext, at);
	uint64_t sequence = sequence_take(ftl, count);

	for (uint32_t i = 0; i < count; i++) {
		bool data = at + i < buffer->stage.to;

		piece->memory[i] = data ? buffer->memory[slot + i] : ftl->zero_sector;
		piece->oob[i] = (struct hz_oob){ .sequence = sequence + i, .kind = data ? HZ_OOB_DATA : HZ_OOB_PAD };
		if (data && extent_is_backing(ext)) {
			piece->oob[i] = buffer->oob[slot + i];
		} else if (data) {
			piece->oob[i].lpa = (uint32_t)(ext->start + at + i);
			piece->oob[i].generation = ext->generation;
		}
	}
	piece->txn.owner = &self->thread;
	piece->txn.loaded = banks_are_lent(ftl) ? piece_loaded : NULL;
	piece->txn.not_before_ns = unit_of(ext, slot)->not_before_ns;
	piece->stream = SLC_STAGE;
	piece->cause = place_cause(ext, HZ_CAUSE_SLC);
	piece->context = buffer;
	piece->done = piece_done;
	slc_write(self, piece);
}

void units_stage(struct ftl_worker *self, struct extent *ext, bool gives_way)
{
	struct write_buffer *buffer = ext->buffer;
	struct flush_unit *unit;
	uint32_t from, pieces = 0;

	if (buffer->stage.pending || ext->failed || !buffer->bank)
		return;
	unit = units_partial(ext);
	if (!unit)
		return;
	from = ext->staged > unit->start ? ext->staged : unit->start;
	if (from >= ext->landed || (!gives_way && ext->flush_to <= from))
		return;
	if (!extent_is_backing(ext) && !l2p_room(self, ext))
		return;
	self->counters.buffer_flushes_host += !gives_way && !ext->idle_flush;
	self->counters.buffer_flushes_idle += !gives_way && ext->idle_flush;
	self->counters.buffer_flushes_conflict += gives_way;
	ext->staged_from = unit->start;
	unit->staged = true;
	buffer->stage.refused = false;
	buffer->stage.from = from;
	buffer->stage.to = ext->landed;
	for (uint32_t at = from; at < ext->landed; at += ext->ftl->cfg->slc_program_sectors)
		pieces++;
	buffer->stage.pending = pieces;
	buffer->stage.loading = banks_are_lent(ext->ftl) ? pieces : 0;
	for (uint32_t i = 0; i < pieces; i++)
		piece_write(self, ext, &buffer->stage.piece[i], from + i * ext->ftl->cfg->slc_program_sectors);
}
