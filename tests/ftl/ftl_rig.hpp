// A whole FTL over a NAND image in memory: boots (mounts) again and again on the same image, requests with their own buffers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "lt/lock.h"
}
#include "config_check.h"
#include "damage.hpp"
#include "flash_rig.hpp"
#include "ftl.h"
#include "geometry.h"
#include "dump_size.h"
#include "inside.h"
#include "port/ftl_namespaces.h"
#include "lt/checks.h"
#include "tuple.h"

namespace ftl_rig {

// TLC, 4 planes, program unit 24 KiB (6 sectors), superpage 24 sectors, superblock (zone) 96 sectors, SLC superblock 32 sectors.
inline hz_device_config ftl_config()
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 2;
	cfg.planes_per_die = 2;
	cfg.plane_scheme = 4; // CWDP
	cfg.pages_per_block = 12;
	cfg.cell = HZ_CELL_TLC;
	cfg.program_pages = 3;
	cfg.slc_blocks_per_plane = 7;
	cfg.blocks_per_plane = 7 + 10;
	cfg.spare_superblocks = 2;
	cfg.normal = {{32000, 32000, 32000, 0}, {937500, 0, 0, 0}, 3500000, 0};
	cfg.slc = {{20000, 0, 0, 0}, {75000, 0, 0, 0}, 2000000, 0};
	cfg.max_open = 3;
	cfg.max_active = 5;
	cfg.pcie_bytes_per_s = 3200000000;
	cfg.harts = 4;
	cfg.hil_hart[0] = 0;
	cfg.tsu_hart[0] = 1;
	cfg.worker_count = 2;
	cfg.worker_hart[0] = 2;
	cfg.worker_hart[1] = 3;
	cfg.inflight_requests = 16;
	return cfg;
}
// The last 14 sectors of a zone lie in an SLC superblock of its own.
inline hz_device_config patched_config()
{
	hz_device_config cfg = ftl_config();
	cfg.zone_capacity_sectors = 110;
	cfg.zone_size_sectors = 128;
	cfg.slc_blocks_per_plane = 18;
	cfg.blocks_per_plane = 28;
	return cfg;
}

// Each operation of the flash takes between a sixteenth and nearly twice of its time.
inline void spread_times(hz_device_config &cfg)
{
	const auto half = [](const hz_region_timing &times, hz_region_sigma &sigma) {
		for (uint32_t type = 0; type < HZ_PAGE_TYPES; type++)
			sigma.read_ns[type] = times.read_ns[type] / 2, sigma.program_ns[type] = times.program_ns[type] / 2;
		sigma.erase_ns = times.erase_ns / 2;
	};
	half(cfg.slc, cfg.slc_sigma), half(cfg.normal, cfg.normal_sigma);
}

// Buffers with shared memory: that many sectors beyond each one's reservation.
inline void share_memory(hz_device_config &cfg, uint32_t sectors)
{
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	sectors += (cfg.write_buffers + (shape.backing_zones ? cfg.conventional_buffers : 0)) * cfg.flush_unit_planes * shape.unit_sectors;
	cfg.buffer_pool_bytes = uint64_t(sectors) * HZ_SECTOR_BYTES;
	cfg.buffer_flush_percent = 70;
}

// Zone-aware buffer management (ZUFS): a buffer for each active zone, slots beyond each one's reservation, written out by die or superpage.
inline void use_slots(hz_device_config &cfg, uint32_t sectors, uint32_t kind, uint32_t flush)
{
	cfg.buffer_binding = cfg.max_active ? HZ_BIND_PER_ZONE : HZ_BIND_FIRST_FREE;
	if (cfg.max_active)
		cfg.write_buffers = cfg.max_active;
	share_memory(cfg, sectors);
	cfg.buffer_slots = kind;
	cfg.buffer_flush = flush;
}

// A buffer's memory goes to another zone once the dies have its data; polled: to the next one that asks.
inline void lend_buffers(hz_device_config &cfg, bool polled = false)
{
	cfg.buffer_release = HZ_RELEASE_TRANSFERRED;
	if (!polled)
		return;
	cfg.buffer_binding = HZ_BIND_MODULO;
	cfg.buffer_handover = HZ_HANDOVER_POLLED;
	cfg.buffer_poll_ns = 2000;
}

// … with `guarded` kept alive by capacitors, beyond each one's reservation.
inline void protect_memory(hz_device_config &cfg, uint32_t sectors, uint32_t guarded)
{
	share_memory(cfg, guarded);
	cfg.plp_mode = HZ_PLP_SELECTIVE;
	cfg.plp_controller_mw = 2000;
	cfg.plp_program_mw = 150;
	cfg.plp_transfer_mw = 100;
	cfg.plp_bytes = cfg.buffer_pool_bytes;
	share_memory(cfg, sectors);
	cfg.buffer_pool_bytes += cfg.plp_bytes;
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	const uint32_t kept = 2 * hz_dump_superblocks(&cfg, &shape);
	cfg.slc_blocks_per_plane += kept;
	cfg.blocks_per_plane += kept;
}

// Superblocks, and so zones, on that many of the planes: as large as before, in longer blocks, and no fewer.
inline void use_planes(hz_device_config &cfg, uint32_t planes)
{
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	const uint32_t groups = shape.planes / planes;
	cfg.superblock_planes = planes;
	cfg.pages_per_block *= groups;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + (shape.normal_superblocks + groups - 1) / groups;
}

// Parity over three dies, so that superblocks have as many data as before.
inline void use_rain(hz_device_config &cfg)
{
	cfg.channels = 3;
	cfg.rain = HZ_ON;
}

// A number from the environment, for tests with adjustable seeds and rounds.
inline uint64_t environment(const char *name, uint64_t otherwise)
{
	const char *text = std::getenv(name);
	return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

// A page full of one tag: 0 is a page of zeros.
void fill_sector(uint8_t *page, uint64_t tag);
bool sector_is(const uint8_t *page, uint64_t tag);

// A tag never written by a test.
constexpr uint64_t foreign_tag = ~0ull;
// Stands for the content of a sector that FTL_WRITE_UNCORRECTABLE has marked.
constexpr uint64_t marked_tag = ~1ull;

inline bool is_copy(int op) { return op == FTL_COPY || op == FTL_COPY_APPEND; }
constexpr uint16_t application_tag = 0x1234;
inline bool is_read(int op) { return op == FTL_READ || op == FTL_VERIFY || op == FTL_COMPARE; }

struct Request {
	ftl_request req{};
	std::vector<uint8_t> data;
	std::vector<uint8_t *> pages;
	std::vector<uint8_t> tuples; // as the host library makes them, on a device with protection information
	bool done = false;
	uint64_t done_ns = 0;     // when the host may know
	uint64_t answered_ns = 0; // when the FTL gave it back
	std::function<void(Request &)> then;

	Request(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0, uint32_t bytes = 0);
	static size_t whole_sectors(uint32_t bytes) { return (size_t(bytes) + HZ_SECTOR_BYTES - 1) / HZ_SECTOR_BYTES * HZ_SECTOR_BYTES; }
	// FTL_DEALLOCATE: of these.
	void name_ranges(const std::vector<nvme_dsm_range> &ranges);
	// FTL_PLACEMENT_UPDATE: of these.
	void name_handles(const std::vector<uint16_t> &identifiers);
	// FTL_COPY: from these, {first LBA, sectors}.
	void name_sources(const std::vector<std::pair<uint64_t, uint32_t>> &sources);
	Request(const Request &) = delete;
	~Request();
	uint16_t status() const { return req.status; }
	bool brings_data() const { return req.op == FTL_WRITE || req.op == FTL_APPEND || req.op == FTL_UPDATE || req.op == FTL_COMPARE; }
	hz_tuple tuple(uint32_t i) const;
	hz_tuple expected(uint32_t i) const;
	// Everything is made and checked, unless the test has chosen otherwise.
	void protect();
	void check_tuples() const;
	bool chosen = false; // by the test: the protection fields of req
};

class Rig {
public:
	explicit Rig(const hz_device_config &config, std::shared_ptr<rig::Image> image = nullptr, uint64_t memory = 48 << 20);

	// Power on, and mount's deferred work is done: everything but the image starts afresh. False: the mount failed (see error). A cut
	// in the deferred work is one more start, with a later cut.
	bool boot(nand_policy policy = {}, bool test_clock = true);
	bool start(nand_policy policy = {}, bool test_clock = true);
	void submit(Request &r, unsigned worker = 0);
	uint16_t run(Request &r, unsigned worker = 0);
	// A read over marks: a marked sector gets marked_tag as its content.
	uint16_t run_over_marks(Request &read);
	// A controller reset: requests submitted since the last one end. Runs until all of them have, and not longer.
	template <typename F> void cancel(F ended)
	{
		Request reset(FTL_CANCEL, life++, 0);
		reset.req.reply_to = &hil_;
		ftl_submit(ftl, 0, &reset.req);
		for (uint64_t give_up_ns = clock_now_ns() + 1000000000; !(reset.done && ended()) && clock_now_ns() < give_up_ns;)
			lt_host_run_until(clock_now_ns() + 500);
		EXPECT_TRUE(reset.done) << "the FTL did not cancel";
	}
	uint8_t *bytes() const { return static_cast<uint8_t *>(image_->base()); }
	uint64_t image_bytes() const { return image_->bytes(); }
	uint64_t lba_of(uint32_t zone, uint32_t offset = 0) const { return zone * shape.zone_size_sectors + offset; }
	// tag of sector i of the request = tag + i
	uint16_t write(uint32_t zone, uint32_t offset, uint32_t sectors, uint64_t tag, uint8_t flags = 0, unsigned worker = 0);
	uint16_t run_op(ftl_op op, uint32_t zone, uint8_t flags = 0);
	// "" or the fault in [offset, offset + sectors): expected tag, tag + 1, … (zeros: expected 0)
	std::string compare(uint32_t zone, uint32_t offset, uint32_t sectors, uint64_t tag);
	std::vector<nvme_zone_descriptor> report_zones(uint8_t filter = 0);
	// An orderly shutdown.
	uint16_t shut_down_cleanly();
	bool is_clean() { return media.nand.ops->clean_mark(&media.nand, 0).clean; }
	// Number of the OOB record of a zone's sector, staged or at its place; backing zones follow the namespace's. UINT64_MAX: it is nowhere.
	uint64_t record_at(uint32_t zone, uint32_t offset);
	// First LBAs of the zones changed by the device.
	std::vector<uint64_t> changed_zones(bool take = false);
	ftl_damage found_damage();
	uint8_t zone_state(uint32_t zone) { return report_zones()[zone].state >> 4; }
	hz_log_ftl counters();
	std::string check();

	hz_device_config cfg;
	hz_shape shape{};
	flash_map map{};
	nand_media media{};
	struct tsu *tsu = nullptr;
	link_pair links{};
	struct ftl *ftl = nullptr;
	const char *error = nullptr;
	arena_ledger *ledger = nullptr; // owners of memory, from the next start on
	uint32_t life = 1;              // controller life of all requests
	uint32_t cuts_in_recovery = 0;
	bool killed = false;                // the next start finds the image as it stands: capacitors had no time for anything
	std::function<void()> before_mount; // with the media initialized

private:
	std::shared_ptr<rig::Image> image_;
	rig::DeviceMemory memory_;
	lt_thread hil_{"hil", 0};
};

} // namespace ftl_rig
