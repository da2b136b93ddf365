/* Real hart threads: a pthread per hart, for tests under ThreadSanitizer and benchmarks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "host_clock.h"
#include "lt/hart.h"
#include "runner.h"

static pthread_t threads[HZ_MAX_HARTS];
static unsigned running;

void lt_host_set_hart(unsigned hart) { lt_host_hart = hart; }

static void *hart_main(void *arg)
{
	lt_host_set_hart((unsigned)(uintptr_t)arg);
	lt_hart_run();
	return NULL;
}

void lt_host_start_harts(void)
{
	if (lt_runner_active())
		lt_fail("lt_host_start_harts: real threads need the steady clock");
	lt_host_set_hart(HZ_MAX_HARTS); /* the caller is none of them */
	running = lt_harts();
	for (unsigned i = 0; i < running; i++)
		if (pthread_create(&threads[i], NULL, hart_main, (void *)(uintptr_t)i))
			lt_fail("pthread_create failed");
}

void lt_host_join_harts(void)
{
	for (unsigned i = 0; i < running; i++)
		pthread_join(threads[i], NULL);
	running = 0;
	lt_host_set_hart(0);
}
