// QemuCommand: guest RAM and both ivshmem regions are shared files; without share=on vhost-user hangs instead of failing.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/qemu_command.hpp"

#include <algorithm>
#include <cstdlib>

#include "nand_image.h"
#include "session/machine/error.hpp"
#include "session/machine/locate.hpp"

namespace hz {

namespace {

// QEMU splits option values at commas; a literal comma is doubled.
std::string quoted(const std::string &text)
{
	std::string result;
	for (char c : text)
		result += c == ',' ? std::string(",,") : std::string(1, c);
	return result;
}

// As seen from the run directory.
std::string name(const std::filesystem::path &file) { return file.filename().string(); }

std::string memory_file(const char *id, uint64_t bytes, const std::string &file)
{
	return std::string("memory-backend-file,id=") + id + ",size=" + std::to_string(bytes) + ",mem-path=" + quoted(file) + ",share=on";
}

// Follows firmware/platform/pci.c: the larger one first, above 4 GiB while there is room. The last
// bytes of the lower window are reserved for the registers of both functions.
bool bars_fit(uint64_t nand_bytes, uint64_t shm_bytes)
{
	uint64_t high = HZ_NAND_IMAGE_MOST, low = (1ull << 30) - 1;
	for (const uint64_t bytes : {std::max(nand_bytes, shm_bytes), std::min(nand_bytes, shm_bytes)}) {
		uint64_t &window = bytes <= high ? high : low;
		if (bytes > window)
			return false;
		window -= bytes;
	}
	return true;
}

} // namespace

uint64_t most_shm_bytes(uint64_t nand_bytes)
{
	uint64_t bytes = HZ_NAND_IMAGE_MOST;
	while (bytes && !bars_fit(nand_bytes, bytes))
		bytes /= 2;
	return bytes;
}

std::vector<std::string> split_options(const std::string &text)
{
	std::vector<std::string> all(1);
	for (size_t i = 0; i < text.size(); i++) {
		if (text[i] != ',')
			all.back() += text[i];
		else if (i + 1 < text.size() && text[i + 1] == ',')
			all.back() += text[i++];
		else
			all.emplace_back();
	}
	std::erase(all, "");
	return all;
}

std::vector<std::string> QemuCommand::arguments(int daemon) const
{
	std::vector<std::string> a = {
		qemu_program(),
		"-M",
		"virt,memory-backend=ram",
		"-accel",
		"tcg,thread=multi",
		"-smp",
		std::to_string(harts),
		"-m",
		std::to_string(ram_bytes >> 20) + "M",
		"-nodefaults",
		"-display",
		"none",
		"-monitor",
		"none",
		"-no-reboot",
		"-bios",
		"none",
		"-kernel",
		firmware.string(),
		"-object",
		memory_file("ram", ram_bytes, name(ram())),
		"-object",
		memory_file("shm", shm_bytes, name(shm())),
		"-device",
		"ivshmem-plain,memdev=shm,master=on,addr=0x1",
		"-object",
		memory_file("nand", nand_bytes, nand_image.string()),
		"-device",
		"ivshmem-plain,memdev=nand,master=on,addr=0x2",
		"-chardev",
		"file,id=console,path=" + name(console()),
		"-serial",
		"chardev:console",
		"-chardev",
		"file,id=qmp,path=" + name(qemu_greeting()),
		"-mon",
		"chardev=qmp,mode=control",
		"-global",
		"virtio-mmio.force-legacy=false",
	};
	if (kernel_vsock_cid)
		a.insert(a.end(), {"-device", "vhost-vsock-device,guest-cid=" + std::to_string(kernel_vsock_cid)});
	else
		a.insert(a.end(),
			 {"-chardev", "socket,id=vsock,fd=" + std::to_string(daemon), "-device", "vhost-user-vsock-device,chardev=vsock"});
	if (plugin.empty())
		return a;
	a.insert(a.end(), {"-plugin", quoted(plugin.string())});
	for (const std::string &option : plugin_options)
		a.back() += "," + quoted(option);
	return a;
}

// The heap begins large, in huge pages (glibc's tunables): a short run has 6,000 page faults less
// of 11,000. The user's own setting comes later and overrides it.
std::vector<std::string> QemuCommand::settings()
{
	const char *users = std::getenv("GLIBC_TUNABLES");
	return {std::string("GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216:glibc.malloc.arena_max=1") +
		(users ? std::string(":") + users : "")};
}

} // namespace hz
