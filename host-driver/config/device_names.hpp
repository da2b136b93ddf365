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
/* Words of a CHOICE field, beginning with that of its least value. */
std::vector<std::string_view> words_of(const hz_field &field);

/* names[value], or the number itself if it has no name. */
std::string name_of(std::span<const std::string_view> names, uint64_t value);

/* key=value of each key of the section `clock`, for the virtual clock's plugin: the preset comes
 * first, as in a device file. */
std::vector<std::string> clock_words(const hz_device_config &cfg);

} // namespace hz::conf
