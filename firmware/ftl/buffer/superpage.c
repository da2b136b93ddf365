/* The pool of superpage buffers: who has which, and what lands in one. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/superpage.h"

#include "buffer/flush_unit.h"
#include "buffer/landing.h"
#include "buffer/sector_pool.h"
#include "buffer/stage.h"
#include "lt/arena.h"

/* --- what is in it --- */

static bool superpage_has_memory(const struct extent *ext) { return ext->buffer->bank; }

static bool superpage_wanted(const struct extent *ext) { return ext->buffer->bank && lt_load(&ext->buffer->bank->waiting); }

static uint32_t superpage_used(const struct extent *ext) { return ext->buffer->used; }

static bool superpage_partial(const struct extent *ext) { return units_partial(ext); }

static bool superpage_quiet(const struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;

	return !buffer || (!buffer->in_flight && !buffer->stage.pending && !buffer->fold.pending);
}

/* All of it is in registers: whole units, and of one that is not complete what has been staged. */
static bool superpage_loaded(const struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;
	const struct flush_unit *next = &buffer->unit[buffer->next];

	if (!buffer->bank || buffer->loading || buffer->stage.loading || buffer->fold.pending || next->state == UNIT_FULL)
		return false;
	return !units_partial(ext) || ext->staged >= ext->landed || (buffer->stage.pending && buffer->stage.to == ext->landed);
}

static bool superpage_lend(struct ftl_worker *self, struct extent *ext) { return superpage_loaded(ext) && bank_lend(self, ext); }

static bool superpage_ready(const struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;

	return buffer && !buffer->in_flight && buffer->unit[buffer->oldest].state == UNIT_FULL;
}

/* --- all of them --- */

static uint32_t superpage_count(const struct ftl *ftl) { return ftl->buffers->count + (banks_are_lent(ftl) ? ftl->buffers->buffers : 0); }

static uint32_t superpage_first(const struct ftl *ftl, bool backing) { return backing ? ftl->buffers->shared : 0; }

static struct extent *superpage_owner(struct ftl *ftl, uint32_t index)
{
	struct superpage_pool *pool = ftl->buffers;
	struct lt_lock_node node;
	struct extent *owner;

	lt_lock_acquire(&pool->lock, &node);
	owner = index < pool->count ? pool->bank[index].owner : pool->buffer[index - pool->count].lent;
	lt_lock_release(&pool->lock, &node);
	return owner;
}

static const char *bank_check(const struct superpage_pool *pool, uint32_t index)
{
	const struct bank *bank = &pool->bank[index];

	if (bank->owner && (!bank->owner->buffer || bank->owner->buffer->bank != bank))
		return "a buffer's owner is not bound to it";
	if (!bank->owner && !bank->at_hand)
		return "a buffer that nobody owns has nothing for its next owner";
	if (bank->queue.head || lt_load(&bank->waiting))
		return "a zone waits for a buffer though nothing runs";
	return bank->owner && !superpage_quiet(bank->owner) ? "a buffer has flash operations under way though nothing runs" : NULL;
}

static uint32_t count_spares(const struct superpage_pool *pool)
{
	uint32_t count = 0;

	for (const struct write_buffer *buffer = pool->spare; buffer; buffer = buffer->next_spare)
		count++;
	return count;
}

static const char *superpage_check(struct ftl *ftl)
{
	const struct superpage_pool *pool = ftl->buffers;
	uint32_t found = count_spares(pool);
	const char *wrong = NULL;

	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		const struct extent *ext = ftl->extent[z];

		found += ext->buffer != NULL;
		if (ext->buffer && (!ext->buffer->bank || ext->buffer->bank->owner != ext || ext->buffer->ext != ext))
			return "a zone is bound to a buffer that it does not own";
	}
	for (uint32_t i = 0; i < pool->count && !wrong; i++) {
		found += pool->bank[i].at_hand != NULL;
		wrong = bank_check(pool, i);
	}
	if (!wrong && found != pool->buffers)
		return "write buffers are lost";
	return wrong || !ftl->space ? wrong : space_check(ftl);
}

/* --- construction --- */

static uint8_t **sectors_make(struct arena *arena, uint32_t count, uint32_t bytes)
{
	uint8_t **memory = arena_alloc(arena, count, sizeof(*memory), "write buffer slots");
	uint8_t *data = arena_alloc_data(arena, count, bytes, "write buffer data");

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
	buffer->staged = arena_alloc(arena, pool->slots, sizeof(*buffer->staged), "staged addresses");
	memset(buffer->staged, 0xff, pool->slots * sizeof(*buffer->staged));
	buffer->unit = arena_alloc(arena, units, sizeof(*buffer->unit), "flush units");
	for (uint32_t i = 0; ftl->cfg->buffer_flush == HZ_BUFFER_FLUSH_SUPERPAGE && i < units; i++)
		buffer->unit[i].ends_superpage = (i + 1) * ftl->flush_sectors % ftl->superpage_sectors == 0;
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

static void homes_init(struct ftl *ftl, struct arena *arena)
{
	struct superpage_pool *pool = ftl->buffers;

	pool->home = arena_alloc(arena, ftl->zone_count, sizeof(uint32_t), "home buffers");
	for (uint32_t i = 0; i < ftl->zone_count; i++)
		pool->home[i] = i % pool->shared;
	for (uint32_t i = 0; i < PLACE_FRONTIERS && pool->count > pool->shared; i++)
		pool->of_frontier[i] = pool->shared + i % (pool->count - pool->shared);
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
	if (ftl->shape.patch_superblocks)
		grid_init(arena, &pool->grid[1], pool->slots, ftl->cfg->slc_program_sectors);
	pool->units = pool->grid[1].units > pool->grid[0].units ? pool->grid[1].units : pool->grid[0].units;
	pool->choose = binding_policies[ftl->cfg->buffer_binding];
	pool->buffers = pool->count + (banks_are_lent(ftl) ? 2 * ftl->shape.planes / ftl->cfg->planes_per_die : 0);
	pool->buffer = arena_alloc(arena, pool->buffers, sizeof(*pool->buffer), "write buffers");
	for (uint32_t i = 0; i < pool->buffers; i++)
		buffer_make(ftl, arena, &pool->buffer[i]);
	pool->reread_ns = hz_channel_ns(ftl->cfg, ftl->flush_sectors);
	homes_init(ftl, arena);
	handover_init(ftl, arena);
	if (ftl->cfg->buffer_pool_bytes)
		space_init(ftl, arena, pool->count);
}

const struct buffer_ops superpage_buffers = {
	.init = superpage_init,
	.take = bank_take,
	.granted = bank_granted,
	.give = bank_give,
	.lend = superpage_lend,
	.refuse = bank_refuse,
	.has_memory = superpage_has_memory,
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
