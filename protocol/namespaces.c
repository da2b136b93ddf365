/* Windows of namespaces. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "namespaces.h"

static struct hz_range range_in(uint32_t word, uint32_t all)
{
	uint32_t first = word & 0xffff, end = word >> 16;

	return end ? (struct hz_range){ first, end - first } : (struct hz_range){ 0, all };
}

static void ranges_of_planes(const struct hz_device_config *cfg, uint32_t number, struct hz_window *window)
{
	window->channel = range_in(cfg->namespace_channels[number], cfg->channels);
	window->chip = range_in(cfg->namespace_chips[number], cfg->chips_per_channel);
	window->die = range_in(cfg->namespace_dies[number], cfg->dies_per_chip);
	window->plane = range_in(cfg->namespace_planes[number], cfg->planes_per_die);
}

static bool same_range(struct hz_range a, struct hz_range b) { return a.first == b.first && a.count == b.count; }

static bool apart_ranges(struct hz_range a, struct hz_range b) { return a.first + a.count <= b.first || b.first + b.count <= a.first; }

static bool in_range(struct hz_range range, uint32_t value) { return value - range.first < range.count; }

bool hz_same_planes(const struct hz_device_config *cfg, uint32_t a, uint32_t b)
{
	struct hz_window one, other;

	ranges_of_planes(cfg, a, &one);
	ranges_of_planes(cfg, b, &other);
	return same_range(one.channel, other.channel) && same_range(one.chip, other.chip) && same_range(one.die, other.die) &&
	       same_range(one.plane, other.plane);
}

bool hz_no_common_plane(const struct hz_device_config *cfg, uint32_t a, uint32_t b)
{
	struct hz_window one, other;

	ranges_of_planes(cfg, a, &one);
	ranges_of_planes(cfg, b, &other);
	return apart_ranges(one.channel, other.channel) || apart_ranges(one.chip, other.chip) || apart_ranges(one.die, other.die) ||
	       apart_ranges(one.plane, other.plane);
}

static struct hz_range share_of_blocks(uint32_t first, uint32_t blocks, uint32_t sharers, uint32_t place)
{
	return (struct hz_range){ first + place * (blocks / sharers), blocks / sharers };
}

void hz_window_of(const struct hz_device_config *cfg, uint32_t number, struct hz_window *window)
{
	uint32_t slc = cfg->slc_blocks_per_plane, sharers = 0, place = 0;

	for (uint32_t i = 0; i < cfg->namespaces; i++) {
		bool shares = hz_same_planes(cfg, i, number);

		sharers += shares;
		place += shares && i < number;
	}
	ranges_of_planes(cfg, number, window);
	window->slc = share_of_blocks(0, slc, sharers, place);
	window->normal = share_of_blocks(slc, cfg->blocks_per_plane - slc, sharers, place);
}

void hz_namespace_config(const struct hz_device_config *cfg, uint32_t number, struct hz_device_config *out)
{
	struct hz_window window;

	hz_window_of(cfg, number, &window);
	*out = *cfg;
	out->channels = window.channel.count;
	out->chips_per_channel = window.chip.count;
	out->dies_per_chip = window.die.count;
	out->planes_per_die = window.plane.count;
	out->slc_blocks_per_plane = window.slc.count;
	out->blocks_per_plane = window.slc.count + window.normal.count;
	out->namespaces = 1;
	out->namespace_channels[0] = out->namespace_chips[0] = out->namespace_dies[0] = out->namespace_planes[0] = 0;
}

void hz_namespace_shape(const struct hz_device_config *cfg, uint32_t number, struct hz_shape *shape)
{
	struct hz_device_config window;

	hz_namespace_config(cfg, number, &window);
	hz_shape_of(&window, shape);
}

uint32_t hz_nvm_set(const struct hz_device_config *cfg, uint32_t number)
{
	uint32_t sets = 1;

	for (uint32_t i = 0; i < number; i++) {
		bool first = true;

		if (hz_same_planes(cfg, i, number))
			return hz_nvm_set(cfg, i);
		for (uint32_t before = 0; before < i; before++)
			first = first && !hz_same_planes(cfg, before, i);
		sets += first;
	}
	return sets;
}

uint32_t hz_window_at(const struct hz_device_config *cfg, const struct hz_window *windows, uint32_t plane_index, uint32_t block)
{
	uint32_t die = plane_index / cfg->planes_per_die, chip = die / cfg->dies_per_chip, i = 0;

	for (; i < cfg->namespaces; i++) {
		const struct hz_window *w = &windows[i];

		if (in_range(w->channel, chip / cfg->chips_per_channel) && in_range(w->chip, chip % cfg->chips_per_channel) &&
		    in_range(w->die, die % cfg->dies_per_chip) && in_range(w->plane, plane_index % cfg->planes_per_die) &&
		    (in_range(w->slc, block) || in_range(w->normal, block)))
			break;
	}
	return i;
}
