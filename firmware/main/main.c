/* firmware.elf: hart 0 brings the device up, every hart runs its event loop, hart 0 switches the device off. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "boot.h"
#include "device.h"
#include "lt/hart.h"
#include "memory_map.h"
#include "native_abi.h"

_Static_assert(BOOT_STACK_BYTES == HZ_STACK_BYTES && BOOT_GUARD_BYTES == HZ_STACK_GUARD_BYTES, "lt_decide finds its stack there");

static struct device device;
static lt_word go __attribute__((aligned(64)));   /* 1: the device is up */
static lt_word left __attribute__((aligned(64))); /* harts with an ended loop */

static void release_harts(void)
{
	lt_store(&go, 1);
	for (unsigned hart = 1; hart < device.cfg.harts; hart++)
		lt_kick(hart);
}

static void wait_for_others(void)
{
	uint64_t seen;

	while ((seen = lt_load(&left)) < device.cfg.harts)
		lt_spin_while(&left, seen);
}

_Noreturn void hart_main(uint64_t hart, const void *device_tree)
{
	if (hart == 0) {
		device_start(&device, device_tree);
		release_harts();
	}
	while (!lt_load(&go))
		lt_wait_while(&go, 0, LT_FOREVER);
	lt_hart_run();
	lt_add(&left, 1);
	if (hart == 0) {
		wait_for_others();
		device_stop(&device);
	}
	for (;;)
		lt_wait_while(&go, 1, LT_FOREVER);
}
