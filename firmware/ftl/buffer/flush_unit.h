/* The flush units of a superpage buffer: a ring, filled in order, programmed in order. Extent's lock held. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_FLUSH_UNIT_H
#define FTL_FLUSH_UNIT_H

#include "buffer/superpage.h"

/* What was staged stays in SLC; only the fill position is taken up again. */
void units_bind(struct extent *ext, struct write_buffer *buffer);
/* Empty all units and take the buffer off the extent. */
void units_drop(struct ftl_worker *self, struct extent *ext);
/* The unit that sector `landed` goes to, ready to fill; NULL: it is still being programmed. */
struct flush_unit *units_fill(struct extent *ext);
/* The unit that holds data but is not complete, or NULL. Bound. */
struct flush_unit *units_partial(const struct extent *ext);
/* Program complete units, oldest first; staged sectors of the first one are folded in before. */
void units_program(struct ftl_worker *self, struct extent *ext);
/* After a move: complete units must be programmed anew. */
void units_restart(struct extent *ext);
/* The extent has become durable as far as extent_on_flash says: who looks at that without the lock sees it. */
void units_note_fill(struct extent *ext);
/* All units in a buffer are of one kind: the superblock is complete on flash before the first sector of the patch lands. */
static inline const struct unit_grid *units_grid(const struct extent *ext) { return &ext->ftl->buffers->grid[extent_in_patch(ext)]; }
static inline struct flush_unit *unit_of(const struct extent *ext, uint32_t slot)
{
	return &ext->buffer->unit[units_grid(ext)->slot_unit[slot]];
}

#endif
