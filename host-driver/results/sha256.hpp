/* SHA-256 (FIPS 180-4), to name files in a result. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <string>
#include <string_view>

namespace hz::res {

/* 64 hexadecimal digits, as sha256sum prints them. */
std::string sha256(std::string_view bytes);

} // namespace hz::res
