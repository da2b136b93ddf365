/* SHA-256 (FIPS 180-4), to name files in a result. */
#pragma once

#include <string>
#include <string_view>

namespace hz::res {

/* 64 hexadecimal digits, as sha256sum prints them. */
std::string sha256(std::string_view bytes);

} // namespace hz::res
