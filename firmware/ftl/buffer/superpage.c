/* The pool of superpage buffers: who has which, and what lands in one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/superpage.h"

#include "buffer/flush_unit.h"
#include "buffer/landing.h"
#include "buffer/sector_pool.h"
#include "buffer/stage.h"
#include "lt/arena.h"

/* --- binding --- */

/* The buffer, or NULL: it is another's, who is kicked to give way. */
static struct write_buffer *pool_take(struct ftl_worker *self, struct extent *ext)
{
	struct superpage_pool *pool = self->ftl->buffers;
	struct write_buffer *buffer;
	struct lt_lock_node node;
	struct extent *owner;

	lt_lock_acquire(&pool->lock, &node);
	buffer = &pool->buffer[extent_is_backing(ext) ? pool->of_stream[ext->stream] : pool->choose(pool, ext)];
	owner = buffer->owner;
	if (!owner) {
		buffer->owner = ext;
		lt_tell_had(HZ_LOGICAL_BUFFER);
	} else {
		waiter_ask(&buffer->queue, &ext->for_buffer, HZ_LOGICAL_BUFFER, buffer->index);
		lt_add(&buffer->waiting, 1);
	}
	lt_lock_release(&pool->lock, &node);
	if (!owner)
		return buffer;
	extent_kick(self, owner);
	return NULL;
}

static void pool_give(struct ftl_worker *self, struct write_buffer *buffer)
{
	struct superpage_pool *pool = self->ftl->buffers;
	struct lt_lock_node node;
	struct waiter *next;

	lt_lock_acquire(&pool->lock, &node);
	next = waiter_pop(&buffer->queue);
	buffer->owner = next ? next->ext : NULL;
	if (next) {
		lt_tell_had(HZ_LOGICAL_BUFFER);
		lt_add(&buffer->waiting, (uint64_t)-1);
		lt_store(&next->granted, buffer->index + 1);
	}
	lt_lock_release(&pool->lock, &node);
	if (next)
		extent_kick(self, next->ext);
}

static bool superpage_take(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer;

	if (ext->buffer)
		return true;
	if (ext->for_buffer.queued)
		return false;
	buffer = pool_take(self, ext);
	ext->for_buffer.queued = !buffer;
	if (buffer)
		units_bind(ext, buffer);
	else
		self->counters.waits_buffer++;
	return buffer;
}

static void superpage_granted(struct extent *ext)
{
	uint32_t buffer = (uint32_t)lt_swap(&ext->for_buffer.granted, 0);

	if (!buffer)
		return;
	ext->for_buffer.queued = false;
	units_bind(ext, &ext->ftl->buffers->buffer[buffer - 1]);
}

static void superpage_give(struct ftl_worker *self, struct extent *ext)
{
	struct write_buffer *buffer = ext->buffer;

	if (!buffer)
		return;
	units_drop(self, ext);
	pool_give(self, buffer);
}

static bool superpage_wanted(const struct extent *ext) { return lt_load(&ext->buffer->waiting); }

static bool superpage_used(const struct extent *ext) { return ext->buffer->wrote; }

/* --- what the units are doing --- */

static bool superpage_partial(const struct extent *ext) { return units_partial(ext); }

static bool superpage_quiet(const struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;

	return !buffer || (!buffer->in_flight && !buffer->stage.pending && !buffer->fold.pending);
}

static bool superpage_ready(const struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;

	return buffer && !buffer->in_flight && buffer->unit[buffer->oldest].state == UNIT_FULL;
}

/* --- all of them --- */

static uint32_t superpage_count(const struct ftl *ftl) { return ftl->buffers->count; }

static uint32_t superpage_first(const struct ftl *ftl, bool backing) { return backing ? ftl->buffers->shared : 0; }

static struct extent *superpage_owner(struct ftl *ftl, uint32_t index)
{
	struct superpage_pool *pool = ftl->buffers;
	struct lt_lock_node node;
	struct extent *owner;

	lt_lock_acquire(&pool->lock, &node);
	owner = pool->buffer[index].owner;
	lt_lock_release(&pool->lock, &node);
	return owner;
}

static const char *superpage_check(struct ftl *ftl)
{
	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		const struct extent *ext = ftl->extent[z];

		if (ext->buffer && (ext->buffer->owner != ext || ext->buffer->ext != ext))
			return "a zone is bound to a buffer that it does not own";
	}
	for (uint32_t i = 0; i < ftl->buffers->count; i++) {
		const struct write_buffer *buffer = &ftl->buffers->buffer[i];

		if (buffer->owner && buffer->owner->buffer != buffer)
			return "a buffer's owner is not bound to it";
		if (buffer->queue.head || lt_load(&buffer->waiting))
			return "a zone waits for a buffer though nothing runs";
		if (buffer->owner && !superpage_quiet(buffer->owner))
			return "a buffer has flash operations under way though nothing runs";
	}
	return ftl->space ? space_check(ftl) : NULL;
}

/* --- construction --- */

static uint8_t **sectors_make(struct arena *arena, uint32_t count, uint32_t bytes)
{
	uint8_t **memory = arena_alloc(arena, count, sizeof(*memory), "write buffer slots");
	uint8_t *data = arena_alloc(arena, count, bytes, "write buffer data");

	for (uint32_t i = 0; i < count; i++)
		memory[i] = data + (size_t)i * bytes;
	return memory;
}

static void buffer_make(struct ftl *ftl, struct arena *arena, struct write_buffer *buffer)
{
	struct superpage_pool *pool = ftl->buffers;
	uint32_t planes = ftl->cfg->flush_unit_planes, units = pool->units, piece = ftl->cfg->slc_program_sectors;
	uint32_t pieces = (ftl->flush_sectors + piece - 1) / piece;

	if (ftl->cfg->buffer_pool_bytes) {
		buffer->memory = arena_alloc(arena, pool->slots, sizeof(*buffer->memory), "write buffer slots");
		buffer->fold.memory = sectors_make(arena, ftl->flush_sectors, hz_sector_memory(ftl->cfg));
	} else {
		buffer->memory = sectors_make(arena, pool->slots, hz_sector_memory(ftl->cfg));
	}
	buffer->oob = arena_alloc(arena, pool->slots, sizeof(*buffer->oob), "write buffer OOB");
	buffer->unit = arena_alloc(arena, units, sizeof(*buffer->unit), "flush units");
	for (uint32_t i = 0; i < units; i++)
		buffer->unit[i].txn = arena_alloc(arena, i < pool->grid[0].units ? planes : 1, sizeof(struct buffer_txn),
						  "flush transactions");
	buffer->stage.piece = arena_alloc(arena, pieces, sizeof(struct slc_write), "staging writes");
	for (uint32_t i = 0; i < pieces; i++) {
		buffer->stage.piece[i].memory = arena_alloc(arena, piece, sizeof(uint8_t *), "staging slots");
		buffer->stage.piece[i].oob = arena_alloc(arena, piece, sizeof(struct hz_oob), "staging OOB");
	}
	buffer->fold.txn = arena_alloc(arena, ftl->flush_sectors, sizeof(struct buffer_txn), "fold reads");
	buffer->fold.ppa = arena_alloc(arena, ftl->flush_sectors, sizeof(ppa_t), "fold addresses");
}

static void grid_init(struct arena *arena, struct unit_grid *grid, uint32_t slots, uint32_t sectors)
{
	grid->sectors = sectors;
	grid->units = slots / sectors;
	grid->slot_unit = arena_alloc(arena, slots, sizeof(uint16_t), "slot table");
	grid->slot_in_unit = arena_alloc(arena, slots, sizeof(uint16_t), "slot table");
	for (uint32_t i = 0; i < slots; i++) {
		grid->slot_unit[i] = (uint16_t)(i / sectors);
		grid->slot_in_unit[i] = (uint16_t)(i % sectors);
	}
}

static void superpage_init(struct ftl *ftl, struct arena *arena)
{
	struct superpage_pool *pool = arena_alloc(arena, 1, sizeof(*pool), "write buffers");

	ftl->buffers = pool;
	lt_lock_init(&pool->lock, HZ_LC_BUFFER, 0);
	pool->shared = ftl->cfg->write_buffers;
	pool->count = pool->shared + (ftl->shape.backing_zones ? ftl->cfg->conventional_buffers : 0);
	pool->slots = ftl->ring_sectors;
	grid_init(arena, &pool->grid[0], pool->slots, ftl->flush_sectors);
	pool->grid[1] = pool->grid[0];
	if (ftl->shape.patch_sectors)
		grid_init(arena, &pool->grid[1], pool->slots, ftl->cfg->slc_program_sectors);
	pool->units = pool->grid[1].units > pool->grid[0].units ? pool->grid[1].units : pool->grid[0].units;
	pool->choose = binding_policies[ftl->cfg->buffer_binding];
	pool->buffer = arena_alloc(arena, pool->count, sizeof(*pool->buffer), "write buffers");
	pool->home = arena_alloc(arena, ftl->zone_count, sizeof(uint32_t), "home buffers");
	for (uint32_t i = 0; i < ftl->zone_count; i++)
		pool->home[i] = i % pool->shared;
	for (uint32_t s = 0; s < PLACE_STREAMS && pool->count > pool->shared; s++)
		pool->of_stream[s] = pool->shared + s % (pool->count - pool->shared);
	for (uint32_t i = 0; i < pool->count; i++) {
		pool->buffer[i].index = i;
		buffer_make(ftl, arena, &pool->buffer[i]);
	}
	if (ftl->cfg->buffer_pool_bytes)
		space_init(ftl, arena, pool->count);
}

const struct buffer_ops superpage_buffers = {
	.init = superpage_init,
	.take = superpage_take,
	.granted = superpage_granted,
	.give = superpage_give,
	.wanted = superpage_wanted,
	.used = superpage_used,
	.room = landing_room,
	.copy_in = landing_copy_in,
	.landed = landing_landed,
	.partial = superpage_partial,
	.pad = landing_pad,
	.program = units_program,
	.stage = units_stage,
	.quiet = superpage_quiet,
	.ready = superpage_ready,
	.restart = units_restart,
	.copy_out = landing_copy_out,
	.first = superpage_first,
	.count = superpage_count,
	.owner = superpage_owner,
	.check = superpage_check,
};
