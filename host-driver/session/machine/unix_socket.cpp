// UnixSocket: /proc/self/fd leads into the folder.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/unix_socket.hpp"

#include <cstring>
#include <fcntl.h>

#include "session/machine/error.hpp"
#include "session/machine/locate.hpp"

namespace hz {

UnixAddress::UnixAddress(const std::filesystem::path &folder, const std::string &name)
	: folder_(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))
{
	if (!folder_)
		throw_errno("cannot open the folder " + folder.string());
	require_proc();
	const std::string path = "/proc/self/fd/" + std::to_string(folder_.get()) + "/" + name;
	address_.sun_family = AF_UNIX;
	if (path.size() >= sizeof(address_.sun_path))
		throw Error("the socket name " + name + " is too long");
	std::memcpy(address_.sun_path, path.c_str(), path.size() + 1);
}

} // namespace hz
