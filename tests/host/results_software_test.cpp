// What a result says about the programs that made it: hashes, and the notes of compilers and linkers in ELF files.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <fstream>
#include <regex>
#include <unistd.h>

#include "results/elf_notes.hpp"
#include "results/sha256.hpp"
#include "results/software.hpp"

namespace {

using namespace hz;
using nlohmann::json;

// The examples of FIPS 180-2, and lengths around the ends of blocks as sha256sum gives them.
TEST(Sha256, KnownTexts)
{
	EXPECT_EQ(res::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	EXPECT_EQ(res::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	EXPECT_EQ(res::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	EXPECT_EQ(res::sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	EXPECT_EQ(res::sha256(std::string(55, 'x')), "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
	EXPECT_EQ(res::sha256(std::string(56, 'x')), "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
	EXPECT_EQ(res::sha256(std::string(63, 'x')), "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
	EXPECT_EQ(res::sha256(std::string(64, 'x')), "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
	EXPECT_EQ(res::sha256(std::string(65, 'x')), "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
	EXPECT_EQ(res::sha256(std::string(119, 'x')), "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c");
	EXPECT_EQ(res::sha256(std::string(120, 'x')), "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98");
	EXPECT_EQ(res::sha256(std::string(128, 'x')), "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464");
}

template <typename T> void append(std::string &out, const T &part) { out.append(reinterpret_cast<const char *>(&part), sizeof(part)); }

// A file with two sections, their names and what compilers said.
std::string elf_with_comment(const std::string &comment)
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
	std::string out;
	append(out, header);
	out += names + comment;
	append(out, strings);
	append(out, said);
	return out;
}

TEST(ElfNotes, CompilersAreNamedOnce)
{
	EXPECT_EQ(res::elf_compiler(elf_with_comment(std::string("GCC: 12\0GCC: 12\0clang 14\0", 25))), "GCC: 12; clang 14");
	EXPECT_EQ(res::elf_compiler(elf_with_comment("")), "");
	EXPECT_EQ(res::elf_compiler("no ELF file"), "");
}

TEST(ElfNotes, AFileThatEndsAnywhereIsNoElfFile)
{
	const std::string whole = elf_with_comment(std::string("GCC: 12\0", 8));
	for (size_t length = 0; length < whole.size(); length++)
		EXPECT_EQ(res::elf_compiler(std::string(whole, 0, length)), "") << length;
}

TEST(Software, FilesAreHashedAndTheProgramIsNamed)
{
	const std::string file = testing::TempDir() + "hz_software_" + std::to_string(getpid());
	std::ofstream(file, std::ios::binary) << "abc";
	const json both = res::software_info(file, file), real_clock = res::software_info(file, "");
	unlink(file.c_str());
	EXPECT_EQ(both["firmware"]["sha256"], res::sha256("abc"));
	EXPECT_TRUE(both["firmware"]["compiler"].is_null());
	EXPECT_EQ(both["plugin"]["sha256"], res::sha256("abc"));
	EXPECT_TRUE(real_clock["plugin"].is_null());
	EXPECT_TRUE(std::regex_match(both["driver"]["build_id"].get<std::string>(), std::regex("[0-9a-f]{40}"))) << both;
	EXPECT_THROW(res::software_info("/nosuch", ""), std::runtime_error);
}

} // namespace
