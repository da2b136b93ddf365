/* The pool of write buffers: which buffer a zone is bound to, their owners, and their construction. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer.h"
#include "buffer/buffer_internal.h"
#include "buffer/memory.h"
#include "lt/arena.h"

void buffers_kick(struct ftl_worker *self)
{
	for (uint32_t i = 0; i < buffer_count(self->ftl); i++) {
		struct zone *owner = buffer_owner(self->ftl, i);

		if (owner)
			zone_kick(self, owner);
	}
}

/* Binding policies. */

static uint32_t choose_modulo(const struct superpage_pool *pool, const struct zone *zone) { return pool->modulo[zone->index]; }

static uint32_t choose_free_or(const struct superpage_pool *pool, bool (*better)(struct bank *, struct bank *))
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < pool->shared; i++) {
		if (!pool->bank[i].owner && !pool->bank[i].queue.head)
			return i;
		if (better(&pool->bank[i], &pool->bank[best]))
			best = i;
	}
	return best;
}

/* A bank with waiters gives way anyway: spread the waiting first. */
static bool fuller(struct bank *a, struct bank *b)
{
	uint64_t waiting_a = lt_load(&a->waiting), waiting_b = lt_load(&b->waiting);

	return waiting_a != waiting_b ? waiting_a < waiting_b : lt_load(&a->fill) > lt_load(&b->fill);
}

static bool fewer_waiting(struct bank *a, struct bank *b) { return lt_load(&a->waiting) < lt_load(&b->waiting); }

static uint32_t choose_first_free(const struct superpage_pool *pool, const struct zone *zone)
{
	(void)zone;
	return choose_free_or(pool, fuller);
}

/* One buffer per active zone: only a FULL zone still being programmed can be in the way. */
static uint32_t choose_per_zone(const struct superpage_pool *pool, const struct zone *zone)
{
	(void)zone;
	return choose_free_or(pool, fewer_waiting);
}

binding_fn *const binding_policies[HZ_BINDINGS] = {
	[HZ_BIND_MODULO] = choose_modulo,
	[HZ_BIND_FIRST_FREE] = choose_first_free,
	[HZ_BIND_PER_ZONE] = choose_per_zone,
};

/* All of them. */

uint32_t buffer_count(const struct ftl *ftl) { return ftl->buffers->count + (banks_are_lent(ftl) ? ftl->buffers->buffers : 0); }

uint32_t buffer_first(const struct ftl *ftl, bool backing) { return backing ? ftl->buffers->shared : 0; }

struct zone *buffer_owner(struct ftl *ftl, uint32_t index)
{
	struct superpage_pool *pool = ftl->buffers;
	struct lt_lock_node node;
	struct zone *owner;

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
	return bank->owner && !buffer_quiet(bank->owner) ? "a buffer has flash operations under way though nothing runs" : NULL;
}

static uint32_t count_spares(const struct superpage_pool *pool)
{
	uint32_t count = 0;

	for (const struct write_buffer *buffer = pool->spare; buffer; buffer = buffer->next_spare)
		count++;
	return count;
}

const char *buffers_check(struct ftl *ftl)
{
	const struct superpage_pool *pool = ftl->buffers;
	uint32_t found = count_spares(pool);
	const char *wrong = NULL;

	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		const struct zone *zone = &ftl->zones[z];

		found += zone->buffer != NULL;
		if (zone->buffer && (!zone->buffer->bank || zone->buffer->bank->owner != zone || zone->buffer->zone != zone))
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

/* Construction. */

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
	uint32_t planes = ftl->cfg->flush_unit_planes + ftl->shape.parity_planes, units = pool->units,
		 piece = ftl->cfg->slc_program_sectors;
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
	if (ftl->shape.backing_zones)
		buffer->origin = arena_alloc(arena, pool->slots, sizeof(*buffer->origin), "originals of copies");
	buffer->unit = arena_alloc(arena, units, sizeof(*buffer->unit), "flush units");
	for (uint32_t i = 0; ftl->cfg->buffer_flush == HZ_BUFFER_FLUSH_SUPERPAGE && i < units; i++)
		buffer->unit[i].ends_superpage = (i + 1) * ftl->flush_sectors % ftl->superpage_sectors == 0;
	for (uint32_t i = 0; i < units; i++)
		buffer->unit[i].txn = arena_alloc(arena, i < pool->grid[0].units ? planes : 1, sizeof(struct buffer_txn),
						  "flush transactions");
	if (ftl->cfg->rain)
		parity_init(ftl, arena, buffer);
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

	pool->modulo = arena_alloc(arena, ftl->zone_count, sizeof(uint32_t), "zone buffers");
	for (uint32_t i = 0; i < ftl->zone_count; i++)
		pool->modulo[i] = i % pool->shared;
	for (uint32_t i = 0; i < PLACE_FRONTIERS && pool->count > pool->shared; i++)
		pool->of_frontier[i] = pool->shared + i % (pool->count - pool->shared);
}

void buffers_init(struct ftl *ftl, struct arena *arena)
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
