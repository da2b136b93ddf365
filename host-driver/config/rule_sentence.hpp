/* Sentences of hz_device_config_check in the words of a device file: its keys for the record's fields. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <string>

namespace hz::conf {

/* "conventional_spare is 0, but …" → "conventional.spare_superblocks is 0, but …", with a unit where the file has another one. */
std::string in_words_of_the_file(const std::string &sentence);
/* Key of the field that a sentence of hz_device_config_check begins with, "section.key"; empty for fields that no file has. */
std::string key_of(const std::string &sentence);

} // namespace hz::conf
