/* What ran: a result holds for one firmware image, and for the programs around it that shape device time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace hz::res {

/* The entry "software" of a result (docs/results.md). An empty `plugin` means the real clock. Throws std::runtime_error if a file cannot be read. */
nlohmann::json software_info(const std::filesystem::path &firmware, const std::filesystem::path &plugin);

/* The same where firmware, plugin and QEMU were started by another process, which alone knows them: null. */
nlohmann::json software_of_others();

} // namespace hz::res
