// The software entry of a result: hashes, and the notes of compilers and linkers in ELF files.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <unistd.h>

#include "results/elf_notes.hpp"
#include "results/sha256.hpp"
#include "results/software.hpp"

namespace {

using namespace hz;
using nlohmann::json;

template <typename T> void append(std::string &out, const T &part) { out.append(reinterpret_cast<const char *>(&part), sizeof(part)); }

// A file with two sections, their names and the compilers' notes; `change` applies to the header of
// the latter.
std::string elf_with_comment(
	const std::string &comment, const std::function<void(Elf64_Shdr &)> &change = [](Elf64_Shdr &) {})
{
	const std::string names("\0.shstrtab\0.comment\0", 20);
	Elf64_Ehdr header{};
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_shoff = sizeof(header) + names.size() + comment.size();
	header.e_shnum = 2;
	Elf64_Shdr strings{}, said{};
	strings.sh_name = 1, strings.sh_type = SHT_STRTAB, strings.sh_offset = sizeof(header), strings.sh_size = names.size();
	said.sh_name = 11, said.sh_type = SHT_PROGBITS, said.sh_offset = sizeof(header) + names.size(), said.sh_size = comment.size();
	change(said);
	std::string out;
	append(out, header);
	out += names + comment;
	append(out, strings);
	append(out, said);
	return out;
}

std::string compiler_of(const std::string &elf)
{
	std::istringstream in(elf);
	return res::elf_compiler(in);
}

TEST(ElfNotes, CompilersAreNamedOnce)
{
	EXPECT_EQ(compiler_of(elf_with_comment(std::string("GCC: 12\0GCC: 12\0clang 14\0", 25))), "GCC: 12; clang 14");
	EXPECT_EQ(compiler_of(elf_with_comment("")), "");
	EXPECT_EQ(compiler_of("no ELF file"), "");
}

TEST(ElfNotes, ASectionIsNoMoreThanTheFileHas)
{
	const std::string comment("GCC: 12\0", 8);
	EXPECT_EQ(compiler_of(elf_with_comment(comment, [](Elf64_Shdr &said) { said.sh_type = SHT_NOBITS; })), "");
	const std::string long_one = compiler_of(elf_with_comment(comment, [](Elf64_Shdr &said) { said.sh_size = 1ull << 60; }));
	EXPECT_TRUE(long_one.starts_with("GCC: 12; ")) << long_one << ", what lies behind it";
	EXPECT_EQ(compiler_of(elf_with_comment(comment, [](Elf64_Shdr &said) { said.sh_offset = 1 << 20, said.sh_size = 1ull << 60; })),
		  "");
}

TEST(ElfNotes, AFileThatEndsAnywhereIsNoElfFile)
{
	const std::string whole = elf_with_comment(std::string("GCC: 12\0", 8));
	for (size_t length = 0; length < whole.size(); length++)
		EXPECT_EQ(compiler_of(std::string(whole, 0, length)), "") << length;
}

TEST(Software, FilesAreHashedAndTheProgramIsNamed)
{
	const std::string file = testing::TempDir() + "hz_software_" + std::to_string(getpid());
	std::ofstream(file, std::ios::binary) << "abc";
	const json both = res::software_info(file, file, ""), real_clock = res::software_info(file, "", "");
	unlink(file.c_str());
	EXPECT_EQ(both["firmware"]["sha256"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") << "FIPS 180-2";
	EXPECT_TRUE(both["firmware"]["compiler"].is_null());
	EXPECT_EQ(both["plugin"]["sha256"], both["firmware"]["sha256"]);
	EXPECT_TRUE(real_clock["plugin"].is_null());
	EXPECT_TRUE(std::regex_match(both["driver"]["build_id"].get<std::string>(), std::regex("[0-9a-f]{40}"))) << both;
	EXPECT_THROW(res::software_info("/nosuch", "", ""), std::runtime_error);
	EXPECT_THROW(res::software_info("/", "", ""), std::runtime_error);
}

// e2e.command compares it with the output of `--version`.
TEST(Software, QemuIsKnownByItsGreeting)
{
	const std::string firmware = "/dev/null";
	const auto version = [&](const std::string &greeting) { return res::software_info(firmware, "", greeting)["qemu"]["version"]; };
	const std::string head = R"({"QMP": {"version": {"qemu": {"micro": 2, "minor": 0, "major": 10}, "package": ")",
			  tail = R"("}, "capabilities": ["oob"]}})";
	EXPECT_EQ(version(head + "Debian 1:10.0.2" + tail + "\r\n"), "QEMU emulator version 10.0.2 (Debian 1:10.0.2)");
	EXPECT_EQ(version(head + tail), "QEMU emulator version 10.0.2");
	for (const std::string &bad :
	     {std::string(), std::string("{}"), std::string("[1]"), head, std::string(R"({"QMP": {"version": {"qemu": 3}}})")})
		EXPECT_TRUE(version(bad).is_null()) << bad;
}

// FIPS 180-2, appendix B; the file is more than one piece.
TEST(Sha256, IsThatOfTheStandard)
{
	EXPECT_EQ(res::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	const std::string many(1000000, 'a'), file = testing::TempDir() + "many-a";
	std::ofstream(file) << many;
	EXPECT_EQ(res::sha256(many), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	EXPECT_EQ(res::sha256_of_file(file), res::sha256(many));
	unlink(file.c_str());
	EXPECT_THROW(res::sha256_of_file(file), std::runtime_error);
}

} // namespace
