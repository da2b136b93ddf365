/* Cost of a mount, by step. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_MOUNT_REPORT_H
#define HZ_PROTOCOL_MOUNT_REPORT_H

#include "base.h"

enum hz_mount_step {
#define HZ_MOUNT_STEP(constant, name, text) HZ_MOUNT_##constant,
#include "mount_steps.def"
#undef HZ_MOUNT_STEP
	HZ_MOUNT_STEPS
};

struct hz_mount_cost {
	uint64_t ns;     /* device time: instructions, and waiting for the flash */
	uint64_t senses; /* by a die, of one page or of one on each of several planes */
	uint64_t pages;
	uint64_t bytes; /* across channels */
};
struct hz_mount_report {
	struct hz_mount_cost step[HZ_MOUNT_STEPS];
};

#endif
