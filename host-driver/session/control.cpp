// Control: what both kinds have in common.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/control.hpp"

#include <string>

#include "session/error.hpp"

namespace hz {

void require_success(const char *what, const AdminResult &result)
{
	if (result.status)
		throw NvmeError(std::string(what) + " failed: " + status_text(result.status), result.status);
}

} // namespace hz
