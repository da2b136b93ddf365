// BootWatch: the list of failures that QEMU survives was found by running them.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/boot_watch.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>
#include <fstream>
#include <sstream>

#include "session/machine/ledger_text.hpp"

namespace hz {

std::string read_tail(const std::filesystem::path &file, size_t limit)
{
	std::ifstream in(file, std::ios::binary | std::ios::ate);
	if (!in)
		return {};
	auto size = static_cast<size_t>(std::max<std::streamoff>(in.tellg(), 0));
	size_t want = std::min(size, limit);
	in.seekg(static_cast<std::streamoff>(size - want));
	std::string text(want, '\0');
	in.read(text.data(), static_cast<std::streamsize>(want));
	text.resize(static_cast<size_t>(in.gcount()));
	return text;
}

std::string known_qemu_failure(const std::string &qemu_log)
{
	static const char *const signs[] = {"vhost_set_mem_table failed", "Error starting vhost", "Failed to read msg header",
					    "unable to start vhost", "vhost_dev_start failed"};
	for (const char *sign : signs) {
		size_t at = qemu_log.find(sign);
		if (at != std::string::npos)
			return "QEMU lost its vsock device: " + qemu_log.substr(at, qemu_log.find('\n', at) - at);
	}
	return {};
}

namespace {
constexpr std::string_view plugin_says = "vclock: ", race_found = "vclock: RACE: ";
}

std::string plugin_failure(const std::string &qemu_log)
{
	std::istringstream lines(qemu_log);
	for (std::string line; std::getline(lines, line);)
		if (line.starts_with(plugin_says) && !line.starts_with(race_found))
			return line;
	return {};
}

std::string races_before(const std::string &qemu_log)
{
	std::istringstream lines(qemu_log);
	std::string races;
	for (std::string line; std::getline(lines, line);)
		if (line.starts_with(race_found))
			races += "\nrace: " + line.substr(race_found.size());
	return races;
}

namespace {

uint32_t state_of(const Region &region) { return std::atomic_ref(region.header().boot_state).load(std::memory_order_acquire); }

} // namespace

bool is_image_failure(const Region &region) { return state_of(region) == HZ_BOOT_BAD_IMAGE; }

std::string firmware_failure(const Region &region)
{
	if (state_of(region) != HZ_BOOT_FAILED && !is_image_failure(region))
		return {};
	const char *error = region.header().error;
	std::string text(error, strnlen(error, sizeof(region.header().error)));
	if (text.empty())
		return "the firmware failed without a word";
	if (region.memory().refused)
		return text + "; this is what it would hold:\n" + ledger_text(region.memory());
	return is_image_failure(region) ? text : "the firmware failed: " + text;
}

std::string last_line(const std::string &text)
{
	std::istringstream lines(text);
	std::string last;
	for (std::string line; std::getline(lines, line);)
		if (!line.starts_with(race_found) && std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalpha(c); }))
			last = line;
	return last;
}

} // namespace hz
