/* Writes the result file, with its description of the host. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/run_facts.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

namespace hz::res {
namespace {

std::string cpu_model()
{
	std::ifstream in("/proc/cpuinfo");
	for (std::string line; std::getline(in, line);)
		if (line.starts_with("model name"))
			return line.substr(std::min(line.size(), line.find(':') + 2));
	return "unknown";
}

/* Links and devices stay: /dev/null is written into. */
bool may_be_replaced(const std::string &path)
{
	std::error_code none;
	const std::filesystem::file_status status = std::filesystem::symlink_status(path, none);
	return !exists(status) || is_regular_file(status);
}

} // namespace

nlohmann::json host_info()
{
	utsname names{};
	uname(&names);
	return {{"cpu", cpu_model()},
		{"cores", std::thread::hardware_concurrency()},
		{"machine", names.machine},
		{"kernel", names.release}};
}

void write_whole(const std::string &text, const std::string &path)
{
	const std::string written = may_be_replaced(path) ? path + ".part" : path;
	std::ofstream out(written, std::ios::binary);
	out << text;
	out.close();
	if (out && (written == path || !std::rename(written.c_str(), path.c_str())))
		return;
	const std::string cause = std::strerror(errno);
	if (written != path)
		unlink(written.c_str()); // a folder of that name stays
	throw std::runtime_error("the result cannot be written to " + path + ": " + cause);
}

void write_result(const nlohmann::json &result, const std::string &path)
{
	write_whole(result.dump(1, '\t', false, nlohmann::json::error_handler_t::replace) + '\n', path); /* file names need not be UTF-8 */
}

} // namespace hz::res
