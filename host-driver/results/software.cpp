/* Hashes of files, what ELF files say of themselves, and QEMU's word. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/software.hpp"

#include "results/elf_notes.hpp"
#include "results/sha256.hpp"
#include "session/locate.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

namespace hz::res {
namespace {

using nlohmann::json;

std::string bytes_of(const std::filesystem::path &file)
{
	std::ifstream in(file, std::ios::binary);
	std::string bytes;
	char piece[1 << 16];
	while (in.read(piece, sizeof(piece)), in.gcount())
		bytes.append(piece, size_t(in.gcount()));
	if (in.bad() || !in.is_open())
		throw std::runtime_error(file.string() + " cannot be read");
	return bytes;
}

std::string shell_word(const std::string &text)
{
	std::string out = "'";
	for (const char c : text)
		out += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return out + "'";
}

json or_null(const std::string &text) { return text.empty() ? json() : json(text); }

/* Its first line. A script that stands for QEMU (HARTZONE_QEMU) may have none. */
std::string qemu_version()
{
	char line[256] = "";
	FILE *out = popen(("exec " + shell_word(qemu_program()) + " --version 2>/dev/null").c_str(), "re");
	if (!out)
		return "";
	const bool any = std::fgets(line, sizeof(line), out);
	pclose(out);
	line[strcspn(line, "\n")] = 0;
	return any ? line : "";
}

} // namespace

json software_of_others()
{
	return {{"firmware", nullptr}, {"plugin", nullptr}, {"driver", {{"build_id", or_null(own_build_id())}}}, {"qemu", nullptr}};
}

json software_info(const std::filesystem::path &firmware, const std::filesystem::path &plugin)
{
	const std::string image = bytes_of(firmware);
	return {{"firmware", {{"sha256", sha256(image)}, {"compiler", or_null(elf_compiler(image))}}},
		{"plugin", plugin.empty() ? json() : json({{"sha256", sha256_of_file(plugin)}})},
		{"driver", {{"build_id", or_null(own_build_id())}}},
		{"qemu", {{"version", or_null(qemu_version())}}}};
}

} // namespace hz::res
