/* The pool of write buffers: binding buffers to zones, and landing data in them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer.h"
#include "buffer/buffer_internal.h"
#include "buffer/memory.h"
#include "lt/arena.h"
#include "lt/bulk.h"
#include "request/host_data.h"

void buffers_kick(struct ftl_worker *self)
{
	for (uint32_t i = 0; i < buffer_count(self->ftl); i++) {
		struct extent *owner = buffer_owner(self->ftl, i);

		if (owner)
			extent_kick(self, owner);
	}
}

/* Binding policies. */

static uint32_t choose_modulo(const struct superpage_pool *pool, const struct extent *ext) { return pool->home[ext->index]; }

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

static uint32_t choose_first_free(const struct superpage_pool *pool, const struct extent *ext)
{
	(void)ext;
	return choose_free_or(pool, fuller);
}

/* One buffer per active zone: only a FULL zone still being programmed can be in the way. */
static uint32_t choose_per_zone(const struct superpage_pool *pool, const struct extent *ext)
{
	(void)ext;
	return choose_free_or(pool, fewer_waiting);
}

binding_fn *const binding_policies[HZ_BINDINGS] = {
	[HZ_BIND_MODULO] = choose_modulo,
	[HZ_BIND_FIRST_FREE] = choose_first_free,
	[HZ_BIND_PER_ZONE] = choose_per_zone,
};

/* The pool of superpage buffers: owners and landing. */

/* --- content --- */

bool buffer_has_memory(const struct extent *ext) { return ext->buffer->bank; }

bool buffer_wanted(const struct extent *ext) { return ext->buffer->bank && lt_load(&ext->buffer->bank->waiting); }

uint32_t buffer_used(const struct extent *ext) { return ext->buffer->used; }

bool buffer_partial(const struct extent *ext) { return units_partial(ext); }

bool buffer_quiet(const struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;

	return !buffer || (!buffer->in_flight && !buffer->stage.pending && !buffer->fold.pending);
}

/* True if all units are in registers, and the staged part of a partial one is in SLC. */
static bool superpage_loaded(const struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;
	const struct flush_unit *next = &buffer->unit[buffer->next];

	if (!buffer->bank || buffer->loading || buffer->stage.loading || buffer->fold.pending || next->state == UNIT_FULL)
		return false;
	return !units_partial(ext) || ext->staged >= ext->landed || (buffer->stage.pending && buffer->stage.to == ext->landed);
}

bool buffer_lend(struct ftl_worker *self, struct extent *ext) { return superpage_loaded(ext) && bank_lend(self, ext); }

bool buffer_ready(const struct extent *ext)
{
	const struct write_buffer *buffer = ext->buffer;

	return buffer && !buffer->in_flight && buffer->unit[buffer->oldest].state == UNIT_FULL;
}

/* --- all of them --- */

uint32_t buffer_count(const struct ftl *ftl) { return ftl->buffers->count + (banks_are_lent(ftl) ? ftl->buffers->buffers : 0); }

uint32_t buffer_first(const struct ftl *ftl, bool backing) { return backing ? ftl->buffers->shared : 0; }

struct extent *buffer_owner(struct ftl *ftl, uint32_t index)
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

/* Landing: accepted data come into the buffer at the extent's fill position. */

/* A ring without free places is programmed. Backing zones are not guarded: the map knows their places only once on flash. */
uint32_t buffer_room(struct ftl_worker *self, struct extent *ext, const struct ftl_request *req, uint32_t most)
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

/* noinline: registers are saved while the clock stands. */
static HZ_FROZEN __attribute__((noinline)) void copy_sectors(struct extent *ext, const struct ftl_request *req, uint32_t sectors)
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

struct hz_oob *buffer_copy_in(struct extent *ext, const struct ftl_request *req, uint32_t sectors)
{
	clock_freeze();
	copy_sectors(ext, req, sectors);
	clock_thaw();
	return &ext->buffer->oob[ext->landed_slot];
}

/* Padding of a backing zone has no generation: sequence numbers tell its sectors from data. noinline: landing_landed saves no registers. */
__attribute__((noinline)) void buffer_pad(struct ftl_worker *self, struct extent *ext)
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

void buffer_landed(struct ftl_worker *self, struct extent *ext, uint32_t sectors, uint64_t landed_ns)
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
		buffer_pad(self, ext);
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

void buffer_copy_out(const struct extent *ext, struct ftl_request *req, uint32_t offset, uint32_t sectors)
{
	uint32_t slot = extent_slot(ext, offset);

	for (uint32_t i = 0; i < sectors; i++) {
		answer_sector(req, io_of(req)->done + i, ext->buffer->memory[slot]);
		slot = slot + 1 == ext->ftl->ring_sectors ? 0 : slot + 1;
	}
}
