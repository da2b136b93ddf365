// UnixSocket: sockets in a folder with a name of any length; the kernel's limit is 107 bytes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

#include "descriptor.hpp"

namespace hz {

// The address of `folder`/`name`, through a descriptor of the folder; valid while this object
// lives. Throws Error if the folder does not exist.
class UnixAddress {
public:
	UnixAddress(const std::filesystem::path &folder, const std::string &name);

	const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address_); }
	static constexpr socklen_t bytes = sizeof(sockaddr_un);

private:
	Descriptor folder_;
	sockaddr_un address_{};
};

} // namespace hz
