// OfflineDevice: construction and mount.
// SPDX-License-Identifier: BSD-3-Clause
#include "image/offline_device.hpp"

#include <sys/mman.h>

#include "device_fields.h"
#include "host_clock.h"
#include "port/ftl_namespaces.h"
#include "lt/arch.h"
#include "lt/hart.h"
#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"
#include "tsu/tsu.h"

namespace hz {

namespace {

// The image's config, without the faults injected by a run.
hz_device_config without_faults(hz_device_config config)
{
	for (const hz_field &field : hz_device_fields)
		if (field.fault)
			hz_field_write(&field, &config, 0, 0);
	return config;
}

} // namespace

OfflineDevice::OfflineDevice(std::span<std::byte> image, const hz_device_config &config) : config_(without_faults(config))
{
	const size_t bytes = ram_bytes_for(config_);
	void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		throw_errno("cannot get memory for the device's tables");
	arena_ = arena_of_blank(memory, bytes);
	mount(image);
}

OfflineDevice::~OfflineDevice()
{
	lt_guard(arena_.base, arena_.bytes, 0); // the mount's temporary memory is guarded, and its next user is another device
	munmap(arena_.base, arena_.bytes);
}

void OfflineDevice::mount(std::span<std::byte> image)
{
	lt_host_clock_test(0); // flash time of this mount takes no host time
	lt_harts_init(&arena_, config_.harts, config_.tsu_count + ftl_namespaces_timers(&config_));
	const char *error = ftl_lock_classes_init(&arena_, &config_);
	if (!error) {
		flash_map_init(&map_, &arena_, &config_);
		error = nand_media_init(&media_, &config_, &map_, image.data(), image.size(), nullptr);
	}
	if (!error) {
		link_init(&links_.to_host, config_.pcie_bytes_per_s);
		link_init(&links_.to_device, config_.pcie_bytes_per_s);
		struct tsu *tsu = tsu_init(&arena_, &config_, &map_, &media_.nand);
		error = ftl_namespaces_init(&namespaces_, &arena_, &config_, &map_, tsu, &links_);
		mounted_ = !error;
	}
	error_ = error ? error : "";
}

} // namespace hz
