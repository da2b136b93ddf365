/* Buffers change hands, and idle ones are flushed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer.h"
#include "buffer/buffer_internal.h"
#include "lt/arena.h"
#include "tsu/tsu.h"

/* Banks change hands. */

static struct bank *bank_choice(const struct superpage_pool *pool, const struct zone *zone)
{
	return &pool->bank[zone_is_backing(zone) ? pool->of_frontier[zone->frontier] : pool->choose(pool, zone)];
}

/* Programs in flight stay in their write buffer. */
static void bank_bind(struct zone *zone, struct bank *bank)
{
	if (!zone->buffer) {
		struct write_buffer *buffer = bank->at_hand;

		bank->at_hand = NULL;
		buffer->bank = bank;
		units_bind(zone, buffer);
		return;
	}
	zone->buffer->bank = bank;
	zone->buffer->used = 0;
	units_note_fill(zone);
}

/* --- fair --- */

static struct bank *bank_ask(struct superpage_pool *pool, struct zone *zone, struct zone **owner)
{
	struct lt_lock_node node;
	struct bank *bank;

	lt_lock_acquire(&pool->lock, &node);
	bank = bank_choice(pool, zone);
	*owner = bank->owner;
	if (!*owner) {
		bank->owner = zone;
		lt_tell_had(HZ_LOGICAL_BUFFER);
	} else {
		waiter_ask(&bank->queue, &zone->for_buffer, HZ_LOGICAL_BUFFER, bank->index);
		lt_add(&bank->waiting, 1);
	}
	lt_lock_release(&pool->lock, &node);
	return bank;
}

/* Kick the owner to give way. */
static bool take_or_queue(struct ftl_worker *self, struct zone *zone)
{
	struct zone *owner;
	struct bank *bank;

	if (zone->for_buffer.queued)
		return false;
	bank = bank_ask(self->ftl->buffers, zone, &owner);
	zone->for_buffer.queued = owner;
	if (!owner) {
		bank_bind(zone, bank);
		return true;
	}
	self->counters.waits_buffer++;
	zone_kick(self, owner);
	return false;
}

void buffer_granted(struct zone *zone)
{
	uint32_t bank = zone->for_buffer.queued ? (uint32_t)lt_swap(&zone->for_buffer.granted, 0) : 0;

	if (!bank)
		return;
	zone->for_buffer.queued = false;
	bank_bind(zone, &zone->ftl->buffers->bank[bank - 1]);
}

/* Next waiter, or NULL. Class BUFFER held. */
static struct waiter *bank_pass_on(struct bank *bank)
{
	struct waiter *next = waiter_pop(&bank->queue);

	bank->owner = next ? next->zone : NULL;
	if (next) {
		lt_tell_had(HZ_LOGICAL_BUFFER);
		lt_add(&bank->waiting, (uint64_t)-1);
		lt_store(&next->granted, bank->index + 1);
	}
	return next;
}

/* --- polled --- */

static void poll_again(struct lt_timer *timer);

/* The timer may have been armed on another hart and fire early; it then re-arms. */
static void poll_arm(struct ftl_worker *self, struct poll *poll)
{
	if (poll->armed)
		return;
	poll->armed = true;
	poll->worker = self;
	lt_timer_arm(&poll->timer, poll->next_ns, poll_again);
}

static void poll_later(struct ftl_worker *self, struct poll *poll)
{
	poll->next_ns = clock_now_ns() + self->ftl->cfg->buffer_poll_ns;
	poll_arm(self, poll);
}

/* Class BUFFER held. */
static void poll_count(struct poll *poll, struct bank *bank)
{
	if (poll->waits == bank)
		return;
	if (poll->waits) {
		lt_logical_wait_ended(&poll->zone->for_buffer);
		lt_add(&poll->waits->waiting, (uint64_t)-1);
	}
	poll->waits = bank;
	if (bank) {
		lt_logical_wait(HZ_LOGICAL_BUFFER, bank->index, &poll->zone->for_buffer);
		lt_add(&bank->waiting, 1);
	}
}

static struct bank *poll_ask(struct superpage_pool *pool, struct poll *poll, struct zone **owner)
{
	struct lt_lock_node node;
	struct bank *bank;

	lt_lock_acquire(&pool->lock, &node);
	bank = bank_choice(pool, poll->zone);
	*owner = bank->owner;
	poll_count(poll, *owner ? bank : NULL);
	if (!*owner) {
		bank->owner = poll->zone;
		lt_tell_had(HZ_LOGICAL_BUFFER);
	}
	lt_lock_release(&pool->lock, &node);
	return bank;
}

static bool take_or_poll(struct ftl_worker *self, struct zone *zone)
{
	struct poll *poll = &self->ftl->buffers->poll[zone->index];
	struct zone *owner;
	struct bank *bank;

	poll->asked = true;
	if (clock_now_ns() < poll->next_ns) {
		poll_arm(self, poll);
		return false;
	}
	bank = poll_ask(self->ftl->buffers, poll, &owner);
	if (!owner) {
		bank_bind(zone, bank);
		return true;
	}
	self->counters.waits_buffer++;
	poll_later(self, poll);
	zone_kick(self, owner);
	return false;
}

/* The write was taken back: stop polling. */
static void poll_stop(struct superpage_pool *pool, struct poll *poll)
{
	struct lt_lock_node node;

	lt_lock_acquire(&pool->lock, &node);
	poll_count(poll, NULL);
	lt_lock_release(&pool->lock, &node);
}

static void poll_again(struct lt_timer *timer)
{
	struct poll *poll = (struct poll *)timer;
	struct ftl_worker *self = poll->worker;
	struct lt_lock_node node;

	if (tsu_is_off(self->ftl->tsu))
		return; /* no hand-over any more */
	lt_lock_acquire(&poll->zone->lock, &node);
	poll->armed = poll->asked = false;
	zone_pump(self, poll->zone);
	if (poll->waits && !poll->asked)
		poll_stop(self->ftl->buffers, poll);
	lt_lock_release(&poll->zone->lock, &node);
}

static bool banks_are_polled(const struct ftl *ftl) { return ftl->cfg->buffer_handover == HZ_HANDOVER_POLLED; }

bool buffer_refuse(struct ftl_worker *self, struct zone *zone)
{
	struct poll *poll = banks_are_polled(self->ftl) && !zone_is_backing(zone) ? &self->ftl->buffers->poll[zone->index] : NULL;

	if (poll && clock_now_ns() >= poll->next_ns)
		poll_later(self, poll);
	return self->ftl->cfg->buffer_handover != HZ_HANDOVER_KEPT || zone_is_backing(zone);
}

/* --- both --- */

/* noinline: an owner of a buffer saves no registers. */
static __attribute__((noinline)) bool ask_for_bank(struct ftl_worker *self, struct zone *zone)
{
	if (banks_are_polled(self->ftl) && !zone_is_backing(zone))
		return take_or_poll(self, zone);
	return take_or_queue(self, zone);
}

bool buffer_take(struct ftl_worker *self, struct zone *zone)
{
	if (zone->buffer && zone->buffer->bank)
		return true;
	return ask_for_bank(self, zone);
}

static void spare_put(struct superpage_pool *pool, struct write_buffer *buffer)
{
	buffer->next_spare = pool->spare;
	pool->spare = buffer;
}

/* The buffer is not being filled. Class BUFFER held. */
static void bank_put(struct superpage_pool *pool, struct bank *bank, struct write_buffer *buffer)
{
	if (bank && !bank->at_hand)
		bank->at_hand = buffer;
	else
		spare_put(pool, buffer);
}

void buffer_give(struct ftl_worker *self, struct zone *zone)
{
	struct superpage_pool *pool = self->ftl->buffers;
	struct write_buffer *buffer = zone->buffer;
	struct waiter *next = NULL;
	struct lt_lock_node node;
	struct bank *bank;

	if (!buffer)
		return;
	bank = buffer->bank;
	units_drop(self, zone);
	buffer->bank = NULL;
	lt_lock_acquire(&pool->lock, &node);
	buffer->lent = NULL;
	bank_put(pool, bank, buffer);
	if (bank)
		next = bank_pass_on(bank);
	lt_lock_release(&pool->lock, &node);
	if (next)
		zone_kick(self, next->zone);
}

/* Class BUFFER held: is there a buffer for the bank's next owner? */
static bool bank_refill(struct superpage_pool *pool, struct bank *bank)
{
	if (!bank->at_hand && pool->spare) {
		bank->at_hand = pool->spare;
		pool->spare = bank->at_hand->next_spare;
	}
	return bank->at_hand;
}

/* Staged sectors of an incomplete unit are read back before it is programmed. */
bool bank_lend(struct ftl_worker *self, struct zone *zone)
{
	struct superpage_pool *pool = self->ftl->buffers;
	struct bank *bank = zone->buffer->bank;
	struct waiter *next = NULL;
	struct lt_lock_node node;
	bool can;

	lt_store(&bank->fill, 0);
	lt_lock_acquire(&pool->lock, &node);
	can = bank_refill(pool, bank);
	if (can) {
		zone->buffer->lent = zone;
		next = bank_pass_on(bank);
	}
	lt_lock_release(&pool->lock, &node);
	if (!can)
		return false;
	zone->buffer->bank = NULL;
	zone->resident = zone->landed;
	if (next)
		zone_kick(self, next->zone);
	return true;
}

void handover_init(struct ftl *ftl, struct arena *arena)
{
	struct superpage_pool *pool = ftl->buffers;

	pool->bank = arena_alloc(arena, pool->count, sizeof(*pool->bank), "banks of write buffers");
	for (uint32_t i = 0; i < pool->buffers; i++) {
		if (i >= pool->count)
			spare_put(pool, &pool->buffer[i]);
		else
			pool->bank[i] = (struct bank){ .index = i, .at_hand = &pool->buffer[i] };
	}
	if (!banks_are_polled(ftl))
		return;
	pool->poll = arena_alloc(arena, ftl->zone_count, sizeof(*pool->poll), "polls of write buffers");
	for (uint32_t i = 0; i < ftl->zone_count; i++)
		pool->poll[i].zone = &ftl->zones[i];
}

/* Flush of idle buffers. */

static void idle_run(struct lt_timer *timer);

static void idle_arm(struct ftl_worker *self, struct idle_watch *idle)
{
	if (!lt_cas(&idle->armed, 0, 1))
		return;
	idle->worker = self;
	lt_timer_arm(&idle->timer, idle->last_ns + self->ftl->cfg->buffer_idle_ns, idle_run);
}

void idle_touch(struct ftl_worker *self, struct zone *zone)
{
	struct idle_watch *idle = &zone->buffer->bank->idle;

	zone->idle_flush = false;
	idle->last_ns = clock_now_ns();
	idle_arm(self, idle);
}

/* Flush now, or look again later. Units in flight need no flush. Zone lock held. */
static void idle_look_at(struct ftl_worker *self, struct zone *zone, struct idle_watch *idle)
{
	if (zone_on_flash(zone) == zone->landed || zone_failed(zone))
		return;
	if (clock_now_ns() < idle->last_ns + self->ftl->cfg->buffer_idle_ns) {
		idle_arm(self, idle);
		return;
	}
	if (zone->flush_to >= zone->landed || (self->ftl->flush_at_once && !units_partial(zone)))
		return;
	zone->flush_to = zone->landed;
	zone->idle_flush = true;
	zone_pump(self, zone);
}

/* From here on landing data re-arm the timer; earlier ones are handled here. */
static void idle_run(struct lt_timer *timer)
{
	struct bank *bank = (struct bank *)timer;
	struct ftl_worker *self = bank->idle.worker;
	struct lt_lock_node node;
	struct zone *zone;

	lt_swap(&bank->idle.armed, 0);
	zone = buffer_owner(self->ftl, bank->index);
	if (!zone)
		return;
	lt_lock_acquire(&zone->lock, &node);
	if (zone->buffer && zone->buffer->bank == bank)
		idle_look_at(self, zone, &bank->idle);
	lt_lock_release(&zone->lock, &node);
}
