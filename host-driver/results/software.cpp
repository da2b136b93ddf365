/* Hashes of files, what ELF files say of themselves, and QEMU of itself. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/software.hpp"

#include "results/elf_notes.hpp"
#include "results/sha256.hpp"

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

json or_null(const std::string &text) { return text.empty() ? json() : json(text); }

/* As `--version` prints it, which takes as long as a start. */
std::string qemu_version(const std::string &greeting)
{
	const json said = json::parse(greeting, nullptr, false);
	try {
		const json &version = said.at("QMP").at("version"), &number = version.at("qemu");
		const std::string package = version.at("package");
		std::string text = "QEMU emulator version " + std::to_string(number.at("major").get<int>()) + "." +
				   std::to_string(number.at("minor").get<int>()) + "." + std::to_string(number.at("micro").get<int>());
		return package.empty() ? text : text + " (" + package + ")";
	} catch (const json::exception &) {
		return "";
	}
}

} // namespace

json software_of_others()
{
	return {{"firmware", nullptr}, {"plugin", nullptr}, {"driver", {{"build_id", or_null(own_build_id())}}}, {"qemu", nullptr}};
}

json software_info(const std::filesystem::path &firmware, const std::filesystem::path &plugin, const std::string &qemu_greeting)
{
	const std::string image = bytes_of(firmware);
	return {{"firmware", {{"sha256", sha256(image)}, {"compiler", or_null(elf_compiler(image))}}},
		{"plugin", plugin.empty() ? json() : json({{"sha256", sha256_of_file(plugin)}})},
		{"driver", {{"build_id", or_null(own_build_id())}}},
		{"qemu", {{"version", or_null(qemu_version(qemu_greeting))}}}};
}

} // namespace hz::res
