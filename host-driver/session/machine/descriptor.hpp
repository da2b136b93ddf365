// Descriptor: a file descriptor that is closed when its owner goes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace hz {

class Descriptor {
public:
	Descriptor() = default;
	explicit Descriptor(int fd) : fd_(fd) {}
	Descriptor(Descriptor &&other) noexcept : fd_(other.release()) {}
	Descriptor &operator=(Descriptor &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	// Preserves errno, so that an error path may close first and report then.
	~Descriptor()
	{
		const int code = errno;
		if (fd_ >= 0)
			close(fd_);
		errno = code;
	}

	int get() const { return fd_; }
	explicit operator bool() const { return fd_ >= 0; }
	int release() { return std::exchange(fd_, -1); }

private:
	int fd_ = -1;
};

} // namespace hz
