/* Flush of idle buffers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/idle.h"

#include "buffer/buffer.h"
#include "buffer/flush_unit.h"

static void idle_run(struct lt_timer *timer);

static void idle_arm(struct ftl_worker *self, struct idle_watch *idle)
{
	if (!lt_cas(&idle->armed, 0, 1))
		return;
	idle->worker = self;
	lt_timer_arm(&idle->timer, idle->last_ns + self->ftl->cfg->buffer_idle_ns, idle_run);
}

void idle_touch(struct ftl_worker *self, struct extent *ext)
{
	struct idle_watch *idle = &ext->buffer->bank->idle;

	ext->idle_flush = false;
	idle->last_ns = clock_now_ns();
	idle_arm(self, idle);
}

/* Zone lock held: flush now, or look again later. What is on its way to flash already needs no help. */
static void idle_look_at(struct ftl_worker *self, struct extent *ext, struct idle_watch *idle)
{
	if (extent_on_flash(ext) == ext->landed || ext->failed)
		return;
	if (clock_now_ns() < idle->last_ns + self->ftl->cfg->buffer_idle_ns) {
		idle_arm(self, idle);
		return;
	}
	if (ext->flush_to >= ext->landed || (self->ftl->flush_at_once && !units_partial(ext)))
		return;
	ext->flush_to = ext->landed;
	ext->idle_flush = true;
	extent_pump(self, ext);
}

/* From here on data that land arm the timer anew; those that landed before are looked at here. */
static void idle_run(struct lt_timer *timer)
{
	struct bank *bank = (struct bank *)timer;
	struct ftl_worker *self = bank->idle.worker;
	struct lt_lock_node node;
	struct extent *ext;

	lt_swap(&bank->idle.armed, 0);
	ext = buffer_owner(self->ftl, bank->index);
	if (!ext)
		return;
	lt_lock_acquire(&ext->lock, &node);
	if (ext->buffer && ext->buffer->bank == bank)
		idle_look_at(self, ext, &bank->idle);
	lt_lock_release(&ext->lock, &node);
}
