/* Notes of compilers and linkers in ELF files. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/elf_notes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <istream>
#include <link.h>
#include <sstream>
#include <string_view>

namespace hz::res {
namespace {

template <typename T> bool read_at(std::istream &in, uint64_t at, T &out)
{
	return in.seekg(std::streamoff(at)) && in.read(reinterpret_cast<char *>(&out), sizeof(T));
}

/* At most `bytes` bytes, fewer at the end of the file. */
std::string text_at(std::istream &in, uint64_t at, uint64_t bytes)
{
	const auto end = in.seekg(0, std::ios::end).tellg();
	if (end < 0 || at > uint64_t(end))
		return "";
	std::string text(std::min(bytes, uint64_t(end) - at), '\0');
	in.seekg(std::streamoff(at));
	in.read(text.data(), std::streamsize(text.size()));
	return text;
}

/* Content of a section of a 64-bit ELF file; empty if there is none of that name. */
std::string section_of(std::istream &elf, std::string_view name)
{
	const std::string wanted = std::string(name) + '\0';
	Elf64_Ehdr header;
	Elf64_Shdr names, section;
	if (!read_at(elf, 0, header) || memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !read_at(elf, header.e_shoff + uint64_t(header.e_shstrndx) * sizeof(names), names))
		return "";
	for (uint64_t i = 0; i < header.e_shnum && read_at(elf, header.e_shoff + i * sizeof(section), section); i++)
		if (section.sh_type != SHT_NOBITS && text_at(elf, names.sh_offset + section.sh_name, wanted.size()) == wanted)
			return text_at(elf, section.sh_offset, section.sh_size);
	return "";
}

std::string hex(const uint8_t *bytes, size_t count)
{
	std::string text;
	for (size_t i = 0; i < count; i++) {
		text += "0123456789abcdef"[bytes[i] >> 4];
		text += "0123456789abcdef"[bytes[i] & 15];
	}
	return text;
}

/* The note NT_GNU_BUILD_ID among the notes of a loaded program; empty if there is none. */
std::string build_id_among(const uint8_t *notes, size_t bytes)
{
	constexpr auto padded = [](size_t size) { return (size + 3) / 4 * 4; };
	for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes;) {
		Elf64_Nhdr note;
		memcpy(&note, notes + at, sizeof(note));
		const uint8_t *name = notes + at + sizeof(note), *content = name + padded(note.n_namesz);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") && !memcmp(name, "GNU", sizeof("GNU")))
			return hex(content, note.n_descsz);
		at += sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
	}
	return "";
}

} // namespace

std::string elf_compiler(std::istream &elf)
{
	std::istringstream words{section_of(elf, ".comment")};
	std::string all;
	for (std::string one; std::getline(words, one, '\0');)
		if (!one.empty() && all.find(one) == all.npos)
			all += (all.empty() ? "" : "; ") + one;
	return all;
}

std::string own_build_id()
{
	std::string found;
	const auto look = [](dl_phdr_info *info, size_t, void *out) {
		for (int i = 0; i < info->dlpi_phnum; i++) {
			const auto &part = info->dlpi_phdr[i];
			if (part.p_type == PT_NOTE && static_cast<std::string *>(out)->empty())
				*static_cast<std::string *>(out) = build_id_among(
					reinterpret_cast<const uint8_t *>(info->dlpi_addr + part.p_vaddr), part.p_memsz);
		}
		return 1;
	};
	dl_iterate_phdr(look, &found); /* names the program first */
	return found;
}

} // namespace hz::res
