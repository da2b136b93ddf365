// Parts of the virtual clock that need no QEMU: histograms of times, tables, names of the firmware's addresses.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <elf.h>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" {
#include "profile/histogram.h"
#include "guest/symbol.h"
#include "base/table.h"

void vc_say(const char *format, ...);
}

namespace {

std::string said;

// Reported value: the upper edge of its bucket; each power of two has eight.
uint64_t edge_of(uint64_t value)
{
	uint64_t width = 1;
	while (value / width >= 16)
		width *= 2;
	return value / width * width + width - 1;
}

TEST(Histogram, RanksAreUpperEdgesOfTheValuesThatAreSorted)
{
	std::mt19937_64 random(7);
	for (unsigned count : {1u, 2u, 3u, 10u, 999u, 1000u, 1001u}) {
		vc_histogram h{};
		std::vector<uint64_t> values;
		uint64_t sum = 0;
		for (unsigned i = 0; i < count; i++) {
			values.push_back(random() >> (20 + random() % 44));
			vc_histogram_add(&h, values.back());
			sum += values.back();
		}
		std::sort(values.begin(), values.end());
		EXPECT_EQ(h.total, count);
		EXPECT_EQ(h.sum, sum);
		EXPECT_EQ(h.max, values.back());
		for (unsigned permille : {1u, 500u, 900u, 990u, 999u, 1000u}) {
			const uint64_t value = values[(uint64_t{count} * permille + 999) / 1000 - 1];
			EXPECT_EQ(vc_histogram_rank(&h, permille), std::min(edge_of(value), values.back())) << count << " " << permille;
		}
	}
}

TEST(Histogram, SmallValuesAndEdgesAreExact)
{
	for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{8}, uint64_t{15}, uint64_t{16}, uint64_t{17},
			       uint64_t{1} << 40, UINT64_MAX}) {
		vc_histogram h{};
		vc_histogram_add(&h, value);
		vc_histogram_add(&h, UINT64_MAX);
		EXPECT_EQ(vc_histogram_rank(&h, 500), edge_of(value));
		EXPECT_EQ(vc_histogram_rank(&h, 1000), UINT64_MAX);
	}
	const vc_histogram empty{};
	EXPECT_EQ(vc_histogram_rank(&empty, 500), 0u);
}

struct Entry {
	uint64_t tag, value;
	char more[40];
};

TEST(Table, KeepsWhatWasPutIntoItHoweverItGrows)
{
	vc_table table{sizeof(Entry), 0, 0, nullptr};
	std::map<uint64_t, uint64_t> model;
	std::mt19937_64 random(3);
	for (unsigned i = 0; i < 3000; i++) {
		const uint64_t tag = (random() % 1000 + 1) << (random() % 3 * 20);
		auto *entry = static_cast<Entry *>(vc_table_at(&table, tag));
		ASSERT_EQ(entry->tag, tag);
		ASSERT_EQ(entry->value, model[tag]);
		ASSERT_EQ(std::count(entry->more, entry->more + sizeof(entry->more), entry->value ? 'x' : 0), long(sizeof(entry->more)));
		entry->value = model[tag] = i + 1;
		std::fill_n(entry->more, sizeof(entry->more), 'x');
		ASSERT_EQ(table.used, model.size());
		ASSERT_LE(2 * table.used, table.slots) << "half full at most";
	}
	EXPECT_LT(table.slots, 8 * table.used);
	for (uint64_t i = 0; i < table.slots; i++)
		if (auto *entry = static_cast<Entry *>(vc_table_entry(&table, i))) {
			EXPECT_EQ(model[entry->tag], entry->value);
			model.erase(entry->tag);
		}
	EXPECT_TRUE(model.empty());
	vc_table_drop(&table);
}

// It comes to whole large pages of memory, and goes on.
TEST(Table, GrowsLarge)
{
	vc_table table{sizeof(Entry), 0, 0, nullptr};
	const uint64_t count = 300000;
	for (uint64_t i = 1; i <= count; i++)
		static_cast<Entry *>(vc_table_at(&table, i * 64))->value = i;
	EXPECT_GT(table.slots * table.entry_bytes, 8u << 20);
	for (uint64_t i = 1; i <= count; i++)
		ASSERT_EQ(static_cast<Entry *>(vc_table_find(&table, i * 64))->value, i);
	vc_table_drop(&table);
	EXPECT_EQ(table.slots, 0u);
	EXPECT_EQ(vc_table_find(&table, 64), nullptr);
	EXPECT_EQ(static_cast<Entry *>(vc_table_at(&table, 64))->value, 0u);
	vc_table_drop(&table);
}

struct Symbols : testing::Test {
	Symbols() : path(testing::TempDir() + "hz-symbols-" + std::to_string(getpid())) { said.clear(); }
	~Symbols() override { unlink(path.c_str()); }
	bool load(const std::string &bytes)
	{
		std::ofstream(path, std::ios::binary) << bytes;
		return vc_symbols_load(path.c_str());
	}
	std::string path;
};

template <class T> void append(std::string &out, const T &value) { out.append(reinterpret_cast<const char *>(&value), sizeof(value)); }

// Header, names, symbols, three section headers.
std::string elf(const std::vector<std::pair<std::string, Elf64_Sym>> &listed)
{
	std::string names(1, '\0'), symbols, out;
	for (auto [name, symbol] : listed) {
		symbol.st_name = static_cast<Elf64_Word>(names.size());
		names += name + '\0';
		append(symbols, symbol);
	}
	names.resize((names.size() + 7) / 8 * 8);
	Elf64_Ehdr header{};
	std::copy_n(ELFMAG, SELFMAG, header.e_ident);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_shoff = sizeof(header) + names.size() + symbols.size();
	header.e_shnum = 3;
	Elf64_Shdr none{}, strings{}, table{};
	strings.sh_type = SHT_STRTAB;
	strings.sh_offset = sizeof(header);
	strings.sh_size = names.size();
	table.sh_type = SHT_SYMTAB;
	table.sh_offset = sizeof(header) + names.size();
	table.sh_size = symbols.size();
	table.sh_link = 1;
	append(out, header);
	out += names + symbols;
	for (const Elf64_Shdr &section : {none, strings, table})
		append(out, section);
	return out;
}

Elf64_Sym symbol(uint64_t value, uint64_t size, unsigned type = STT_FUNC, Elf64_Half section = 1)
{
	Elf64_Sym s{};
	s.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
	s.st_shndx = section;
	s.st_value = value;
	s.st_size = size;
	return s;
}

std::string name_of(uint64_t address)
{
	char text[64];
	return vc_symbol(address, text, sizeof(text));
}

// The first test of a file: loaded symbols stay.
TEST_F(Symbols, AreRefusedInOneSentence)
{
	const std::string good = elf({{"first", symbol(0x1000, 16)}});
	std::string other_magic = good, other_class = good, sections_beyond = good;
	other_magic[1] = 'X';
	other_class[EI_CLASS] = ELFCLASS32;
	sections_beyond.resize(good.size() - 1);
	EXPECT_FALSE(vc_symbols_load("/nowhere/at/all"));
	EXPECT_NE(said.find("elf=/nowhere/at/all names no 64-bit ELF file"), std::string::npos) << said;
	EXPECT_FALSE(vc_symbols_load("/"));
	for (const std::string &bytes : {std::string(), good.substr(0, 40), other_magic, other_class, sections_beyond})
		EXPECT_FALSE(load(bytes));
	EXPECT_EQ(name_of(0x1000).find("first"), std::string::npos);
}

TEST_F(Symbols, NameTheNearestFunctionOrObject)
{
	ASSERT_TRUE(load(elf({{"first", symbol(0x1000, 16)},
			      {"label", symbol(0x1010, 0, STT_NOTYPE)},
			      {"outer", symbol(0x2000, 64)},
			      {"inner", symbol(0x2010, 16, STT_OBJECT)},
			      {"$x", symbol(0x2018, 0, STT_NOTYPE)},
			      {".Lhidden", symbol(0x2018, 0, STT_NOTYPE)},
			      {"section", symbol(0x2018, 8, STT_SECTION)},
			      {"elsewhere", symbol(0x2018, 8, STT_FUNC, SHN_UNDEF)},
			      {"absolute", symbol(0x2018, 8, STT_FUNC, SHN_ABS)}})));
	EXPECT_EQ(name_of(0x1000).substr(0, 5), "first");
	EXPECT_NE(name_of(0x100f).find("first+0xf"), std::string::npos) << name_of(0x100f);
	EXPECT_NE(name_of(0x1015).find("label+0x5"), std::string::npos) << name_of(0x1015);
	EXPECT_NE(name_of(0x200f).find("outer+0xf"), std::string::npos) << name_of(0x200f);
	EXPECT_NE(name_of(0x2018).find("inner+0x8"), std::string::npos) << name_of(0x2018);
	EXPECT_NE(name_of(0x2020).find("outer+0x20"), std::string::npos) << name_of(0x2020);
	EXPECT_EQ(name_of(0xfff).find('+'), std::string::npos) << "below all of them";
	for (uint64_t address : {0xfffu, 0x1000u, 0x2020u}) {
		char digits[32];
		snprintf(digits, sizeof(digits), "0x%lx", static_cast<unsigned long>(address));
		EXPECT_NE(name_of(address).find(digits), std::string::npos);
	}
}

} // namespace

void vc_say(const char *format, ...)
{
	char text[256];
	va_list words;

	va_start(words, format);
	vsnprintf(text, sizeof(text), format, words);
	va_end(words);
	said += text;
}
