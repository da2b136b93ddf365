/* Which policy manages the write buffers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer.h"

#include "buffer/superpage.h"

void buffers_init(struct ftl *ftl, struct arena *arena)
{
	ftl->buffer_ops = &superpage_buffers;
	ftl->buffer_ops->init(ftl, arena);
}

void buffers_kick(struct ftl_worker *self)
{
	for (uint32_t i = 0; i < buffer_count(self->ftl); i++) {
		struct extent *owner = buffer_owner(self->ftl, i);

		if (owner)
			extent_kick(self, owner);
	}
}
