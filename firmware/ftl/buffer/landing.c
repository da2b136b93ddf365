/* Landing: accepted data come into the buffer at the extent's fill position. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/landing.h"

#include "buffer/flush_unit.h"
#include "buffer/sector_pool.h"
#include "lt/bulk.h"
#include "request/answer.h"
#include "request/protect.h"

/* A ring that has no place left is written out. Backing zones are not guarded: their places are known to the map only when on flash. */
uint32_t landing_room(struct ftl_worker *self, struct extent *ext, const struct ftl_request *req, uint32_t most)
{
	const struct flush_unit *unit = units_fill(ext);
	uint32_t room;

	if (!unit) {
		ext->program_to = ext->landed;
		return 0;
	}
	room = min_u32(most, min_u32(unit->end, ext->capacity) - ext->landed);
	return self->ftl->space ? space_lend(self, ext, room, (req->flags & FTL_FUA) && !extent_is_backing(ext)) : room;
}

/* A call, so that the registers it needs are saved while the clock stands. */
static __attribute__((noinline)) void copy_sectors(struct extent *ext, const struct ftl_request *req, uint32_t sectors)
{
	const struct write_buffer *buffer = ext->buffer;
	uint32_t at = io_of((struct ftl_request *)req)->done * HZ_SECTOR_BYTES;

	for (uint32_t i = 0; i < sectors; i++) {
		uint32_t slot = ext->landed_slot + i;

		if (req->op == FTL_WRITE_ZEROES)
			bulk_fill(buffer->memory[slot], 0, HZ_SECTOR_BYTES);
		else
			sgl_read(&req->sgl, at + i * HZ_SECTOR_BYTES, buffer->memory[slot], HZ_SECTOR_BYTES);
		if (ext->ftl->cfg->protection != HZ_PROTECTION_NONE)
			protect_land(req, at / HZ_SECTOR_BYTES + i, buffer->memory[slot]);
		buffer->oob[slot] = (struct hz_oob){ .lpa = (uint32_t)(ext->start + ext->landed + i),
						     .generation = ext->generation,
						     .kind = HZ_OOB_DATA };
	}
	if (ext->ftl->keeper)
		space_note(ext, sectors);
}

struct hz_oob *landing_copy_in(struct extent *ext, const struct ftl_request *req, uint32_t sectors)
{
	clock_freeze();
	copy_sectors(ext, req, sectors);
	clock_thaw();
	return &ext->buffer->oob[ext->landed_slot];
}

/* Padding of a backing zone belongs to no generation: its sectors are told apart by their sequence numbers. A call, so that landing_landed
 * need not save its registers. */
__attribute__((noinline)) void landing_pad(struct ftl_worker *self, struct extent *ext)
{
	struct flush_unit *unit = units_partial(ext);
	uint32_t slot = ext->landed_slot, program = extent_program_sectors(ext);
	bool backing = extent_is_backing(ext);
	uint64_t sequence;

	unit->state = UNIT_FULL;
	unit->data_end = ext->landed;
	unit->end = unit->start;
	while (unit->end < ext->landed)
		unit->end += program;
	sequence = backing ? sequence_take(ext->ftl, unit->end - ext->landed) : 0;
	clock_freeze();
	for (uint32_t at = ext->landed; at < unit->end; at++, slot++) {
		if (ext->ftl->space)
			ext->buffer->memory[slot] = ext->ftl->zero_sector;
		else
			bulk_fill(ext->buffer->memory[slot], 0, HZ_SECTOR_BYTES);
		ext->buffer->oob[slot] = (struct hz_oob){ .sequence = sequence++,
							  .lpa = (uint32_t)(ext->start + at),
							  .generation = backing ? UINT32_MAX : ext->generation,
							  .kind = HZ_OOB_PAD };
	}
	clock_thaw();
	self->counters.buffer_flushes_finish++;
}

/* The zone's last superpage need not be whole. */
static void no_more_lands(struct extent *ext)
{
	if (ext->ftl->cfg->buffer_flush == HZ_BUFFER_FLUSH_SUPERPAGE)
		ext->program_to = ext->landed;
}

void landing_landed(struct ftl_worker *self, struct extent *ext, uint32_t sectors, uint64_t landed_ns)
{
	struct flush_unit *unit = unit_of(ext, ext->landed_slot);
	struct ftl *ftl = ext->ftl;

	unit->not_before_ns = landed_ns > unit->not_before_ns ? landed_ns : unit->not_before_ns;
	ext->landed += sectors;
	ext->landed_slot += sectors;
	if (ftl->space)
		space_landed(ext);
	if (ext->landed == unit->end) {
		unit->state = UNIT_FULL;
		unit->data_end = unit->end;
		if (unit->ends_superpage)
			ext->program_to = ext->landed;
	} else if (ext->landed == ext->capacity) {
		landing_pad(self, ext);
	}
	if (ext->landed == ext->capacity)
		no_more_lands(ext);
	if (ext->landed_slot == ftl->ring_sectors)
		ext->landed_slot = 0;
	ext->buffer->used += sectors;
	if (ftl->cfg->buffer_idle_ns)
		idle_touch(self, ext);
	lt_store(&ext->buffer->bank->fill, ext->landed - extent_on_flash(ext));
}

void landing_copy_out(const struct extent *ext, struct ftl_request *req, uint32_t offset, uint32_t sectors)
{
	uint32_t slot = extent_slot(ext, offset);

	for (uint32_t i = 0; i < sectors; i++) {
		answer_sector(req, io_of(req)->done + i, ext->buffer->memory[slot]);
		slot = slot + 1 == ext->ftl->ring_sectors ? 0 : slot + 1;
	}
}
