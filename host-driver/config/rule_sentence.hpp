/* Translates field names in sentences of hz_device_config_check to keys of a device file. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <string>

namespace hz::conf {

/* "conventional_spare is 0, but …" → "conventional.spare_superblocks is 0, but …", with a unit where the file has another one. */
std::string in_words_of_the_file(const std::string &sentence);
/* Key of the field at the begin of a sentence of hz_device_config_check, "section.key"; empty for
 * fields without a key. */
std::string key_of(const std::string &sentence);

} // namespace hz::conf
