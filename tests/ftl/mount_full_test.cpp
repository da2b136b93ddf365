// Flash time of a mount after a power cut of presets of 1 TB, full: of media that make up the records as they are asked for, since those of
// 1 TB would take 13 GB.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>

#include "config/device_yaml.hpp"
#include "ftl_rig.hpp"
#include "mount_report.h"
#include "ftl.h"

using namespace ftl_rig;

namespace {

constexpr uint64_t boot_ns = 1000;
constexpr uint32_t erased_slc = 2; // superblocks

// Sequential zone z fills superblock z, and backing zones those behind; every SLC superblock but the last ones is full of table pages of
// the map, several copies of each, in no order. They map the content of the backing zones, and their checkpoint is older than they are. One
// at a time.
class FullFlash {
public:
	FullFlash(Rig &rig, uint32_t zones) : rig_(rig), zones_(zones)
	{
		here = this;
		rig.before_mount = [this] { replace_ops(); };
	}
	uint64_t data_reads = 0, data_sectors = 0;

private:
	static constexpr uint64_t after_all = uint64_t(1) << 34;
	static inline FullFlash *here;

	void replace_ops()
	{
		const flash_map &map = rig_.map;
		column_.resize(map.shape.planes);
		for (uint32_t c = 0; c < map.shape.planes; c++)
			column_[map.column[c].plane_index] = c;
		full_[0].write_sector = map.shape.slc_superblock_sectors / map.shape.planes;
		full_[1].write_sector = map.shape.superblock_sectors / map.shape.planes;
		ops_ = *rig_.media.nand.ops;
		ops_.block = [](nand *, flash_addr addr) { return here->block(addr); };
		ops_.records = [](nand *, flash_addr addr, uint32_t count, hz_oob *oob) {
			for (uint32_t i = 0; i < count; i++, addr.sector++)
				oob[i] = here->record(addr);
		};
		ops_.read = [](nand *, flash_addr addr, uint32_t count, const sgl *data, uint32_t, hz_oob *oob) {
			here->data_reads++;
			here->data_sectors += count;
			for (uint32_t i = 0; i < count; i++, addr.sector++) {
				const hz_oob found = here->record(addr);
				if (oob)
					oob[i] = found;
				if (data && found.kind == HZ_OOB_MAP)
					here->fill(reinterpret_cast<uint32_t *>(data->memory[i]), found.lpa);
				if (data && found.kind == HZ_OOB_CHECKPOINT)
					memcpy(data->memory[i], &after_all, sizeof(after_all)); // and no copies: all are younger
				if (data && found.kind == HZ_OOB_DIRECTORY)
					memset(data->memory[i], 0xff, HZ_SECTOR_BYTES); // as old as can be
			}
			return NAND_OK;
		};
		rig_.media.nand.ops = &ops_;
	}
	bool slc(flash_addr addr) const { return addr.block < rig_.map.slc_superblocks; }
	bool used(flash_addr addr) const
	{
		return slc(addr) ? addr.block < rig_.map.slc_superblocks - erased_slc : addr.block - rig_.map.slc_superblocks < zones_;
	}
	const hz_nand_block *block(flash_addr addr) const { return used(addr) ? &full_[!slc(addr)] : &erased_; }
	hz_oob record(flash_addr addr) const
	{
		const hz_shape &shape = rig_.map.shape;
		const uint32_t unit = slc(addr) ? rig_.cfg.slc_program_sectors : shape.unit_sectors, row = addr.sector / unit;
		const uint64_t offset = (row * shape.planes + column_[addr.plane_index]) * unit + addr.sector % unit;
		hz_oob oob{};
		if (!used(addr))
			return oob;
		if (slc(addr)) {
			const uint64_t number = addr.block * shape.slc_superblock_sectors + offset;
			const bool checkpoint = number < shape.map_checkpoints;
			const bool directory = !checkpoint && number < shape.map_checkpoints + shape.map_directories;
			oob.kind = !rig_.cfg.l2p_cache_bytes ? HZ_OOB_PAD : checkpoint ? HZ_OOB_CHECKPOINT : HZ_OOB_MAP;
			oob.kind = directory ? HZ_OOB_DIRECTORY : oob.kind;
			oob.stream = 1;
			oob.lpa = static_cast<uint32_t>(checkpoint ? number
							: directory
								? number - shape.map_checkpoints
								: number * scatter % (uint64_t(shape.map_pages_per_zone) * shape.zones));
			oob.sequence = 1 + number;
		} else {
			const uint64_t zone = addr.block - rig_.map.slc_superblocks + shape.conventional_zones;
			oob.kind = HZ_OOB_DATA;
			oob.lpa = static_cast<uint32_t>(zone * shape.zone_size_sectors + offset);
			oob.sequence = (uint64_t(1) << 32) + oob.lpa;
			if (zone >= shape.zones)
				oob.host_lba = lba_of(zone - shape.zones, offset);
		}
		return oob;
	}
	// Backing zones hold LBAs in order, zone by zone.
	uint32_t lba_of(uint64_t backing, uint64_t offset) const
	{
		const uint64_t number = backing * rig_.shape.superblock_sectors + offset, capacity = rig_.shape.zone_capacity_sectors;
		return number < rig_.shape.conventional_zones * capacity
			       ? static_cast<uint32_t>(number / capacity * rig_.shape.zone_size_sectors + number % capacity)
			       : UINT32_MAX;
	}
	void fill(uint32_t *entry, uint32_t page) const
	{
		const uint64_t zone = page / rig_.shape.map_pages_per_zone, first = uint64_t(page % rig_.shape.map_pages_per_zone) * 1024;
		const uint64_t capacity = rig_.shape.zone_capacity_sectors, number = zone * capacity + first;
		const uint32_t sectors = static_cast<uint32_t>(rig_.shape.superblock_sectors);
		const uint64_t there = zone < rig_.shape.conventional_zones ? std::min<uint64_t>(capacity - first, 1024) : 0;
		uint32_t backing = static_cast<uint32_t>(number / sectors), offset = static_cast<uint32_t>(number % sectors);
		std::fill_n(entry, 1024, UINT32_MAX);
		for (uint64_t i = 0; i < there; i++, offset++) {
			backing += offset == sectors;
			offset = offset == sectors ? 0 : offset;
			entry[i] = ppa_make(&rig_.map, backing, offset);
		}
	}

	static constexpr uint64_t scatter = 7919;
	Rig &rig_;
	uint32_t zones_;
	nand_ops ops_{};
	std::vector<uint32_t> column_; // by plane
	hz_nand_block full_[2]{}, erased_{};
};

struct Mounted {
	uint64_t took_ns;
	hz_mount_report report;
	uint64_t data_sectors;
};

// With that many zones full.
Mounted mount_with(const hz_device_config &cfg, uint32_t zones, uint64_t memory_mib = 256)
{
	Rig rig(cfg, nullptr, memory_mib << 20);
	FullFlash flash(rig, zones);
	const auto begin = std::chrono::steady_clock::now();
	EXPECT_TRUE(rig.start()) << rig.error;
	const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
	const uint64_t took_ns = clock_now_ns() - boot_ns, data_sectors = flash.data_sectors;
	printf("%s, %u of %u zones: %.1f ms of flash time, %.2f s of wall time\n", cfg.name, std::min(zones, rig.shape.zones),
	       rig.shape.zones, static_cast<double>(took_ns) / 1e6, wall.count());
	if (!rig.shape.conventional_zones) {
		EXPECT_EQ(flash.data_reads, 0u);
	}
	for (uint32_t zone : {0u, rig.shape.zones - 1}) {
		ftl_zone_scrub found;
		ftl_scrub_zone(
			rig.ftl, zone, &found, [](void *, uint64_t) {}, nullptr);
		EXPECT_EQ(found.written, zone < zones ? rig.shape.zone_capacity_sectors : 0) << zone;
		EXPECT_EQ(found.lost, 0u);
	}
	return {took_ns, *ftl_mount_report(rig.ftl), data_sectors};
}

hz_device_config preset(const std::string &name) { return hz::conf::load_device(HZ_DEVICES "/" + name + ".yaml"); }

} // namespace

// Instructions come on top: some 0.3 s at 1 GHz (docs/internals/recovery.md, "What a mount costs").
TEST(FullMount, OneTerabyteWithItsMapInFlash)
{
	const hz_device_config cfg = preset("conzone-1tb");
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	const Mounted full = mount_with(cfg, shape.zones), half = mount_with(cfg, shape.zones / 2);
	EXPECT_LT(full.took_ns, 600000000u);
	EXPECT_LT(half.took_ns, full.took_ns);
	const hz_mount_cost *step = full.report.step;
	EXPECT_EQ(step[HZ_MOUNT_SLC_LOG].pages, (shape.slc_superblocks - erased_slc) * shape.planes * shape.slc_pages_per_block);
	EXPECT_EQ(step[HZ_MOUNT_HEADS].pages, shape.zones);
	EXPECT_EQ(step[HZ_MOUNT_REACH].pages, shape.zones * shape.superblock_planes) << "the last page of each block";
	EXPECT_EQ(step[HZ_MOUNT_REACH].senses * cfg.planes_per_die, step[HZ_MOUNT_REACH].pages);
	EXPECT_EQ(step[HZ_MOUNT_STAGED].pages, 0u);
	EXPECT_EQ(step[HZ_MOUNT_MAP].pages, 0u) << "full table pages are looked at when they are needed";
	uint64_t sum_ns = 0;
	for (const hz_mount_cost &cost : full.report.step)
		sum_ns += cost.ns;
	EXPECT_EQ(sum_ns, full.took_ns);
}

TEST(FullMount, OneTerabyteWithAMapOfZones)
{
	const hz_device_config cfg = preset("zufs");
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	EXPECT_LT(mount_with(cfg, shape.zones).took_ns, 600000000u);
}

// Entries are made when they are asked for.
TEST(FullMount, OneTerabyteWithItsMapInMemory)
{
	hz_device_config cfg = preset("conzone-1tb");
	cfg.l2p_cache_bytes = 0;
	cfg.l2p_levels = HZ_MAP_PAGE;
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	const Mounted full = mount_with(cfg, shape.zones, 2048);
	EXPECT_LT(full.took_ns, 600000000u);
	EXPECT_EQ(full.report.step[HZ_MOUNT_MAP].pages, 0u);
}

namespace {

// A block namespace on the media of conzone-1tb: a 64th of 1 TB.
hz_device_config large_blocks()
{
	hz_device_config cfg = preset("conzone-1tb");
	cfg.namespace_kind = HZ_NS_BLOCK;
	cfg.zones = 64;
	cfg.max_open = cfg.max_active = 0;
	cfg.conventional_spare = 8;
	cfg.conventional_streams = 1;
	cfg.conventional_buffers = 2;
	cfg.conventional_gc_low = 3;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + 64 + 8 + 8;
	cfg.l2p_levels = HZ_MAP_PAGE;
	return cfg;
}

uint64_t dies_of(const hz_device_config &cfg, const hz_shape &shape) { return shape.planes / cfg.planes_per_die; }

} // namespace

// Every table page of the map is read, in the order on flash, and no die waits for another; then the last record of each backing zone;
// these are all on one die when zones are full.
TEST(FullMount, BlocksWithTheirMapInFlash)
{
	for (const hz_device_config &cfg : {large_blocks(), preset("cufs"), preset("conzone-f2fs")}) {
		SCOPED_TRACE(cfg.name);
		hz_shape shape;
		hz_shape_of(&cfg, &shape);
		const Mounted full = mount_with(cfg, UINT32_MAX);
		const hz_mount_cost &cost = full.report.step[HZ_MOUNT_CONVENTIONAL];
		const uint64_t pages = uint64_t(shape.map_pages_per_zone) * shape.conventional_zones;
		const uint64_t flash_pages = pages / shape.page_sectors + shape.map_checkpoints + shape.map_directories +
					     2 * dies_of(cfg, shape);
		const uint64_t cells_ns = flash_pages * cfg.slc.read_ns[0] / dies_of(cfg, shape);
		const uint64_t bus_ns = cost.bytes * 1000000000 / cfg.channel_bytes_per_s / cfg.channels;
		const uint64_t least_ns = std::max(cells_ns, bus_ns) + uint64_t(shape.backing_zones) * cfg.normal.read_ns[0];
		printf("conventional: %.2f ms, at least %.2f\n", double(cost.ns) / 1e6, double(least_ns) / 1e6);
		EXPECT_GE(full.data_sectors, pages);
		EXPECT_LT(full.data_sectors, pages + pages / 8 + 16);
		EXPECT_LT(cost.ns, least_ns + least_ns / 4);
	}
}

// Every programmed page is read, for its records: that takes as long as the cells take.
TEST(FullMount, BlocksWithTheirMapInMemory)
{
	hz_device_config cfg = preset("cufs");
	cfg.l2p_cache_bytes = cfg.l2p_compress = cfg.l2p_directory = 0;
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	const Mounted full = mount_with(cfg, UINT32_MAX);
	const hz_mount_cost &cost = full.report.step[HZ_MOUNT_CONVENTIONAL];
	const uint64_t least_ns = cost.senses * cfg.normal.read_ns[0] / dies_of(cfg, shape);
	printf("conventional: %.2f ms, at least %.2f\n", double(cost.ns) / 1e6, double(least_ns) / 1e6);
	EXPECT_EQ(cost.senses * cfg.planes_per_die, cost.pages);
	EXPECT_EQ(cost.pages, uint64_t(shape.backing_zones) * shape.superblock_sectors / shape.page_sectors);
	EXPECT_LT(cost.ns, least_ns + least_ns / 10);
	EXPECT_EQ(full.data_sectors, 0u);
}
