// Builds flattened device trees byte by byte, right or wrong, for the tests of fdt.c and machine.c.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

class FdtBuilder {
public:
	void cell(uint32_t value)
	{
		for (int shift = 24; shift >= 0; shift -= 8)
			structure.push_back(static_cast<uint8_t>(value >> shift));
	}
	void begin(const std::string &name)
	{
		cell(1);
		bytes(name.data(), name.size() + 1);
	}
	void end() { cell(2); }
	void nop() { cell(4); }
	void property(const std::string &name, const std::string &value)
	{
		cell(3);
		cell(static_cast<uint32_t>(value.size()));
		cell(string_offset(name));
		bytes(value.data(), value.size());
	}
	void text(const std::string &name, const std::string &value) { property(name, value + '\0'); }
	void cells(const std::string &name, const std::vector<uint32_t> &values)
	{
		std::string value;
		for (uint32_t v : values)
			for (int shift = 24; shift >= 0; shift -= 8)
				value.push_back(static_cast<char>(v >> shift));
		property(name, value);
	}
	// Header, memory reservation block, structure block, strings block.
	std::vector<uint8_t> blob(bool finish = true)
	{
		if (finish)
			cell(9);
		uint32_t at = 40 + 16, strings_at = at + static_cast<uint32_t>(structure.size());
		uint32_t total = strings_at + static_cast<uint32_t>(strings.size());
		std::vector<uint8_t> body = structure;
		structure.clear();
		for (uint32_t v : {0xd00dfeedu, total, at, strings_at, 40u, 17u, 16u, 0u, static_cast<uint32_t>(strings.size()),
				   static_cast<uint32_t>(body.size()), 0u, 0u, 0u, 0u})
			cell(v);
		std::vector<uint8_t> all = structure;
		all.insert(all.end(), body.begin(), body.end());
		all.insert(all.end(), strings.begin(), strings.end());
		return all;
	}

private:
	void bytes(const char *data, size_t count)
	{
		structure.insert(structure.end(), data, data + count);
		while (structure.size() % 4)
			structure.push_back(0);
	}
	uint32_t string_offset(const std::string &name)
	{
		auto [at, is_new] = offsets.try_emplace(name, static_cast<uint32_t>(strings.size()));
		if (is_new)
			strings.insert(strings.end(), name.c_str(), name.c_str() + name.size() + 1);
		return at->second;
	}
	std::vector<uint8_t> structure, strings;
	std::map<std::string, uint32_t> offsets;
};

// A board like QEMU virt with that many harts.
inline FdtBuilder virt_board(unsigned harts, const std::string &bootargs = "")
{
	FdtBuilder b;
	b.begin("");
	b.cells("#address-cells", {2});
	b.cells("#size-cells", {2});
	b.begin("memory@80000000");
	b.text("device_type", "memory");
	b.cells("reg", {0, 0x80000000, 1, 0});
	b.end();
	b.begin("cpus");
	b.cells("#address-cells", {1});
	b.cells("#size-cells", {0});
	b.cells("timebase-frequency", {10000000});
	for (unsigned i = 0; i < harts; i++) {
		b.begin("cpu@" + std::to_string(i));
		b.text("device_type", "cpu");
		b.cells("reg", {i});
		b.begin("interrupt-controller");
		b.end();
		b.end();
	}
	b.end();
	b.begin("chosen");
	if (!bootargs.empty())
		b.text("bootargs", bootargs);
	b.end();
	b.begin("soc");
	b.cells("#address-cells", {2});
	b.cells("#size-cells", {2});
	b.begin("serial@10000000");
	b.text("compatible", "ns16550a");
	b.cells("reg", {0, 0x10000000, 0, 0x100});
	b.end();
	b.begin("test@100000");
	b.cells("reg", {0, 0x100000, 0, 0x1000});
	b.property("compatible", std::string("sifive,test1\0sifive,test0\0syscon\0", 32));
	b.end();
	b.begin("clint@2000000");
	b.property("compatible", std::string("sifive,clint0\0riscv,clint0\0", 27));
	b.cells("reg", {0, 0x2000000, 0, 0x10000});
	b.end();
	for (uint32_t base : {0x10008000u, 0x10007000u}) {
		b.begin("virtio_mmio@" + std::to_string(base));
		b.text("compatible", "virtio,mmio");
		b.cells("reg", {0, base, 0, 0x1000});
		b.end();
	}
	b.begin("pci@30000000");
	b.cells("#address-cells", {3});
	b.cells("#size-cells", {2});
	b.text("compatible", "pci-host-ecam-generic");
	b.cells("reg", {0, 0x30000000, 0, 0x10000000});
	b.cells("ranges", {0x1000000,  0, 0,          0,         0x3000000, 0, 0x10000, 0x2000000, 0, 0x40000000, 0,
			   0x40000000, 0, 0x40000000, 0x3000000, 4,         0, 4,       0,         4, 0});
	b.end();
	b.end();
	b.end();
	return b;
}
