/* Pool of commands. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/command.h"

#include "lt/arena.h"

void command_pool_init(struct command_pool *pool, struct arena *arena, uint32_t count)
{
	struct command *command = arena_alloc(arena, count, sizeof(*command), "HIL commands");

	/* A DMA engine fetches PRP entries from the host as it goes; here they are looked up beforehand. */
	arena_part_is_model(arena, count * sizeof(command->page), "HIL commands");
	for (uint32_t i = 0; i + 1 < count; i++)
		command[i].next = &command[i + 1];
	*pool = (struct command_pool){ .free = command, .count = count, .all = command };
}
