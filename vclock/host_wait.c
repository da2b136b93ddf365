/* Waiting for the host and waking it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "frozen.h"
#include "shm.h"

void vc_host_wait(struct vc_hart *h)
{
	static const struct timespec at_most = { 0, 1000000 };
	struct hz_shm_header *header = vc.shm;

	vc.host_waits++;
	vc_frozen_progress(h);
	if (!h->frozen)
		vc_flag_run(VC_FLAG_UNFROZEN_HOST_WAIT);
	if (header)
		syscall(SYS_futex, &header->host_bell, FUTEX_WAIT, (uint32_t)h->slot->arg0, &at_most, NULL, 0);
	else
		nanosleep(&at_most, NULL);
}

void vc_host_wake(struct vc_hart *h)
{
	uint64_t queue = h->slot->arg0;
	struct hz_queue_clock *clocks;

	if (!vc.shm || queue > HZ_MAX_IO_QUEUES)
		return;
	vc.host_wakes++;
	clocks = (void *)((char *)vc.shm + HZ_SHM_QUEUES_OFFSET);
	syscall(SYS_futex, &clocks[queue].completed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
