// pci.c against a small model of a bus: sizing, placement, alignment, refusal.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "platform/pci.h"

namespace {

// Configuration space whose BAR registers behave as hardware: the low bits are fixed, address bits below the size read as zero.
class Bus {
public:
	struct Bar {
		uint64_t bytes;
		bool wide, io;
	};
	void add(uint32_t device, uint16_t vendor, uint16_t id, std::vector<Bar> bars, uint32_t function = 0, bool multi = false)
	{
		uint32_t config = device << 15 | function << 12;
		word[config] = static_cast<uint32_t>(id) << 16 | vendor;
		word[config + 12] = multi ? 0x800000 : 0;
		uint32_t reg = config + 16;
		for (const Bar &bar : bars) {
			uint32_t flags = bar.io ? 1 : bar.wide ? 0xc : 0;
			uint64_t mask = bar.bytes ? ~(bar.bytes - 1) : 0;
			fixed[reg] = {static_cast<uint32_t>(mask), bar.bytes ? flags : 0};
			if (bar.wide)
				fixed[reg + 4] = {static_cast<uint32_t>(mask >> 32), 0};
			reg += bar.wide ? 8 : 4;
		}
	}
	pci_access access()
	{
		return {[](void *ctx, uint32_t at) { return static_cast<Bus *>(ctx)->read(at); },
			[](void *ctx, uint32_t at, uint32_t value) { static_cast<Bus *>(ctx)->write(at, value); }, this};
	}
	uint32_t read(uint32_t at)
	{
		uint32_t config = at & ~0xfffu;
		if (!word.count(config))
			return UINT32_MAX;
		if (auto it = fixed.find(at); it != fixed.end())
			return (word[at] & it->second.first) | it->second.second;
		bool bar = (at & 0xfff) >= 0x10 && (at & 0xfff) < 0x28;
		return !bar && word.count(at) ? word[at] : 0; // a BAR that is not there is hardwired to zero
	}
	void write(uint32_t at, uint32_t value) { word[at] = value; }

private:
	std::map<uint32_t, uint32_t> word;
	std::map<uint32_t, std::pair<uint32_t, uint32_t>> fixed;
};

machine board(uint64_t high_bytes = 16ull << 30)
{
	machine m = {};
	m.mem32 = {0x40000000, 0x40000000, 0x40000000};
	m.mem64 = {0x400000000, 0x400000000, high_bytes};
	return m;
}

struct Range {
	uint64_t base, bytes;
};

std::vector<Range> placed(const pci_bus &bus)
{
	std::vector<Range> all;
	for (uint32_t i = 0; i < bus.count; i++)
		for (const pci_bar &bar : bus.function[i].bar)
			if (bar.bytes)
				all.push_back({bar.base, bar.bytes});
	return all;
}

TEST(Pci, PlacesIvshmemPair)
{
	Bus hardware;
	hardware.add(0, 0x1b36, 8, {});
	hardware.add(1, 0x1af4, 0x1110, {{256, false, false}, {0, false, false}, {16 << 20, true, false}});
	hardware.add(2, 0x1af4, 0x1110, {{256, false, false}, {0, false, false}, {8ull << 30, true, false}});
	pci_bus bus;
	pci_access access = hardware.access();
	machine m = board();
	ASSERT_EQ(pci_scan(&bus, &access, &m), nullptr);
	ASSERT_EQ(bus.count, 3u);
	EXPECT_EQ(bus.function[2].bar[2].base, 0x400000000u) << "largest first";
	EXPECT_EQ(bus.function[1].bar[2].base, 0x400000000u + (8ull << 30));
	EXPECT_EQ(hardware.read((1 << 15) + 0x1c), 0x6u) << "high half of the address";
	EXPECT_EQ(hardware.read((1 << 15) + 4) & 2u, 2u) << "memory decoding is on";
	EXPECT_EQ(bus.function[1].bar[0].bytes, 256u);
	EXPECT_EQ(bus.function[1].bar[0].base >> 28, 4u);
}

TEST(Pci, FallsBackToTheLowWindowAndThenRefuses)
{
	Bus hardware;
	hardware.add(1, 1, 1, {{4ull << 30, true, false}});
	hardware.add(2, 1, 1, {{512 << 20, true, false}});
	pci_bus bus;
	pci_access access = hardware.access();
	machine m = board(4ull << 30);
	ASSERT_EQ(pci_scan(&bus, &access, &m), nullptr);
	EXPECT_EQ(bus.function[1].bar[0].base, 0x40000000u);
	m = board(2ull << 30);
	EXPECT_NE(pci_scan(&bus, &access, &m), nullptr);
}

TEST(Pci, AlignsWithinAnOddWindow)
{
	Bus hardware;
	hardware.add(1, 1, 1, {{65536, false, false}, {65536, false, false}});
	pci_bus bus;
	pci_access access = hardware.access();
	machine m = board();
	m.mem32 = {0x50001000, 0x40001000, 0x30000};
	ASSERT_EQ(pci_scan(&bus, &access, &m), nullptr);
	EXPECT_EQ(hardware.read((1 << 15) + 0x10), 0x40010000u) << "the bus address is aligned";
	EXPECT_EQ(bus.function[0].bar[0].base, 0x50010000u) << "the processor sees it where the bridge maps it";
	m.mem32.bytes = 0x20000;
	EXPECT_NE(pci_scan(&bus, &access, &m), nullptr) << "what alignment costs counts";
}

TEST(Pci, SkipsIoBarsAndReadsAllFunctions)
{
	Bus hardware;
	hardware.add(3, 1, 10, {{32, false, true}, {4096, false, false}}, 0, true);
	hardware.add(3, 1, 11, {{65536, true, false}}, 5, true);
	pci_bus bus;
	pci_access access = hardware.access();
	machine m = board();
	hardware.write((3 << 15) + 0x10, 0xc000);
	ASSERT_EQ(pci_scan(&bus, &access, &m), nullptr);
	ASSERT_EQ(bus.count, 2u);
	EXPECT_EQ(bus.function[0].bar[0].bytes, 0u);
	EXPECT_EQ(hardware.read((3 << 15) + 0x10), 0xc001u) << "where it was";
	EXPECT_EQ(bus.function[0].bar[1].bytes, 4096u);
	EXPECT_EQ(bus.function[1].device, 11u);
}

TEST(Pci, RandomBusesNeverOverlap)
{
	const uint64_t seed = 7;
	std::mt19937_64 random(seed);
	for (int turn = 0; turn < 500; turn++) {
		Bus hardware;
		for (uint32_t device = 0; device < 8; device++)
			hardware.add(device, 1, 1,
				     {{1ull << (4 + random() % 16), false, false}, {1ull << (12 + random() % 20), true, false}});
		pci_bus bus;
		pci_access access = hardware.access();
		machine m = board();
		ASSERT_EQ(pci_scan(&bus, &access, &m), nullptr) << "seed " << seed << " turn " << turn;
		auto all = placed(bus);
		ASSERT_EQ(all.size(), 16u);
		for (size_t i = 0; i < all.size(); i++) {
			ASSERT_EQ(all[i].base % all[i].bytes, 0u);
			for (size_t j = 0; j < i; j++)
				ASSERT_TRUE(all[i].base + all[i].bytes <= all[j].base || all[j].base + all[j].bytes <= all[i].base)
					<< "seed " << seed << " turn " << turn;
		}
	}
}

TEST(Pci, RandomConfigurationSpaceIsHarmless)
{
	static std::mt19937_64 random(11);
	pci_access access = {[](void *, uint32_t) { return static_cast<uint32_t>(random()); }, [](void *, uint32_t, uint32_t) {}, nullptr};
	pci_bus bus;
	machine m = board();
	for (int turn = 0; turn < 2000; turn++) {
		pci_scan(&bus, &access, &m);
		ASSERT_LE(bus.count, static_cast<uint32_t>(PCI_MAX_FUNCTIONS));
	}
}

} // namespace
