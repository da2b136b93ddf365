/* SHA-256 as sha256sum prints it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <filesystem>
#include <string>

namespace hz::res {

/* 64 hexadecimal digits. */
std::string sha256(const std::string &bytes);
/* Of a file of any size. Throws std::runtime_error if it cannot be read. */
std::string sha256_of_file(const std::filesystem::path &file);

} // namespace hz::res
