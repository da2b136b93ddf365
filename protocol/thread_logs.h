/* Figures of harts and locks: records of the vendor log pages filled by libthread. Little-endian. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_THREAD_LOGS_H
#define HZ_PROTOCOL_THREAD_LOGS_H

#include "base.h"

enum { HZ_MAX_LOCK_CLASSES = 16 };

/* Times in device ns since the last statistics reset; work + sum(spin) + idle = elapsed exactly. */
struct hz_hart_times {
	uint64_t elapsed_ns, work_ns, idle_ns;
	uint64_t spin_ns[HZ_MAX_LOCK_CLASSES]; /* by class of lock */
	uint64_t events;                       /* mailbox events run */
	uint32_t roles, hart;
};
HZ_ASSERT_SIZE(struct hz_hart_times, 168);

/* One lock instance. */
struct hz_lock_entry {
	uint32_t lock_class, index, kind, holder_changes_hi;
	uint64_t acquisitions, contended;
	uint64_t wait_ns, wait_max_ns, hold_ns, hold_max_ns;
	uint64_t handovers; /* acquisitions with another hart as the previous owner */
	uint32_t wait_p99_ns, hold_p99_ns;
};
HZ_ASSERT_SIZE(struct hz_lock_entry, 80);

#endif
