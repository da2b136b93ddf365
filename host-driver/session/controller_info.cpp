// Controller information: namespace shape, zone report and the vendor log pages as C++ values.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>

#include "session/controller.hpp"
#include "session/machine/error.hpp"

namespace hz {

namespace {

template <class Record> Record as(const std::vector<std::byte> &data)
{
	Record record{};
	std::memcpy(static_cast<void *>(&record), data.data(), std::min(sizeof(record), data.size()));
	return record;
}

uint32_t limit(uint32_t zero_based) { return zero_based == UINT32_MAX ? 0 : zero_based + 1; }

// MDTS and ZASL are powers of two of 4 KiB; 0: no limit of its own.
uint32_t transfer_limit(uint8_t exponent, uint32_t otherwise) { return exponent ? 1u << exponent : otherwise; }

// Command set in a list of namespace identification descriptors; NVM by default.
uint8_t command_set_of(const std::vector<std::byte> &list)
{
	size_t at = 0;
	while (at + 5 <= list.size() && list[at + 1] != std::byte(0)) {
		if (list[at] == std::byte(NVME_NIDT_CSI))
			return static_cast<uint8_t>(list[at + 4]);
		at += sizeof(nvme_namespace_descriptor) + static_cast<uint8_t>(list[at + 1]);
	}
	return NVME_CSI_NVM;
}

} // namespace

std::vector<uint32_t> Controller::namespaces()
{
	const auto list = as<std::array<uint32_t, 1024>>(identify(NVME_CNS_ACTIVE_NAMESPACES, 0));
	return {list.begin(), std::find(list.begin(), list.end(), 0u)};
}

void Controller::require_attached(uint32_t nsid)
{
	std::string attached;
	for (const uint32_t one : namespaces()) {
		if (one == nsid)
			return;
		attached += (attached.empty() ? "" : ", ") + std::to_string(one);
	}
	throw Error("namespace " + std::to_string(nsid) + " is not attached; those that are: " + (attached.empty() ? "none" : attached));
}

NamespaceInfo Controller::namespace_info(uint32_t nsid)
{
	auto ns = as<nvme_identify_namespace>(identify(NVME_CNS_NAMESPACE, nsid));
	if (!ns.nsze)
		throw Error("namespace " + std::to_string(nsid) + " is not attached");
	auto controller = as<nvme_identify_controller>(identify(NVME_CNS_CONTROLLER));
	NamespaceInfo info;
	info.size_sectors = ns.nsze;
	info.nvm_set = ns.nvmsetid;
	info.max_transfer_sectors = transfer_limit(controller.mdts, HZ_MAX_TRANSFER_SECTORS);
	info.protection = ns.dps == NVME_DPS_TYPE1;
	info.durable_writes = controller.vs[NVME_HZ_VS_PROTECTION] & NVME_HZ_DURABLE_WRITES;
	info.in_place_writes = controller.vs[NVME_HZ_VS_IN_PLACE] & NVME_HZ_IN_PLACE_WRITES;
	info.volatile_cache = controller.vwc & NVME_VWC_PRESENT;
	if (controller.ctratt & NVME_CTRATT_FDP)
		info.handles = as<nvme_handles_log>(log_page(NVME_LOG_FDP_HANDLES, sizeof(nvme_handles_log), 0, 0, ns.endgid)).count;
	info.zoned = command_set_of(identify(NVME_CNS_DESCRIPTORS, nsid)) == NVME_CSI_ZNS;
	if (!info.zoned)
		return info;
	auto zns = as<nvme_zns_identify_namespace>(identify(NVME_CNS_CSI_NAMESPACE, nsid, NVME_CSI_ZNS));
	auto zns_controller = as<nvme_zns_identify_controller>(identify(NVME_CNS_CSI_CONTROLLER, 0, NVME_CSI_ZNS));
	unsigned format = ns.flbas & 0xf;
	info.zone_size_sectors = zns.lbafe[format].zsze;
	if (!info.zone_size_sectors)
		throw Error("namespace " + std::to_string(nsid) + " is zoned, but its zones have no size");
	info.zones = info.size_sectors / info.zone_size_sectors;
	info.zone_capacity_sectors = info.zones ? ns.ncap / info.zones : 0;
	info.max_open = limit(zns.mor);
	info.max_active = limit(zns.mar);
	info.max_append_sectors = transfer_limit(zns_controller.zasl, info.max_transfer_sectors);
	if (zns.ozcs & NVME_ZNS_OZCS_ZRWA) {
		info.zrwa_zones = zns.numzrwa + 1;
		info.zrwa_sectors = zns.zrwas;
		info.zrwa_granularity = zns.zrwafg;
	}
	return info;
}

NamespaceInfo Controller::namespace_info(QueuePair &queue)
{
	NamespaceInfo info = namespace_info(queue.nsid());
	if (!info.zoned)
		return info;
	for (const nvme_zone_descriptor &zone : zone_report(queue)) {
		info.zone_capacity_sectors = std::min(info.zone_capacity_sectors, zone.capacity);
		info.conventional_zones += zone.type == NVME_ZT_CONVENTIONAL;
	}
	return info;
}

std::vector<nvme_zone_descriptor> Controller::zone_report(QueuePair &queue)
{
	std::vector<nvme_zone_descriptor> zones;
	NamespaceInfo info = namespace_info(queue.nsid());
	std::vector<std::byte> data(queue.data(0).size());
	while (zones.size() < info.zones) {
		Completion c = queue.run(QueuePair::zone_report(zones.size() * info.zone_size_sectors, static_cast<uint32_t>(data.size())),
					 {}, data);
		if (c.status)
			throw NvmeError("Zone Management Receive failed: " + status_text(c.status), c.status);
		auto header = as<nvme_zone_report>(data);
		size_t room = (data.size() - sizeof(nvme_zone_report)) / sizeof(nvme_zone_descriptor);
		size_t count = std::min<uint64_t>(header.zones, room);
		if (count == 0)
			throw Error("the zone report ends after " + std::to_string(zones.size()) + " of " + std::to_string(info.zones) +
				    " zones");
		auto *first = reinterpret_cast<const nvme_zone_descriptor *>(data.data() + sizeof(nvme_zone_report));
		zones.insert(zones.end(), first, first + count);
	}
	return zones;
}

std::vector<std::byte> Controller::log_page(uint8_t lid, uint32_t bytes, uint64_t offset, uint32_t nsid, uint16_t group)
{
	std::vector<std::byte> data(bytes);
	uint32_t dwords = bytes / 4 - 1;
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_GET_LOG_PAGE;
	sqe.nsid = nsid;
	sqe.cdw10 = lid | (dwords & 0xffff) << 16;
	sqe.cdw11 = dwords >> 16 | static_cast<uint32_t>(group) << 16;
	sqe.cdw12 = static_cast<uint32_t>(offset);
	sqe.cdw13 = static_cast<uint32_t>(offset >> 32);
	require("Get Log Page", sqe, data);
	return data;
}

nvme_smart_log Controller::log_smart() { return as<nvme_smart_log>(log_page(NVME_LOG_SMART, sizeof(nvme_smart_log))); }
hz_log_harts Controller::log_harts() { return as<hz_log_harts>(log_page(HZ_LOG_HARTS, sizeof(hz_log_harts))); }
hz_log_flash Controller::log_flash() { return as<hz_log_flash>(log_page(HZ_LOG_FLASH, sizeof(hz_log_flash))); }
hz_log_in_place Controller::log_in_place() { return as<hz_log_in_place>(log_page(HZ_LOG_IN_PLACE, sizeof(hz_log_in_place))); }
hz_log_energy Controller::log_energy() { return as<hz_log_energy>(log_page(HZ_LOG_ENERGY, sizeof(hz_log_energy))); }
hz_log_ftl Controller::log_ftl(uint32_t nsid) { return as<hz_log_ftl>(log_page(HZ_LOG_FTL, sizeof(hz_log_ftl), 0, nsid)); }

std::vector<hz_lock_entry> Controller::log_locks()
{
	auto header = as<hz_log_locks>(log_page(HZ_LOG_LOCKS, sizeof(hz_log_locks)));
	if (header.entries && header.entry_bytes != sizeof(hz_lock_entry))
		throw Error("the lock log has entries of " + std::to_string(header.entry_bytes) + " bytes");
	std::vector<hz_lock_entry> locks(header.entries);
	constexpr size_t batch = 1024;
	for (size_t done = 0; done < locks.size(); done += batch) {
		size_t count = std::min(batch, locks.size() - done);
		auto data = log_page(HZ_LOG_LOCKS, static_cast<uint32_t>(count * sizeof(hz_lock_entry)),
				     sizeof(hz_log_locks) + done * sizeof(hz_lock_entry));
		std::memcpy(static_cast<void *>(&locks[done]), data.data(), data.size());
	}
	return locks;
}

void Controller::reset_stats()
{
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_HZ_RESET_STATS;
	require("Reset Statistics", sqe);
}

} // namespace hz
