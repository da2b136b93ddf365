/* Records as lines of the native trace format. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/native_writer.hpp"

#include "trace/formats.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace hz::trace {
namespace {

constexpr size_t output_buffer = 1 << 20;

char *add_number(char *out, uint64_t value) { return std::to_chars(out, out + 20, value).ptr; }

char *add_text(char *out, std::string_view text)
{
	memcpy(out, text.data(), text.size());
	return out + text.size();
}

[[noreturn]] void cannot(const std::string &path, const char *what)
{
	throw TraceError(path + ": the trace cannot be " + what + ": " + strerror(errno));
}

} // namespace

char *write_line(char *out, const Record &r)
{
	const bool address = r.op != Op::flush && r.op != Op::reset_all, length = moves_data(r.op) || r.op == Op::append;
	out = add_number(out, r.time_ns);
	*out++ = ' ';
	out = add_number(out, r.stream);
	*out++ = ' ';
	out = add_text(out, op_name(r.op));
	if (address) {
		*out++ = ' ';
		if (r.zoned) {
			*out++ = 'z';
			out = add_number(out, r.zone);
			*out++ = '+';
		}
		out = add_number(out, r.offset);
	}
	if (length) {
		*out++ = ' ';
		out = add_number(out, r.bytes);
	}
	if (r.flush_first)
		out = add_text(out, " flush-first");
	if (r.durable)
		out = add_text(out, " durable");
	for (size_t hint = 0; r.hints >> hint; hint++)
		if (r.hints >> hint & 1) {
			*out++ = ' ';
			out = add_text(out, hint_name(hint));
		}
	for (const After &after : r.after)
		if (after.records) {
			out = add_number(add_text(out, " after="), after.stream);
			*out++ = ':';
			out = add_number(out, after.records);
		}
	if (r.think_ns)
		out = add_number(add_text(out, " think="), r.think_ns);
	return out;
}

NativeWriter::NativeWriter(const std::string &path) : path_(path), buffer_(output_buffer)
{
	if (path == "-") {
		fd_ = STDOUT_FILENO;
		return;
	}
	if (access(path.c_str(), F_OK) == 0)
		throw TraceError(path + ": the file exists: remove it, or choose another name");
	part_ = path + ".part";
	fd_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd_ < 0)
		cannot(path_, "made");
}

NativeWriter::~NativeWriter()
{
	if (part_.empty())
		return;
	close(fd_);
	unlink(part_.c_str());
}

void NativeWriter::write_out()
{
	for (size_t done = 0; done < used_;) {
		const ssize_t part = write(fd_, buffer_.data() + done, used_ - done);
		if (part < 0 && errno != EINTR)
			cannot(path_, "written");
		done += part > 0 ? size_t(part) : 0;
	}
	used_ = 0;
}

void NativeWriter::put(const Record &record)
{
	char *out = buffer_.data() + used_;
	if (records_++ == 0)
		out = add_text(out, record.shared_space ? "hartzone-trace 2 unit=1 space=shared\n" : "hartzone-trace 2 unit=1\n");
	out = write_line(out, record);
	*out++ = '\n';
	used_ = size_t(out - buffer_.data());
	if (used_ + 2 * longest_line > buffer_.size())
		write_out();
}

void NativeWriter::finish()
{
	write_out();
	if (part_.empty())
		return;
	if (close(fd_) || rename(part_.c_str(), path_.c_str())) {
		unlink(part_.c_str());
		part_.clear();
		cannot(path_, "written");
	}
	part_.clear();
}

} // namespace hz::trace
