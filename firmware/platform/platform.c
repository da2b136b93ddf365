/* The board brought up. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/platform.h"

#include "platform/console.h"
#include "platform/fail.h"
#include "platform/mmio.h"
#include "platform/power.h"

enum { NS_PER_SECOND = 1000000000, DEVICE_TREE_LIMIT = 2 << 20 }; /* QEMU virt aligns the tree to 2 MiB below the end of RAM */

static uint32_t ecam_read(void *ctx, uint32_t offset) { return mmio_read32((uintptr_t)ctx + offset); }

static void ecam_write(void *ctx, uint32_t offset, uint32_t value) { mmio_write32((uintptr_t)ctx + offset, value); }

/* QEMU has written to no RAM but the image's and the device tree's. */
static void find_memory(struct platform *platform, const uint8_t *device_tree, uint8_t *heap_base)
{
	const struct machine_range *ram = &platform->machine.ram;
	uintptr_t heap = (uintptr_t)heap_base;

	if (heap < ram->base || heap - ram->base >= ram->bytes)
		fail_with("machine: %lu MiB of RAM are less than the firmware image needs", (unsigned long)(ram->bytes >> 20));
	platform->arena = arena_of_blank(heap_base, ram->bytes - (heap - ram->base));
	if (device_tree >= heap_base && (size_t)(device_tree - heap_base) < platform->arena.bytes)
		platform->arena.blank = (size_t)(device_tree - heap_base);
}

/* For the plugin's bulk work. */
static void show_window(enum hz_vc_file file, const struct ivshmem_region *region)
{
	struct hz_vc_slot *slot = lt_vc_slot();

	slot->arg0 = (uintptr_t)region->base;
	slot->arg1 = region->bytes;
	slot->arg2 = file;
	LT_HYPERCALL(HZ_VC_WINDOW);
}

static void find_pci(struct platform *platform)
{
	struct pci_access access = { ecam_read, ecam_write, (void *)(uintptr_t)platform->machine.ecam.base };
	const char *error;

	if (!platform->machine.ecam.bytes)
		fail_with("device tree: no PCI bridge");
	error = pci_scan(&platform->pci, &access, &platform->machine);
	if (error)
		fail_with("%s", error);
	platform->ivshmem_error = ivshmem_find(&platform->ivshmem, &platform->pci);
	show_window(HZ_VC_SHM, &platform->ivshmem.shared);
	show_window(HZ_VC_NAND, &platform->ivshmem.nand);
}

void platform_init(struct platform *platform, const void *device_tree, uint8_t *heap)
{
	const char *error = machine_read(&platform->machine, device_tree, DEVICE_TREE_LIMIT);

	if (error)
		fail_with("%s", error);
	console_init(platform->machine.uart.base);
	power_init(platform->machine.finisher.base);
	lt_clint_base = platform->machine.clint.base;
	lt_ns_per_tick = (uint32_t)(NS_PER_SECOND / platform->machine.timebase_hz);
	find_memory(platform, device_tree, heap);
	find_pci(platform);
}
