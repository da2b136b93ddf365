// Offline check: header, then a mount by the firmware's own code, then every sector.
// SPDX-License-Identifier: BSD-3-Clause
#include "image/image_check.hpp"

#include <map>

#include "image/image_file.hpp"
#include "image/offline_device.hpp"
#include "nvme.h"
#include "namespaces.h"
#include "ftl.h"
#include "nand/nand_block.h"

namespace hz {

namespace {

constexpr size_t lbas_listed = 8;

std::string name_of(uint8_t state)
{
	switch (state) {
	case NVME_ZS_NOT_WP: return "conventional";
	case NVME_ZS_EMPTY: return "empty";
	case NVME_ZS_CLOSED: return "closed";
	case NVME_ZS_FULL: return "full";
	case NVME_ZS_READ_ONLY: return "read only";
	default: return "offline";
	}
}

// --- every sector, whatever its owner ---

// Calls visit(place, record, found) for each programmed sector; found as nand.h says: NAND_OK, or lost with or without its record.
template <typename F> void each_sector(nand_media &media, F visit)
{
	const hz_shape &shape = media.nand.map->shape;
	for (uint32_t plane = 0; plane < shape.planes; plane++)
		for (uint32_t block = 0; block < media.nand.cfg->blocks_per_plane; block++) {
			const uint32_t end = media.blocks[plane * media.nand.cfg->blocks_per_plane + block].write_sector;
			for (uint32_t sector = 0; sector < end; sector++) {
				flash_addr addr = flash_plane(media.nand.cfg, plane);
				hz_oob oob{};
				addr.block = block;
				addr.sector = sector;
				visit(addr, oob, media.nand.ops->read(&media.nand, addr, 1, nullptr, 0, &oob));
			}
		}
}

FlashReport look_at_flash(nand_media &media)
{
	FlashReport flash;
	each_sector(media, [&](flash_addr, const hz_oob &oob, nand_status status) {
		flash.programmed++;
		flash.readable += status == NAND_OK;
		flash.lost += status != NAND_OK && oob.kind != HZ_OOB_ERASED;
		flash.unknown += status != NAND_OK && oob.kind == HZ_OOB_ERASED;
	});
	return flash;
}

// --- zones ---

void zones_of(struct ftl *ftl, uint32_t nsid, ImageReport &report)
{
	for (uint32_t z = 0; z < ftl_scrub_zones(ftl); z++) {
		ftl_zone_scrub found;
		ZoneReport zone;
		auto lost = [](void *ctx, uint64_t lba) {
			auto &lbas = *static_cast<std::vector<uint64_t> *>(ctx);
			if (lbas.size() < lbas_listed)
				lbas.push_back(lba);
		};
		ftl_scrub_zone(ftl, z, &found, lost, &zone.lost_lbas);
		zone.nsid = nsid;
		zone.number = z;
		zone.state = name_of(found.state);
		zone.start = found.start;
		zone.written = found.written;
		zone.lost = found.lost;
		zone.rebuilt = found.rebuilt;
		report.lost_sectors += zone.lost;
		report.rebuilt_sectors += zone.rebuilt;
		report.zones.push_back(zone);
	}
}

// Without a mount: number of sectors with data of each zone, of any age.
void zones_by_records(OfflineDevice &device, ImageReport &report)
{
	const hz_device_config &cfg = *device.media().nand.cfg;
	std::map<std::pair<uint32_t, uint64_t>, ZoneReport> zones;
	std::vector<hz_shape> shapes(cfg.namespaces);
	for (uint32_t i = 0; i < cfg.namespaces; i++)
		hz_namespace_shape(&cfg, i, &shapes[i]);
	each_sector(device.media(), [&](flash_addr addr, const hz_oob &oob, nand_status status) {
		const uint32_t owner = hz_window_at(&cfg, device.media().window, addr.plane_index, addr.block);
		if (owner == cfg.namespaces)
			return;
		const hz_shape &shape = shapes[owner];
		const uint64_t number = oob.lpa / shape.zone_size_sectors;
		if (oob.kind != HZ_OOB_DATA || number >= uint64_t(shape.zones) + shape.backing_zones)
			return;
		ZoneReport &zone = zones[{owner, number}];
		zone.written++;
		zone.lost += status != NAND_OK;
	});
	for (auto &[place, zone] : zones) {
		const auto [owner, number] = place;
		zone.nsid = owner + 1;
		zone.number = static_cast<uint32_t>(number);
		zone.start = number * shapes[owner].zone_size_sectors;
		zone.state = number < shapes[owner].zones ? "not mounted" : "behind conventional zones, not mounted";
		report.zones.push_back(zone);
	}
}

// --- verdict ---

void judge(ImageReport &report, const ftl_damage &damage)
{
	report.unknown_sectors = damage.unknown_sectors;
	report.damaged_records = damage.records;
	if (!report.lost_sectors && !report.unknown_sectors && !report.damaged_records) {
		report.why = report.rebuilt_sectors
				     ? "The image is sound: " + std::to_string(report.rebuilt_sectors) + " unreadable sector" +
					       (report.rebuilt_sectors == 1 ? " is" : "s are") + " rebuilt from parity."
				     : "The image is sound.";
		return;
	}
	report.verdict = Verdict::damaged;
	report.why = "The image is damaged: " + std::to_string(report.lost_sectors) + " sectors that zones hold cannot be read" +
		     (report.unknown_sectors ? ", and " + std::to_string(report.unknown_sectors) +
						       " are lost with their records, so that older data, or none, may be read for them"
					     : "") +
		     "; all others can" +
		     (report.rebuilt_sectors ? ", " + std::to_string(report.rebuilt_sectors) + " of them rebuilt from parity." : ".") +
		     (report.damaged_records ? " Records of " + std::to_string(report.damaged_records) +
						       " zones cannot be true, so these zones are read only or offline."
					     : "");
}

void look_at_device(const ImageFile &image, ImageReport &report)
{
	OfflineDevice device(image.bytes(), *report.device);
	ftl_damage damage{};
	report.mounted = device.mounted();
	report.clean = true;
	for (uint32_t i = 0; i < report.device->namespaces; i++)
		report.clean &= device.media().nand.ops->clean_mark(&device.media().nand, i).clean;
	if (report.mounted) {
		ftl_namespaces_damage(&device.namespaces(), &damage);
		for (uint32_t i = 0; i < report.device->namespaces; i++)
			zones_of(device.namespaces().ftl[i], i + 1, report);
		report.flash = look_at_flash(device.media());
		report.repaired = lt_load(&device.media().repaired) + damage.table_copies; // records are repaired when they are read
		return judge(report, damage);
	}
	report.verdict = Verdict::damaged;
	report.why = device.error();
	if (!device.media().blocks)
		return; // made for a device of another geometry
	nand_blocks_guess(&device.media());
	report.flash = look_at_flash(device.media());
	zones_by_records(device, report);
}

void look_at_header(const ImageFile &image, ImageReport &report)
{
	const hz_nand_header &header = image.header();
	report.power_cycles = header.power_cycles;
	report.unsafe_shutdowns = header.unsafe_shutdowns;
	report.powered_ns = header.powered_ns;
}

ImageReport refused(Verdict verdict, const std::string &why, uint64_t bytes)
{
	ImageReport report;
	report.verdict = verdict;
	report.why = why;
	report.bytes = bytes;
	return report;
}

} // namespace

ImageReport check_image(const std::filesystem::path &file, const std::optional<hz_device_config> &device)
{
	const ImageFile image(file);
	ImageReport report = refused(Verdict::sound, "Nothing was ever written to this image.", image.bytes().size());
	switch (image.state()) {
	case ImageState::new_one: report.is_new = true; return report;
	case ImageState::foreign: return refused(Verdict::no_image, "The file is no NAND image of this program.", report.bytes);
	case ImageState::other:
		return refused(Verdict::no_image,
			       "The image has format version " + std::to_string(image.version()) + ", this program reads versions " +
				       std::to_string(HZ_NAND_VERSION) + " to " + std::to_string(HZ_NAND_VERSION_LAST) + ".",
			       report.bytes);
	case ImageState::damaged:
		return refused(
			Verdict::damaged,
			"The image is damaged: its header cannot be believed in either of its two copies, so nothing of it can be read.",
			report.bytes);
	case ImageState::good: break;
	}
	look_at_header(image, report);
	if (report.bytes > image.header().image_bytes)
		return refused(Verdict::damaged,
			       "The file has " + std::to_string(report.bytes) + " bytes, but the image that it holds " +
				       std::to_string(image.header().image_bytes) +
				       ": it was made longer, and no device takes it before it is cut to that size.",
			       report.bytes);
	report.device = device ? device : image.config();
	if (!report.device)
		return refused(Verdict::no_image,
			       "The image was last used by a program with other device configs: name the device with --device.",
			       report.bytes);
	look_at_device(image, report);
	return report;
}

} // namespace hz
