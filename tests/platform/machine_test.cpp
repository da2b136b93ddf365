// machine.c: devices found on a board, and boards that are refused.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "fdt_builder.hpp"
#include "platform/machine.h"

namespace {

const char *read(const std::vector<uint8_t> &blob, machine *m) { return machine_read(m, blob.data(), blob.size()); }

std::string refusal(FdtBuilder b)
{
	machine m;
	const char *error = read(b.blob(), &m);
	return error ? error : "";
}

TEST(Machine, FindsEverythingOnTheVirtBoard)
{
	machine m;
	ASSERT_EQ(read(virt_board(64, "fault=illegal hart=2").blob(), &m), nullptr);
	EXPECT_EQ(m.harts, 64u);
	EXPECT_EQ(m.timebase_hz, 10000000u);
	EXPECT_EQ(m.ram.base, 0x80000000u);
	EXPECT_EQ(m.ram.bytes, 1ull << 32);
	EXPECT_EQ(m.uart.base, 0x10000000u);
	EXPECT_EQ(m.finisher.base, 0x100000u);
	EXPECT_EQ(m.clint.base, 0x2000000u);
	EXPECT_EQ(m.ecam.base, 0x30000000u);
	EXPECT_EQ(m.mem32.cpu_base, 0x40000000u);
	EXPECT_EQ(m.mem32.bytes, 0x40000000u);
	EXPECT_EQ(m.mem64.cpu_base, 0x400000000u);
	EXPECT_EQ(m.mem64.pci_base, 0x400000000u);
	EXPECT_EQ(m.mem64.bytes, 0x400000000u);
	ASSERT_EQ(m.virtio_count, 2u);
	EXPECT_EQ(m.virtio[0], 0x10008000u);
	EXPECT_STREQ(m.bootargs, "fault=illegal hart=2");
}

// The board with some of its bytes changed: a name to an unknown one, or a number.
std::vector<uint8_t> changed(std::vector<uint8_t> blob, const std::vector<std::pair<std::string, std::string>> &changes)
{
	for (const auto &[from, to] : changes) {
		EXPECT_EQ(from.size(), to.size());
		auto same = [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); };
		auto at = std::search(blob.begin(), blob.end(), from.begin(), from.end(), same);
		EXPECT_NE(at, blob.end()) << from;
		std::copy(to.begin(), to.end(), at);
	}
	return blob;
}

TEST(Machine, RefusesABoardWithoutWhatItNeeds)
{
	const std::string clock("\0\x98\x96\x80", 4), giga("\x3b\x9a\xca\0", 4), more("\x3b\x9a\xca\1", 4), none(4, 0);
	const struct {
		std::vector<std::pair<std::string, std::string>> changes;
		const char *error_part;
	} boards[] = {
		{{{"ns16550a", "ns16550x"}}, "no UART"},
		{{{"sifive,test1", "sifive,testx"}, {"sifive,test0", "sifive,testx"}}, "no test finisher"},
		{{{"sifive,clint0", "sifive,clintx"}, {"riscv,clint0", "riscv,clintx"}}, "no CLINT"},
		{{{"timebase-frequency", "timebase-frequenzy"}}, "no timebase"},
		{{{clock, more}}, "no timebase frequency up to 1 GHz"},
		{{{clock, none}}, "no timebase"},
		{{{std::string("memory\0", 7), std::string("memorx\0", 7)}}, "no memory"},
	};
	for (const auto &board : boards) {
		machine m;
		const char *error = read(changed(virt_board(2).blob(), board.changes), &m);
		ASSERT_NE(error, nullptr) << board.error_part;
		EXPECT_NE(std::string(error).find(board.error_part), std::string::npos) << error;
	}
	EXPECT_NE(refusal(virt_board(0)).find("hart ids"), std::string::npos);
	for (const auto &usable :
	     {changed(virt_board(2).blob(), {{"sifive,test1", "sifive,testx"}}),
	      changed(virt_board(2).blob(), {{"sifive,test0", "sifive,testx"}}),
	      changed(virt_board(2).blob(), {{"sifive,clint0", "sifive,clintx"}}),
	      changed(virt_board(2).blob(), {{"riscv,clint0", "riscv,clintx"}}), changed(virt_board(2).blob(), {{clock, giga}})}) {
		machine m;
		EXPECT_EQ(read(usable, &m), nullptr);
		EXPECT_EQ(m.clint.base, 0x2000000u);
		EXPECT_EQ(m.finisher.base, 0x100000u);
	}
}

TEST(Machine, CutsLongBootargs)
{
	machine m;
	ASSERT_EQ(read(virt_board(1, std::string(1000, 'x')).blob(), &m), nullptr);
	EXPECT_EQ(strlen(m.bootargs), sizeof(m.bootargs) - 1);
}

TEST(Machine, RefusesTooManyHarts) { EXPECT_NE(refusal(virt_board(65)).find("below 64"), std::string::npos); }

TEST(Machine, RefusesAnEmptyTree)
{
	FdtBuilder b;
	b.begin("");
	b.end();
	EXPECT_NE(refusal(b), "");
}

TEST(Machine, RefusesNodesThatNeverEndOrNeverBegan)
{
	FdtBuilder open;
	open.begin("");
	EXPECT_NE(refusal(open).find("never ends"), std::string::npos);
	FdtBuilder closed;
	closed.end();
	EXPECT_NE(refusal(closed).find("never began"), std::string::npos);
}

TEST(Machine, RefusesDeepNesting)
{
	FdtBuilder b;
	for (int i = 0; i < 100; i++)
		b.begin("n");
	EXPECT_NE(refusal(b).find("deeply"), std::string::npos);
}

FdtBuilder with_extra(void (*add)(FdtBuilder &))
{
	FdtBuilder b;
	b.begin("");
	b.cells("#address-cells", {2});
	b.cells("#size-cells", {2});
	add(b);
	b.end();
	return b;
}

TEST(Machine, RefusesRegistersThatWrapAround)
{
	EXPECT_NE(refusal(with_extra([](FdtBuilder &b) {
			  b.begin("serial");
			  b.text("compatible", "ns16550a");
			  b.cells("reg", {0xffffffff, 0xffffffff, 0, 2});
			  b.end();
		  })).find("wrap around"),
		  std::string::npos);
}

TEST(Machine, RefusesShortReg)
{
	EXPECT_NE(refusal(with_extra([](FdtBuilder &b) {
			  b.begin("serial");
			  b.text("compatible", "ns16550a");
			  b.cells("reg", {0, 1});
			  b.end();
		  })).find("no usable reg"),
		  std::string::npos);
}

TEST(Machine, RefusesTwoHartsOfOneId)
{
	EXPECT_NE(refusal(with_extra([](FdtBuilder &b) {
			  for (int i = 0; i < 2; i++) {
				  b.begin("cpu");
				  b.text("device_type", "cpu");
				  b.cells("reg", {0, 3});
				  b.end();
			  }
		  })).find("distinct"),
		  std::string::npos);
}

} // namespace
