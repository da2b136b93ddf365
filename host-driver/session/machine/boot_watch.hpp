// BootWatch: failure messages in the output of QEMU and the firmware.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "region.hpp"

namespace hz {

// Whole text of a small file, at most the last `limit` bytes; empty if there is none.
std::string read_tail(const std::filesystem::path &file, size_t limit = 1 << 20);

// One sentence if QEMU's stderr shows a failure after which it hangs instead of ending, else empty.
std::string known_qemu_failure(const std::string &qemu_log);

// The last message of the virtual clock's plugin before it gave up, else empty.
std::string plugin_failure(const std::string &qemu_log);
// The races that its check found, each as a further line "race: …" for the failure message.
std::string races_before(const std::string &qemu_log);

// One sentence if the firmware gave up, else empty.
std::string firmware_failure(const Region &region);
// True if the NAND image caused the failure.
bool is_image_failure(const Region &region);

// Last line with letters of a log, excluding races, for "QEMU ended: …".
std::string last_line(const std::string &text);

} // namespace hz
