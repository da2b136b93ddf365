/* Software of a run: a result holds for one firmware image and for the programs that shape device
 * time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace hz::res {

/* The entry "software" of a result (docs/reference/results.md). An empty `plugin` means the real clock; a greeting that cannot be read, a QEMU that
 * nobody knows (Machine::qemu_greeting). Throws std::runtime_error if a file cannot be read. */
nlohmann::json software_info(const std::filesystem::path &firmware, const std::filesystem::path &plugin, const std::string &qemu_greeting);

/* The same if another process started firmware, plugin and QEMU, and only it knows them: null. */
nlohmann::json software_of_others();

} // namespace hz::res
