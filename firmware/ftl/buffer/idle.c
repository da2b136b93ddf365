/* Flush of idle buffers. */
#include "buffer/idle.h"

#include "base/context.h"
#include "zone/write.h"

static void idle_run(struct lt_timer *timer);

static void watch(struct ftl_worker *self, struct write_buffer *buffer)
{
	struct idle_watch *idle = &buffer->idle;

	if (!lt_cas(&idle->armed, 0, 1))
		return;
	idle->worker = self;
	lt_timer_arm(&idle->timer, idle->last_ns + self->ftl->cfg->buffer_idle_ns, idle_run);
}

void idle_touch(struct ftl_worker *self, struct zone *zone)
{
	zone->idle_flush = false;
	zone->buffer->idle.last_ns = clock_now_ns();
	watch(self, zone->buffer);
}

/* Zone lock held: flush now, or look again later. What is on its way to flash already needs no help. */
static void look_at(struct ftl_worker *self, struct zone *zone, struct write_buffer *buffer)
{
	if (zone_durable(zone) == zone->landed || zone->failed)
		return;
	if (clock_now_ns() < buffer->idle.last_ns + self->ftl->cfg->buffer_idle_ns) {
		watch(self, buffer);
		return;
	}
	if (zone->flush_to >= zone->landed || !units_partial(zone))
		return;
	zone->flush_to = zone->landed;
	zone->idle_flush = true;
	zone_pump(self, zone);
}

/* From here on data that land arm the timer anew; those that landed before are looked at here. */
static void idle_run(struct lt_timer *timer)
{
	struct write_buffer *buffer = (struct write_buffer *)((char *)timer - offsetof(struct write_buffer, idle));
	struct ftl_worker *self = buffer->idle.worker;
	struct lt_lock_node node;
	struct zone *zone;

	lt_swap(&buffer->idle.armed, 0);
	zone = write_pool_owner(self->ftl, buffer->index);
	if (!zone)
		return;
	lt_lock_acquire(&zone->lock, &node);
	if (zone->buffer == buffer)
		look_at(self, zone, buffer);
	lt_lock_release(&zone->lock, &node);
}
