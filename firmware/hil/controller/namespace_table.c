/* The table of namespaces. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/namespace_table.h"

#include "namespaces.h"

void namespace_table_init(struct namespace_table *table, const struct hz_device_config *cfg, const struct controller_ops *device)
{
	struct hz_shape shape;

	table->count = cfg->namespaces;
	for (uint32_t i = 0; i < table->count; i++) {
		struct namespace_record record = device->namespace_record(device->ctx, i);

		hz_namespace_shape(cfg, i, &shape);
		table->slot[i] = (struct namespace_slot){
			.capacity = shape.namespace_sectors,
			.zone_size = shape.zone_size_sectors,
			.sectors = record.sectors ? record.sectors : shape.namespace_sectors,
			.conventional = shape.conventional_zones * shape.zone_size_sectors,
			.set = hz_nvm_set(cfg, i),
			.created = record.created,
			.state = (enum hz_namespace_state)record.state,
		};
	}
}

uint64_t namespaces_sectors(const struct namespace_table *table, uint32_t set, bool free_only)
{
	uint64_t sectors = 0;

	for (uint32_t i = 0; i < table->count; i++) {
		const struct namespace_slot *slot = &table->slot[i];

		if ((!set || slot->set == set) && !(free_only && namespace_exists(slot)))
			sectors += slot->capacity;
	}
	return sectors;
}

bool namespace_set_state(struct namespace_table *table, uint32_t number, enum hz_namespace_state state)
{
	struct namespace_slot *slot = &table->slot[number];
	bool was_attached = namespace_is_attached(slot);

	slot->state = state;
	if (namespace_is_attached(slot) == was_attached)
		return false;
	table->changed |= 1u << number;
	return true;
}

uint32_t namespaces_attached(const struct namespace_table *table)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < table->count; i++)
		mask |= (uint32_t)namespace_is_attached(&table->slot[i]) << i;
	return mask;
}

void namespaces_list(const struct namespace_table *table, uint32_t above, bool attached, uint32_t *list)
{
	for (uint32_t i = above; i < table->count; i++)
		if (attached ? namespace_is_attached(&table->slot[i]) : namespace_exists(&table->slot[i]))
			*list++ = i + 1;
}

void namespaces_list_changed(struct namespace_table *table, bool take, uint32_t *list)
{
	for (uint32_t changed = table->changed; changed; changed &= changed - 1)
		*list++ = (uint32_t)__builtin_ctz(changed) + 1;
	if (take)
		table->changed = 0;
}
