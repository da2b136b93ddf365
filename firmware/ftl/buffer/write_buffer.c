/* Pool of write buffers and the policies that bind them to zones. */
#include "buffer/write_buffer.h"

#include "base/context.h"
#include "zone/write.h"

static uint32_t choose_modulo(const struct write_pool *pool, const struct zone *zone)
{
	return pool->home[zone->index];
}

static uint32_t choose_free_or(const struct write_pool *pool, bool (*better)(struct write_buffer *, struct write_buffer *))
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < pool->shared; i++) {
		if (!pool->buffer[i].owner && !pool->buffer[i].waiting_head)
			return i;
		if (better(&pool->buffer[i], &pool->buffer[best]))
			best = i;
	}
	return best;
}

/* Who already has waiters gives way anyway: spread the waiting first. */
static bool fuller(struct write_buffer *a, struct write_buffer *b)
{
	uint64_t waiting_a = lt_load(&a->waiting), waiting_b = lt_load(&b->waiting);

	return waiting_a != waiting_b ? waiting_a < waiting_b : lt_load(&a->fill) > lt_load(&b->fill);
}

static bool sooner(struct write_buffer *a, struct write_buffer *b)
{
	uint64_t draining_a = lt_load(&a->draining), draining_b = lt_load(&b->draining);

	return draining_a != draining_b ? draining_a > draining_b : lt_load(&a->waiting) < lt_load(&b->waiting);
}

static uint32_t choose_first_free(const struct write_pool *pool, const struct zone *zone)
{
	(void)zone;
	return choose_free_or(pool, fuller);
}

/* As many buffers as active zones: only a zone that is FULL and still being programmed can be in the way. */
static uint32_t choose_per_zone(const struct write_pool *pool, const struct zone *zone)
{
	(void)zone;
	return choose_free_or(pool, sooner);
}

const struct binding_policy binding_policies[3] = {
	[HZ_BIND_MODULO] = { "modulo", choose_modulo },
	[HZ_BIND_FIRST_FREE] = { "first-free", choose_first_free },
	[HZ_BIND_PER_ZONE] = { "per-zone", choose_per_zone },
};

struct write_buffer *write_pool_take(struct ftl_worker *self, struct zone *zone)
{
	struct write_pool *pool = &self->ftl->buffers;
	struct write_buffer *buffer;
	struct lt_lock_node node;
	struct zone *owner;

	lt_lock_acquire(&pool->lock, &node);
	buffer = &pool->buffer[zone->backing ? self->ftl->page.buffer[zone->stream] : pool->policy->choose(pool, zone)];
	owner = buffer->owner;
	if (!owner) {
		buffer->owner = zone;
	} else {
		zone->next_buffer = NULL;
		*(buffer->waiting_tail ? &buffer->waiting_tail->next_buffer : &buffer->waiting_head) = zone;
		buffer->waiting_tail = zone;
		lt_add(&buffer->waiting, 1);
	}
	lt_lock_release(&pool->lock, &node);
	if (!owner)
		return buffer;
	zone_kick(self, owner);
	return NULL;
}

void write_pool_give(struct ftl_worker *self, struct write_buffer *buffer)
{
	struct write_pool *pool = &self->ftl->buffers;
	struct lt_lock_node node;
	struct zone *next;

	lt_lock_acquire(&pool->lock, &node);
	next = buffer->waiting_head;
	buffer->owner = next;
	if (next) {
		buffer->waiting_head = next->next_buffer;
		if (!buffer->waiting_head)
			buffer->waiting_tail = NULL;
		lt_add(&buffer->waiting, (uint64_t)-1);
		lt_store(&next->granted_buffer, buffer->index + 1);
	}
	lt_lock_release(&pool->lock, &node);
	if (next)
		zone_kick(self, next);
}

struct zone *write_pool_owner(struct ftl *ftl, uint32_t buffer)
{
	struct lt_lock_node node;
	struct zone *owner;

	lt_lock_acquire(&ftl->buffers.lock, &node);
	owner = ftl->buffers.buffer[buffer].owner;
	lt_lock_release(&ftl->buffers.lock, &node);
	return owner;
}

static void buffer_init(struct ftl *ftl, struct arena *arena, struct write_buffer *buffer)
{
	struct write_pool *pool = &ftl->buffers;
	uint32_t planes = ftl->cfg->flush_unit_planes, units = pool->units, piece = ftl->cfg->slc_program_sectors;
	uint32_t pieces = (ftl->flush_sectors + piece - 1) / piece;
	uint8_t *data = arena_alloc(arena, pool->slots, HZ_SECTOR_BYTES, "write buffer data");

	buffer->page = arena_alloc(arena, pool->slots, sizeof(*buffer->page), "write buffer pages");
	buffer->oob = arena_alloc(arena, pool->slots, sizeof(*buffer->oob), "write buffer OOB");
	buffer->unit = arena_alloc(arena, units, sizeof(*buffer->unit), "flush units");
	for (uint32_t i = 0; i < pool->slots; i++)
		buffer->page[i] = data + (size_t)i * HZ_SECTOR_BYTES;
	for (uint32_t i = 0; i < units; i++)
		buffer->unit[i].txn = arena_alloc(arena, i < pool->grid[0].units ? planes : 1, sizeof(struct buffer_txn), "flush transactions");
	buffer->stage.piece = arena_alloc(arena, pieces, sizeof(struct slc_write), "staging writes");
	for (uint32_t i = 0; i < pieces; i++) {
		buffer->stage.piece[i].page = arena_alloc(arena, piece, sizeof(uint8_t *), "staging pages");
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

void write_pool_init(struct ftl *ftl, struct arena *arena)
{
	struct write_pool *pool = &ftl->buffers;

	lt_lock_init(&pool->lock, HZ_LC_BUFFER, 0);
	pool->shared = ftl->cfg->write_buffers;
	pool->count = pool->shared + (ftl->page.zones ? ftl->cfg->conventional_buffers : 0);
	pool->slots = ftl->superpage_sectors;
	grid_init(arena, &pool->grid[0], pool->slots, ftl->flush_sectors);
	pool->grid[1] = pool->grid[0];
	if (ftl->shape.patch_sectors)
		grid_init(arena, &pool->grid[1], pool->slots, ftl->cfg->slc_program_sectors);
	pool->units = pool->grid[1].units > pool->grid[0].units ? pool->grid[1].units : pool->grid[0].units;
	pool->policy = &binding_policies[ftl->cfg->buffer_binding];
	pool->buffer = arena_alloc(arena, pool->count, sizeof(*pool->buffer), "write buffers");
	pool->home = arena_alloc(arena, ftl->zone_count, sizeof(uint32_t), "home buffers");
	for (uint32_t i = 0; i < ftl->zone_count; i++)
		pool->home[i] = i % pool->shared;
	for (uint32_t i = 0; i < pool->count; i++) {
		pool->buffer[i].index = i;
		buffer_init(ftl, arena, &pool->buffer[i]);
	}
}
