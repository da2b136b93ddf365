/* Numbers of the logical locks of logical_locks.def. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_LOGICAL_LOCKS_H
#define HZ_PROTOCOL_LOGICAL_LOCKS_H

#include "vclock_abi.h"

enum hz_logical_lock {
#define HZ_LOGICAL_LOCK(constant, ...) HZ_LOGICAL_##constant,
#include "logical_locks.def"
	HZ_LOGICAL_LOCKS
};
HZ_STATIC_ASSERT((int)HZ_LOGICAL_LOCKS <= (int)HZ_VC_LOGICAL_LOCKS, "each has a hypercall");

#endif
