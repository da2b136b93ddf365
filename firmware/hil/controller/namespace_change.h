/* Namespace Management and Namespace Attachment (base spec 5.23, 5.22): one change at a time, since the admin queue waits for its end.
 *
 * A namespace has a slot, a window that the configuration gives it: to create one takes a free slot. To delete one ends what the host has
 * asked of it, as a controller reset does, and then gives back all that its FTL holds; until that is done the slot is kept as DELETED, and
 * who creates a namespace there does it first. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_NAMESPACE_CHANGE_H
#define HIL_NAMESPACE_CHANGE_H

#include "ftl/request/ftl_request.h"
#include "hil/controller/admin_command.h"

struct namespace_change {
	bool busy;
	struct nvme_sqe sqe; /* the command */
	uint32_t number;     /* of the namespace whose data go away */
	uint32_t step;
	uint64_t sectors; /* of the one that takes its place; 0: none */
	struct ftl_request req;
	struct nvme_dsm_range all_conventional;
	uint8_t *list[1];
};

admin_handler admin_namespace_management, admin_namespace_attachment;

#endif
