// Errors: texts of errno and of NVMe status codes.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/error.hpp"

#include <cerrno>
#include <cstring>
#include <libnvme.h>

namespace hz {

void throw_errno(const std::string &what)
{
	const int code = errno;
	throw Error(what + ": " + std::strerror(code) + (code == EMFILE ? " (raise the limit: ulimit -n)" : ""));
}

std::string status_text(uint16_t status)
{
	const char *text = nvme_status_to_string(status, false);
	return text ? text : "status " + std::to_string(status);
}

} // namespace hz
