/* Words of device files and of result.json. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "device_fields.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hz::conf {

/* By number. */
std::span<const std::string_view> lock_kind_names();
std::span<const std::string_view> lock_class_names();
/* Of a CHOICE field: the first is that of its least value. */
std::vector<std::string_view> words_of(const hz_field &field);

/* names[value], or the number itself if it has no name. */
std::string name_of(std::span<const std::string_view> names, uint64_t value);

/* key=value of each key of the part `clock`, as the virtual clock's plugin takes them: the preset comes first, as a device file has it. */
std::vector<std::string> clock_words(const hz_device_config &cfg);

} // namespace hz::conf
