/* struct hz_device_config → JSON: every field, so that a result can be repeated from its echo. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/device_json.hpp"
#include "config/device_names.hpp"
#include "geometry.h"
#include "namespaces.h"

#include <cstring>

namespace hz::conf {
namespace {

using nlohmann::json;

json by_class(const hz_field &field, const hz_device_config &c)
{
	json out;
	for (uint32_t i = 0; i < HZ_LOCK_CLASSES; i++) {
		const uint64_t value = hz_field_read(&field, &c, i);
		json &item = out[std::string(lock_class_names()[i])];
		if (field.unit == HZ_UNIT_KIND_BY_CLASS)
			item = name_of(lock_kind_names(), value);
		else if (value == HZ_LOCKS_GLOBAL)
			item = "global";
		else if (value <= HZ_LOCKS_CLASS)
			item = value ? "class" : "fine";
		else
			item = value;
	}
	return out;
}

std::string range_text(uint64_t word)
{
	const uint64_t first = word & 0xffff, end = word >> 16;
	if (!end)
		return "all";
	return std::to_string(first) + (end - first > 1 ? "-" + std::to_string(end - 1) : "");
}

json list(const hz_field &field, const hz_device_config &c)
{
	uint32_t length = field.items;
	if (field.unit == HZ_UNIT_HARTS || field.unit == HZ_UNIT_RANGES)
		memcpy(&length, reinterpret_cast<const char *>(&c) + field.length_offset, sizeof(length));
	json out = json::array();
	for (unsigned i = 0; i < length && i < field.items; i++)
		if (field.unit == HZ_UNIT_RANGES)
			out.push_back(range_text(hz_field_read(&field, &c, i)));
		else
			out.push_back(hz_field_read(&field, &c, i));
	return out;
}

json echo_of(const hz_field &field, const hz_device_config &c)
{
	const char *text = reinterpret_cast<const char *>(&c) + field.offset;
	switch (field.unit) {
	case HZ_UNIT_TEXT: return std::string(text, strnlen(text, field.items));
	case HZ_UNIT_CHOICE: return name_of(words_of(field), hz_field_read(&field, &c, 0) - field.least);
	case HZ_UNIT_PAGE_NS:
	case HZ_UNIT_HARTS:
	case HZ_UNIT_RANGES: return list(field, c);
	case HZ_UNIT_KIND_BY_CLASS:
	case HZ_UNIT_GRANULARITY_BY_CLASS: return by_class(field, c);
	default: return hz_field_read(&field, &c, 0);
	}
}

/* out["timing"]["slc"] for "timing.slc". */
json &section_of(json &out, const std::string &path)
{
	if (path.empty())
		return out;
	const size_t dot = path.find('.');
	return section_of(out[path.substr(0, dot)], dot == path.npos ? "" : path.substr(dot + 1));
}

json shape_json(const hz_device_config &c)
{
	hz_shape s{};
	hz_namespace_shape(&c, 0, &s);
	return {
		{"planes", s.planes},
		{"superblock_planes", s.superblock_planes},
		{"page_sectors", s.page_sectors},
		{"unit_sectors", s.unit_sectors},
		{"superpage_sectors", s.superpage_sectors},
		{"superblock_sectors", s.superblock_sectors},
		{"slc_superblock_sectors", s.slc_superblock_sectors},
		{"slc_superblocks", s.slc_superblocks},
		{"normal_superblocks", s.normal_superblocks},
		{"zones", s.zones},
		{"zone_size_sectors", s.zone_size_sectors},
		{"zone_capacity_sectors", s.zone_capacity_sectors},
		{"namespace_sectors", s.namespace_sectors},
		{"conventional_zones", s.conventional_zones},
		{"backing_zones", s.backing_zones},
		{"patch_sectors", s.patch_sectors},
		{"map_pages_per_zone", s.map_pages_per_zone},
	};
}

} // namespace

json device_to_json(const hz_device_config &c)
{
	json out;
	for (const hz_field &field : hz_device_fields)
		if (strcmp(field.echo, "_"))
			section_of(out, field.section)[field.echo] = echo_of(field, c);
	out["shape"] = shape_json(c);
	return out;
}

} // namespace hz::conf
