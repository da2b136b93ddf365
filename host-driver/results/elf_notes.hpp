/* What compilers and linkers leave in ELF files. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <iosfwd>
#include <string>

namespace hz::res {

/* Section .comment of a 64-bit ELF file: what the compilers of its parts call themselves, each once; empty if it has none, or is no such file. */
std::string elf_compiler(std::istream &elf);

/* GNU build id of the running program in hexadecimal digits, or empty. */
std::string own_build_id();

} // namespace hz::res
