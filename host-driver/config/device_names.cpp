/* Words of device files and of result.json. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/device_names.hpp"

#include <array>
#include <cstring>
#include <string_view>

namespace hz::conf {
namespace {

constexpr std::string_view kinds[] = {
#define LT_LOCK_KIND(constant, name, ...) #name,
#include "lt/lock_kinds.def"
};
constexpr std::string_view classes[] = {
#define HZ_LOCK_CLASS(constant, name, ...) #name,
#include "lock_classes.def"
};

} // namespace

std::span<const std::string_view> lock_kind_names() { return kinds; }
std::span<const std::string_view> lock_class_names() { return classes; }

std::vector<std::string_view> words_of(const hz_field &field)
{
	if (field.unit != HZ_UNIT_CHOICE)
		return {};
	return {field.words, field.words + (field.most - field.least + 1)};
}

std::string name_of(std::span<const std::string_view> names, uint64_t value)
{
	return value < names.size() ? std::string(names[value]) : std::to_string(value);
}

std::vector<std::string> clock_words(const hz_device_config &cfg)
{
	std::vector<std::string> words;
	for (const hz_field &field : hz_device_fields) {
		if (std::strcmp(field.section, "clock"))
			continue;
		const uint64_t value = hz_field_read(&field, &cfg, 0);
		words.push_back(std::string(field.key) + "=" + (field.words ? field.words[value - field.least] : std::to_string(value)));
	}
	return words;
}

} // namespace hz::conf
