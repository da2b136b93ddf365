/* Hashes of files, compiler notes of ELF files, and QEMU's version. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/software.hpp"

#include "results/elf_notes.hpp"
#include "results/sha256.hpp"

#include <fstream>
#include <string>

namespace hz::res {
namespace {

using nlohmann::json;

json or_null(const std::string &text) { return text.empty() ? json() : json(text); }

/* As printed by `--version`, which would take as long as a start. */
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
	std::ifstream image(firmware, std::ios::binary);
	return {{"firmware", {{"sha256", sha256_of_file(firmware)}, {"compiler", or_null(elf_compiler(image))}}},
		{"plugin", plugin.empty() ? json() : json({{"sha256", sha256_of_file(plugin)}})},
		{"driver", {{"build_id", or_null(own_build_id())}}},
		{"qemu", {{"version", or_null(qemu_version(qemu_greeting))}}}};
}

} // namespace hz::res
