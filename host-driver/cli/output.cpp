// Output: trying is the only test that holds for every user and file system.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include "session/machine/error.hpp"

namespace hz::cli {

namespace fs = std::filesystem;

void require_writable_file(const char *option, const std::string &file)
{
	if (file.empty())
		return;
	const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd < 0)
		throw_errno(std::string(option) + ": " + file + " cannot be written");
	close(fd);
}

namespace {

// Where a file is, or would be made: links may lead to one that does not exist yet.
fs::path place_of(fs::path file)
{
	constexpr int most_links = 40; // as in Linux
	std::error_code none;
	for (int links = 0; links < most_links && fs::is_symlink(file, none); links++)
		file = file.parent_path() / fs::read_symlink(file, none);
	return fs::weakly_canonical(file, none);
}

// Neither of them needs to exist. What is written to a device file overwrites nothing.
bool same_file(const std::string &one, const std::string &other)
{
	std::error_code none;
	if (one.empty() || other.empty())
		return false;
	if (fs::exists(one, none) && fs::exists(other, none))
		return fs::is_regular_file(one, none) && fs::equivalent(one, other, none);
	return place_of(one) == place_of(other);
}

} // namespace

void require_apart(const NamedFile &written, std::initializer_list<NamedFile> others)
{
	for (const NamedFile &other : others)
		if (same_file(written.file, other.file))
			throw Error(std::string(written.option) + " would overwrite " + other.file + ", the file of " + other.option +
				    ": give it a file of its own");
}

void require_writable_folder(const char *option, const std::string &folder)
{
	if (folder.empty())
		return;
	std::error_code error;
	fs::create_directories(folder, error);
	if (error)
		throw Error(std::string(option) + ": the folder " + folder + " cannot be made: " + error.message());
	std::string probe = folder + "/.hartzone-XXXXXX";
	const int fd = mkstemp(probe.data());
	if (fd < 0)
		throw_errno(std::string(option) + ": no file can be made in " + folder);
	close(fd);
	unlink(probe.c_str());
}

void flush_output()
{
	errno = 0;
	std::cout.flush();
	if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good())
		return;
	throw Error(std::string("standard output cannot be written") + (errno ? ": " + std::string(std::strerror(errno)) : ""));
}

} // namespace hz::cli
