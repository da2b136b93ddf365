/* Contents of a trace file, line by line or record by record. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/trace_file.hpp"

#include "trace/record.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace hz::trace {
namespace {

struct Magic {
	const char *tool;
	std::string_view bytes;
};
constexpr Magic magics[] = {
	{"xz", std::string_view("\xfd"
				"7zXZ\0",
				6)},
	{"gzip", std::string_view("\x1f\x8b", 2)},
	{"zstd", std::string_view("\x28\xb5\x2f\xfd", 4)},
};

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf"; /* of UTF-8, at the begin of some programs' texts */

const char *tool_for(int fd)
{
	char head[8] = {};
	const ssize_t have = pread(fd, head, sizeof(head), 0);
	for (const Magic &magic : magics)
		if (have >= ssize_t(magic.bytes.size()) && memcmp(head, magic.bytes.data(), magic.bytes.size()) == 0)
			return magic.tool;
	return nullptr;
}

} // namespace

TraceFile::TraceFile(const std::string &path) : name_(path), buffer_(1 << 16)
{
	fd_ = file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* without waiting for the writer of a FIFO */
	if (fd_ < 0)
		throw TraceError(path + ":1: the trace cannot be opened: " + strerror(errno));
	struct stat status {};
	const bool regular = !fstat(fd_, &status) && S_ISREG(status.st_mode);
	file_bytes_ = uint64_t(status.st_size);
	std::string problem;
	if (!regular)
		problem = "a trace is read several times, so it must be a regular file";
	else if (const char *tool = tool_for(fd_))
		problem = start_tool(tool);
	if (problem.empty())
		return;
	close_files();
	throw TraceError(path + ":1: " + problem);
}

TraceFile::TraceFile(std::string_view content, const std::string &name)
	: name_(name), buffer_(content.begin(), content.end()), end_(content.size()), eof_(true)
{
}

TraceFile::~TraceFile()
{
	close_files();
	if (tool_pid_ > 0) {
		kill(tool_pid_, SIGKILL);
		waitpid(tool_pid_, nullptr, 0);
	}
}

void TraceFile::fail(const std::string &sentence) const
{
	throw TraceError(name_ + ":" + std::to_string(std::max<uint64_t>(number_, 1)) + ": " + sentence);
}

/* The tool shares our position in the file. */
uint32_t TraceFile::progress_ppm() const
{
	const off_t at = file_ < 0 ? 0 : lseek(file_, 0, SEEK_CUR);
	return at > 0 && file_bytes_ ? uint32_t(std::min(1.0, double(at) / double(file_bytes_)) * 1e6) : 0;
}

void TraceFile::close_files()
{
	if (fd_ >= 0)
		close(fd_);
	if (file_ >= 0 && file_ != fd_)
		close(file_);
}

/* The tool reads the open file as its standard input and writes into a pipe that becomes our fd. It
 * is in its own process group: Ctrl-C on the terminal reaches only this program, which reads on
 * until it ends in order. Returns the error. */
std::string TraceFile::start_tool(const char *tool)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return std::string("there is no pipe for ") + tool + ": " + strerror(errno);
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	sigset_t usual;
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE); /* so that it ends when the reader closes */
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd_, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	std::string name = tool, flags = "-dc";
	char *argv[] = {name.data(), flags.data(), nullptr};
	const int error = posix_spawnp(&tool_pid_, tool, &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(ends[1]);
	fd_ = ends[0];
	tool_ = tool;
	if (!error)
		return {};
	tool_pid_ = -1;
	return std::string("this is ") + tool + " data, but '" + tool + "' cannot be started: install it";
}

void TraceFile::finish_tool()
{
	int status = 0;
	const int pid = tool_pid_;
	if (pid <= 0)
		return;
	tool_pid_ = -1;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		fail(std::string("the ") + tool_ + " data end early or are damaged");
}

/* Moves the unread rest to the front and reads more; false when nothing more comes. */
bool TraceFile::refill()
{
	if (eof_)
		return false;
	memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
	end_ -= begin_;
	begin_ = 0;
	ssize_t got;
	do
		got = read(fd_, buffer_.data() + end_, buffer_.size() - end_);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		fail(std::string("read error: ") + strerror(errno));
	end_ += size_t(got);
	eof_ = got == 0;
	if (eof_)
		finish_tool();
	return !eof_;
}

bool TraceFile::next_line(std::string_view &line)
{
	size_t scanned = 0;
	for (;;) {
		const char *start = buffer_.data() + begin_;
		const size_t have = end_ - begin_;
		const void *end = have > scanned ? memchr(start + scanned, '\n', have - scanned) : nullptr;
		const size_t length = end ? size_t(static_cast<const char *>(end) - start) : have;
		if (length > max_line) {
			number_++;
			fail("the line is longer than " + std::to_string(max_line) + " bytes: this is not a text trace");
		}
		scanned = have;
		if (!end && refill())
			continue;
		if (!end && end_ == begin_)
			return false;
		line = std::string_view(buffer_.data() + begin_, length);
		begin_ += length + (end != nullptr);
		if (number_++ == 0 && line.starts_with(byte_order_mark))
			line.remove_prefix(byte_order_mark.size());
		if (!line.empty() && line.back() == '\r')
			line.remove_suffix(1);
		if (memchr(line.data(), 0, line.size()))
			fail("the line holds a NUL byte: this is not a text trace");
		return true;
	}
}

/* Has `size` bytes in the buffer; false when the content ends before. */
bool TraceFile::gather(size_t size)
{
	while (end_ - begin_ < size)
		if (!refill())
			return false;
	return true;
}

bool TraceFile::next_record(size_t size, std::string_view &record)
{
	if (!gather(size) && begin_ == end_)
		return false;
	number_++;
	if (end_ - begin_ < size)
		fail("the file ends in the middle of this record: " + std::to_string(end_ - begin_) + " of its " + std::to_string(size) +
		     " bytes are there");
	record = std::string_view(buffer_.data() + begin_, size);
	begin_ += size;
	return true;
}

void TraceFile::skip(size_t size)
{
	while (size > 0 && gather(1)) {
		const size_t part = std::min(size, end_ - begin_);
		begin_ += part;
		size -= part;
	}
	if (size > 0)
		fail("the file ends in the middle of this record: " + std::to_string(size) + " bytes behind it are missing");
}

std::string_view TraceFile::head()
{
	gather(max_line);
	return std::string_view(buffer_.data() + begin_, std::min(max_line, end_ - begin_));
}

} // namespace hz::trace
