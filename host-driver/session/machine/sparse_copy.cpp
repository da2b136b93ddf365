// Sparse copy: from one stretch of data to the next.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/sparse_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "session/machine/descriptor.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"

namespace hz {

namespace {

constexpr size_t piece_bytes = 1 << 20;

void write_all(int fd, const char *data, size_t bytes, off_t at, const std::filesystem::path &file)
{
	while (bytes) {
		const ssize_t done = pwrite(fd, data, bytes, at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			throw_errno("cannot write " + file.string());
		data += done;
		bytes -= static_cast<size_t>(done);
		at += done;
	}
}

// Copies [at, end).
void copy_stretch(int in, int out, off_t at, off_t end, const std::filesystem::path &from, const std::filesystem::path &to)
{
	const auto piece = std::make_unique<char[]>(piece_bytes);
	while (at < end) {
		check_interrupted();
		const ssize_t got = pread(in, piece.get(), std::min(piece_bytes, static_cast<size_t>(end - at)), at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			throw_errno("cannot read " + from.string());
		write_all(out, piece.get(), static_cast<size_t>(got), at, to);
		at += got;
	}
}

} // namespace

void copy_sparsely(const std::filesystem::path &from, const std::filesystem::path &to)
{
	const Descriptor in(open(from.c_str(), O_RDONLY | O_CLOEXEC));
	struct stat info {};
	if (!in || fstat(in.get(), &info))
		throw_errno("cannot read " + from.string());
	const Descriptor out(open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	if (!out || ftruncate(out.get(), info.st_size))
		throw_errno("cannot write " + to.string());
	for (off_t end = 0;;) {
		const off_t at = lseek(in.get(), end, SEEK_DATA);
		if (at < 0 && errno == ENXIO) // nothing but a hole is left
			return;
		end = at < 0 ? -1 : lseek(in.get(), at, SEEK_HOLE);
		if (end < 0)
			throw_errno("cannot read " + from.string());
		copy_stretch(in.get(), out.get(), at, end, from, to);
	}
}

} // namespace hz
