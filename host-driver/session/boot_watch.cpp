// BootWatch: the list of failures that QEMU survives was found by running them (docs/design.md).
#include "session/boot_watch.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>
#include <fstream>
#include <sstream>

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

std::string plugin_failure(const std::string &qemu_log)
{
	const size_t at = ("\n" + qemu_log).find("\nvclock: ");
	return at == std::string::npos ? std::string() : qemu_log.substr(at, qemu_log.find('\n', at) - at);
}

std::string firmware_failure(const Region &region)
{
	auto &header = region.header();
	if (std::atomic_ref(header.boot_state).load(std::memory_order_acquire) != HZ_BOOT_FAILED)
		return {};
	std::string text(header.error, strnlen(header.error, sizeof(header.error)));
	return text.empty() ? "the firmware failed without a word" : "the firmware failed: " + text;
}

std::string last_line(const std::string &text)
{
	std::istringstream lines(text);
	std::string last;
	for (std::string line; std::getline(lines, line);)
		if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalpha(c); }))
			last = line;
	return last;
}

} // namespace hz
