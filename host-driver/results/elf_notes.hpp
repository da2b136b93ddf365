/* Notes of compilers and linkers in ELF files. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <iosfwd>
#include <string>

namespace hz::res {

/* Section .comment of a 64-bit ELF file: the names of its compilers, each once; empty if there is
 * none, or the file is not an ELF file. */
std::string elf_compiler(std::istream &elf);

/* GNU build id of the running program in hexadecimal digits, or empty. */
std::string own_build_id();

} // namespace hz::res
