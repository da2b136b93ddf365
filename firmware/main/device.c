/* Bringing the device up and down: a table of named steps; the first failure ends the run with its sentence. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <string.h>

#include "boot.h"
#include "boundary/boundary.h"
#include "config_check.h"
#include "hil/ports/ports.h"
#include "lt/hart.h"
#include "main/controller_ops.h"
#include "main/hil_port.h"
#include "main/memory_budget.h"
#include "platform/console.h"
#include "platform/fail.h"
#include "platform/mmio.h"
#include "platform/power.h"
#include "port/ftl_namespaces.h"
#include "tsu/tsu_dump.h"

void device_set_state(struct device *device, enum hz_boot_state state)
{
	mmio_fence();
	*(volatile uint32_t *)&device->header->boot_state = state;
	mmio_fence();
}

static const char *open_shared_memory(struct device *device)
{
	const struct ivshmem_region *shared = &device->platform.ivshmem.shared;

	if (!shared->base)
		return device->platform.ivshmem_error;
	device->header = (struct hz_shm_header *)shared->base;
	fail_attach(device->header);
	if (device->header->version != HZ_SHM_VERSION || device->header->header_bytes != sizeof(*device->header))
		return "firmware and host driver are of different versions";
	if (device->header->region_bytes > shared->bytes || device->header->region_bytes <= HZ_SHM_HEAP_OFFSET)
		return "region_bytes does not fit the region";
	if ((device->header->virtual_clock != 0) != clock_is_virtual())
		return "the host expects the other clock: virtual_clock does not match the presence of the plugin";
	return NULL;
}

static const char *read_config(struct device *device)
{
	const char *error;

	memcpy(&device->cfg, device->platform.ivshmem.shared.base + HZ_SHM_CONFIG_OFFSET, sizeof(device->cfg));
	error = hz_device_config_check(&device->cfg, device->text, sizeof(device->text));
	if (!error && device->cfg.harts != device->platform.machine.harts)
		error = "the config's number of harts is not that of the machine";
	if (!error) {
		boundary_init(&device->cfg);
		device_set_state(device, HZ_BOOT_STARTED);
	}
	return error;
}

static void set_roles(const struct hz_device_config *cfg)
{
	uint32_t roles[HZ_MAX_HARTS] = { 0 };

	for (uint32_t i = 0; i < dealing_harts(cfg); i++)
		roles[dealing_hart(cfg, i)] |= HZ_ROLE_HIL;
	for (uint32_t i = 0; i < cfg->tsu_count; i++)
		roles[cfg->tsu_hart[i]] |= HZ_ROLE_TSU;
	for (uint32_t i = 0; i < cfg->worker_count; i++)
		roles[cfg->worker_hart[i]] |= HZ_ROLE_WORKER;
	for (uint32_t i = 0; i < cfg->harts; i++)
		lt_hart_set_roles(i, roles[i]);
}

static const char *start_threads(struct device *device)
{
	const struct hz_device_config *cfg = &device->cfg;
	const char *error;

	device->platform.arena.ledger = &device->ledger;
	device->platform.arena.owner = "harts";
	error = ftl_lock_classes_init(&device->platform.arena, cfg);

	lt_harts_init(&device->platform.arena, cfg->harts, hil_timers(cfg) + cfg->tsu_count + ftl_namespaces_timers(cfg));
	set_roles(cfg);
	return error;
}

/* An injected power cut: the host gets no notice, and only work on capacitor power is finished. */
static void power_lost(void *ctx)
{
	struct device *device = ctx;

	if (device->tsu)
		tsu_dump_report(device->tsu, &device->header->kept);
	mmio_fence();
	power_off(HZ_POWER_CUT);
}

static const char *open_media(struct device *device)
{
	const struct ivshmem_region *nand = &device->platform.ivshmem.nand;
	struct nand_policy policy = { .power_cut_op = device->header->power_cut_op,
				      .power_cut_ns = device->header->power_cut_ns,
				      .power_lost = power_lost,
				      .ctx = device };

	if (!nand->base)
		return "there is no NAND image (second ivshmem device)";
	device->platform.arena.owner = "TSU";
	flash_map_init(&device->map, &device->platform.arena, &device->cfg);
	return nand_media_init(&device->media, &device->cfg, &device->map, nand->base, nand->bytes, &policy);
}

static void tell_damage(const struct device *device)
{
	struct ftl_damage damage;

	ftl_namespaces_damage(&device->namespaces, &damage);
	if (damage.lost_sectors || damage.unknown_sectors || damage.records)
		console_line(
			"hartzone: the NAND image is damaged: %lu sectors are lost, %u zones became read only, %lu sectors are lost with their records and may read as older ones or none, records of %u zones cannot be true",
			(unsigned long)damage.lost_sectors, damage.read_only_zones, (unsigned long)damage.unknown_sectors, damage.records);
}

/* The share of mount time that the FTL does not account for is that of the tables. */
static void tell_mount(struct device *device)
{
	struct hz_mount_report *report = &device->header->mount;
	uint64_t make_ns = device->header->mount_ns;

	ftl_namespaces_mount_report(&device->namespaces, report);
	for (uint32_t i = 0; i < HZ_MOUNT_STEPS; i++)
		make_ns -= report->step[i].ns;
	report->step[HZ_MOUNT_MAKE].ns += make_ns;
}

static const char *mount(struct device *device)
{
	struct arena *arena = &device->platform.arena;
	uint64_t begin = clock_now_ns();
	const char *error;

	link_init(&device->links.to_host, device->cfg.pcie_bytes_per_s);
	link_init(&device->links.to_device, device->cfg.pcie_bytes_per_s);
	arena->owner = "TSU";
	device->tsu = tsu_init(arena, &device->cfg, &device->map, &device->media.nand);
	error = ftl_namespaces_init(&device->namespaces, arena, &device->cfg, &device->map, device->tsu, &device->links);
	if (error)
		return error;
	device->header->mount_ns = clock_now_ns() - begin;
	tell_mount(device);
	tell_damage(device);
	return NULL;
}

static const char *listen(struct device *device)
{
	const char *error;

	device->platform.arena.owner = "host interface";
	device->vsock = vsock_init(&device->platform.arena, &device->platform.machine, HZ_CONTROL_PORT, &error);
	if (!device->vsock)
		return error;
	hil_port_init(&device->port, device->vsock);
	controller_ops_init(&device->ops, device);
	device->hil = hil_init(&device->platform.arena, &device->cfg, device->platform.ivshmem.shared.base, device->header->region_bytes,
			       &device->ops, &device->port);
	return NULL;
}

/* When everything has been allocated. */
static const char *charge_memory(struct device *device)
{
	void *ledger = device->platform.ivshmem.shared.base + HZ_SHM_LEDGER_OFFSET;

	return memory_charge(&device->ledger, &device->cfg, ledger, device->text, sizeof(device->text));
}

static const char *say_ready(struct device *device)
{
	device_set_state(device, HZ_BOOT_READY);
	return NULL;
}

static const struct step {
	const char *name;
	const char *(*run)(struct device *device); /* NULL, or one sentence */
	bool about_image;                          /* … about the NAND image */
} steps[] = {
	{ "shared memory", open_shared_memory, false },
	{ "config", read_config, false },
	{ "threads", start_threads, false },
	{ "media", open_media, true },
	{ "mount", mount, true },
	{ "control link", listen, false },
	{ "memory", charge_memory, false },
	{ "host", say_ready, false },
};

void device_start(struct device *device, const void *device_tree)
{
	platform_init(&device->platform, device_tree, boot_heap);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const char *error = steps[i].run(device);

		if (error && steps[i].about_image)
			fail_image(error);
		if (error)
			fail_with("%s: %s", steps[i].name, error);
	}
	console_line("hartzone: %s ready, %u harts, %s clock, %lu MiB of memory used", device->cfg.name, device->cfg.harts,
		     clock_is_virtual() ? "virtual" : "real", (unsigned long)(device->platform.arena.used >> 20));
}

_Noreturn void device_stop(struct device *device)
{
	const char *broken;

	clock_freeze();
	broken = ftl_namespaces_check(&device->namespaces);
	if (broken)
		fail_with("check at the end of the run: %s", broken);
	console_line("hartzone: stopped");
	power_off(HZ_POWER_OK);
}
