// UnixSocket: sockets in a folder whose name may be of any length; the kernel takes 107 bytes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

#include "descriptor.hpp"

namespace hz {

// The address of `folder`/`name`, by way of a descriptor of the folder, as long as this object lives. Throws Error when there is no
// such folder.
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
