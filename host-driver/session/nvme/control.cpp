// Control: functions common to both kinds.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/nvme/control.hpp"

#include <string>

#include "session/machine/error.hpp"

namespace hz {

void require_success(const char *what, const AdminResult &result)
{
	if (result.status)
		throw NvmeError(std::string(what) + " failed: " + status_text(result.status), result.status);
}

bool for_the_owner_alone(const nvme_sqe &sqe)
{
	switch (sqe.opcode) {
	case NVME_ADMIN_CREATE_SQ:
	case NVME_ADMIN_CREATE_CQ:
	case NVME_ADMIN_DELETE_SQ:
	case NVME_ADMIN_DELETE_CQ:
	case NVME_ADMIN_DBBUF:
	case NVME_ADMIN_ASYNC_EVENT: return true;
	case NVME_ADMIN_SET_FEATURES: return (sqe.cdw10 & 0xff) == NVME_FEAT_NUMBER_OF_QUEUES;
	default: return false;
	}
}

} // namespace hz
