// The info command: boots the device and prints its properties.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/visit.hpp"
#include "namespaces.h"
#include "results/mount_cost.hpp"
#include "session/controller.hpp"
#include "session/machine/ledger_text.hpp"
#include "session/nvme/queue_table.hpp"
#include "slc_log_size.h"

namespace hz::cli {

namespace {

const char *state_name(uint8_t state)
{
	switch (state >> 4) {
	case NVME_ZS_NOT_WP: return "conventional";
	case NVME_ZS_EMPTY: return "empty";
	case NVME_ZS_IMPLICIT_OPEN: return "implicitly open";
	case NVME_ZS_EXPLICIT_OPEN: return "explicitly open";
	case NVME_ZS_CLOSED: return "closed";
	case NVME_ZS_READ_ONLY: return "read only";
	case NVME_ZS_FULL: return "full";
	case NVME_ZS_OFFLINE: return "offline";
	default: return "unknown";
	}
}

void print_controller(Controller &controller, const NamespaceInfo &ns)
{
	nvme_identify_controller id;
	std::memcpy(&id, controller.identify(NVME_CNS_CONTROLLER).data(), sizeof(id));
	auto mib = [](uint64_t sectors) { return sectors * HZ_SECTOR_BYTES / 1048576.0; };
	std::printf("model            %.40s\nserial           %.20s\nfirmware         %.8s\n", id.mn, id.sn, id.fr);
	if (!ns.zoned) {
		std::printf("namespace        %.1f MiB, a block device\nlimits           %.0f KiB a transfer\n", mib(ns.size_sectors),
			    ns.max_transfer_sectors * 4.0);
		return;
	}
	std::printf("namespace        %lu zones, %.1f MiB capacity each, starts %.1f MiB apart\n", static_cast<unsigned long>(ns.zones),
		    mib(ns.zone_capacity_sectors), mib(ns.zone_size_sectors));
	std::printf("limits           %u open, %u active zones (0: none), %.0f KiB a transfer\n", ns.max_open, ns.max_active,
		    ns.max_transfer_sectors * 4.0);
}

// Chips of a namespace: "channels 0-1".
std::string place_of(const hz_device_config &config, uint32_t number)
{
	hz_window w;
	hz_window_of(&config, number, &w);
	const auto range = [](const char *what, hz_range r) {
		return std::string(what) + " " + std::to_string(r.first) + (r.count > 1 ? "-" + std::to_string(r.first + r.count - 1) : "");
	};
	return range("channels", w.channel) + ", " + range("chips", w.chip) + ", " + range("dies", w.die) + ", " +
	       range("planes", w.plane) + ", " + std::to_string(w.slc.count + w.normal.count) + " blocks of each";
}

// The lines above describe namespace 1.
void print_namespaces(Controller &controller)
{
	const hz_device_config &config = controller.machine().config();
	if (config.namespaces == 1)
		return;
	for (const uint32_t nsid : controller.namespaces()) {
		const NamespaceInfo ns = controller.namespace_info(nsid);
		std::printf("namespace %-6u %.1f MiB%s, NVM set %u: %s\n", nsid, ns.size_sectors * HZ_SECTOR_BYTES / 1048576.0,
			    ns.zoned ? (" in " + std::to_string(ns.zones) + " zones").c_str() : "", ns.nvm_set,
			    place_of(config, nsid - 1).c_str());
	}
}

void print_superblocks(const hz_device_config &config)
{
	hz_shape shape;
	hz_namespace_shape(&config, 0, &shape);
	std::printf("superblocks      %u of %.1f MiB on %u of %u planes, %u of SLC on all\n", shape.normal_superblocks,
		    shape.superblock_sectors * HZ_SECTOR_BYTES / 1048576.0, shape.superblock_planes, shape.planes, shape.slc_superblocks);
}

// Size of the map of sectors: on flash, or in RAM.
void print_map_of_sectors(const hz_device_config &config, const hz_shape &shape, uint64_t zones)
{
	const uint64_t entries = zones * shape.zone_capacity_sectors;
	std::printf("map              %lu entries of %d bytes, %.1f MiB", static_cast<unsigned long>(entries), HZ_MAP_ENTRY_BYTES,
		    static_cast<double>(entries * HZ_MAP_ENTRY_BYTES) / 1048576);
	if (!config.l2p_cache_bytes) {
		std::printf(" in RAM\n");
		return;
	}
	std::printf(" in %lu table pages on flash\nmap in RAM       cache %.1f KiB (%u entries), log %u entries\n",
		    static_cast<unsigned long>(zones) * shape.map_pages_per_zone, config.l2p_cache_bytes / 1024.0,
		    config.l2p_cache_bytes / HZ_MAP_ENTRY_BYTES, config.l2p_log_entries);
}

// Of each of the device's maps.
void print_map(const hz_device_config &config)
{
	hz_shape shape;
	hz_namespace_shape(&config, 0, &shape);
	if (config.l2p_kind == HZ_L2P_KIND_ZONE)
		std::printf("map              %u entries of %d bytes, %.1f KiB in RAM: one for each zone\n", shape.zones,
			    HZ_ZONE_ENTRY_BYTES, shape.zones * HZ_ZONE_ENTRY_BYTES / 1024.0);
	if (const uint32_t zones = hz_zones_of_sectors(&config, &shape))
		print_map_of_sectors(config, shape, zones);
}

void print_memory(const hz_memory_ledger &ledger, bool whole)
{
	for (const LedgerSum &sum : ledger_sums(ledger))
		std::printf("%-16s %s\n", sum.name.c_str(), sum.text.c_str());
	if (whole)
		std::printf("\n%s", ledger_text(ledger).c_str());
}

void print_zones(const std::vector<nvme_zone_descriptor> &zones)
{
	for (const auto &zone : zones) {
		if (zone.state >> 4 == NVME_ZS_EMPTY)
			continue;
		std::printf("zone at %-10lu %-16s write pointer %ld\n", static_cast<unsigned long>(zone.start), state_name(zone.state),
			    static_cast<long>(zone.write_pointer));
	}
}

void run(const VisitFlags &flags, bool zones, bool memory)
{
	Visit visit(flags);
	Controller &controller = visit.controller();
	auto queue = controller.create_queue(any_queue, {});
	const NamespaceInfo ns = controller.namespace_info(*queue);
	print_controller(controller, ns);
	print_namespaces(controller);
	std::printf("durable writes   %s\n", !ns.volatile_cache  ? "all"
					     : ns.durable_writes ? "those that ask for it"
								 : "none, asking is refused");
	std::printf("data protection  %s\n", ns.protection ? "type 1: CRC and LBA of each sector, checked end to end" : "none");
	print_superblocks(visit.machine().config());
	print_map(visit.machine().config());
	std::printf("mount            %s\n", res::mount_text(visit.machine().region().header().mount).c_str());
	print_memory(visit.machine().region().memory(), memory);
	if (zones && ns.zoned)
		print_zones(controller.zone_report(*queue));
	controller.delete_queue(std::move(queue));
	visit.end();
}

} // namespace

void add_info(CLI::App &app)
{
	auto flags = std::make_shared<VisitFlags>();
	auto zones = std::make_shared<bool>(false), memory = std::make_shared<bool>(false);
	CLI::App *command = app.add_subcommand("info", "Describe a device: a new one that is booted, or a running one");
	flags->add_to(*command);
	add_flag(*command, "--zones", *zones, "List the zones that are not empty: state and write pointer, in 4 KiB sectors");
	add_flag(*command, "--memory", *memory, "List the firmware's memory allocations: memory, bytes, owner, and purpose");
	command->footer("Examples:\n"
			"  ./hartzone info --device conzone-paper\n"
			"  ./hartzone info --device conzone-paper --memory\n"
			"  ./hartzone info --device small --zones");
	command->callback([flags, zones, memory] { run(*flags, *zones, *memory); });
}

} // namespace hz::cli
