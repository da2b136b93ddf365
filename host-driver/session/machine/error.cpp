// Errors: texts of errno and of NVMe status codes.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/error.hpp"

#include <cerrno>
#include <cstring>
#include <libnvme.h>
#include <sys/resource.h>

namespace hz {

void throw_errno(const std::string &what)
{
	const int code = errno;
	rlimit files{};
	const bool limited = code == EFBIG && !getrlimit(RLIMIT_FSIZE, &files) && files.rlim_cur != RLIM_INFINITY;
	throw Error(what + ": " + std::strerror(code) +
		    (code == EMFILE ? " (raise the limit: ulimit -n)"
		     : limited      ? " (a limit is set: ulimit -f unlimited)"
				    : ""));
}

std::string status_text(uint16_t status)
{
	constexpr uint16_t in_place_budget = 0x7c0; // NVME_HZ_IN_PLACE_BUDGET; protocol/nvme.h and libnvme.h have names in common
	if (status == in_place_budget)
		return "In-Place Budget Exceeded: no more sectors of sequential zones may be written again before zones are reset or finished";
	const char *text = nvme_status_to_string(status, false);
	return text ? text : "status " + std::to_string(status);
}

} // namespace hz
