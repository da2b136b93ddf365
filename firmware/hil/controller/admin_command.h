/* Admin commands: what each handler is given, and gives back. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_ADMIN_COMMAND_H
#define HIL_ADMIN_COMMAND_H

#include <stdbool.h>

#include "nvme.h"

struct hil;
struct admin_result {
	uint32_t dw0;
	bool later; /* the completion comes by admin_answer */
};
/* sqe is a private copy. Returns an NVMe status. */
typedef uint16_t admin_handler(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result);

#endif
