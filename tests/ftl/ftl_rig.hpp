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
#include "keep_size.h"
#include "inside.h"
#include "lock_classes.h"
#include "lt/checks.h"
#include "request_memory.hpp"

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

// Buffers that share their memory: so many sectors beyond those that each is sure of.
inline void share_memory(hz_device_config &cfg, uint32_t sectors)
{
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	sectors += (cfg.write_buffers + (shape.backing_zones ? cfg.conventional_buffers : 0)) * cfg.flush_unit_planes * shape.unit_sectors;
	cfg.buffer_pool_bytes = uint64_t(sectors) * HZ_SECTOR_BYTES;
	cfg.buffer_flush_percent = 70;
}

// Zone-aware buffer management (ZUFS): a buffer for each active zone, slots beyond those that each is sure of, written out by die or superpage.
inline void use_slots(hz_device_config &cfg, uint32_t sectors, uint32_t kind, uint32_t flush)
{
	cfg.buffer_binding = cfg.max_active ? HZ_BIND_PER_ZONE : HZ_BIND_FIRST_FREE;
	if (cfg.max_active)
		cfg.write_buffers = cfg.max_active;
	share_memory(cfg, sectors);
	cfg.buffer_slots = kind;
	cfg.buffer_flush = flush;
}

// A buffer's memory is another zone's once the dies have what was in it; polled: who asks next gets it.
inline void lend_buffers(hz_device_config &cfg, bool polled = false)
{
	cfg.buffer_release = HZ_RELEASE_TRANSFERRED;
	if (!polled)
		return;
	cfg.buffer_binding = HZ_BIND_MODULO;
	cfg.buffer_handover = HZ_HANDOVER_POLLED;
	cfg.buffer_poll_ns = 2000;
}

// … of which capacitors keep `guarded` alive, beyond those that each is sure of.
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
	const uint32_t kept = 2 * hz_keep_superblocks(&cfg, &shape);
	cfg.slc_blocks_per_plane += kept;
	cfg.blocks_per_plane += kept;
}

// Superblocks, and so zones, on so many of the planes: as large as before, in longer blocks, and no fewer.
inline void use_planes(hz_device_config &cfg, uint32_t planes)
{
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	const uint32_t groups = shape.planes / planes;
	cfg.superblock_planes = planes;
	cfg.pages_per_block *= groups;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + (shape.normal_superblocks + groups - 1) / groups;
}

// A number from the environment, for tests whose seeds and rounds can be chosen.
inline uint64_t environment(const char *name, uint64_t otherwise)
{
	const char *text = std::getenv(name);
	return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

// A page full of one tag: 0 is a page of zeros.
inline void fill_sector(uint8_t *page, uint64_t tag)
{
	std::memcpy(page, &tag, sizeof tag);
	for (size_t done = sizeof tag; done < HZ_SECTOR_BYTES; done *= 2)
		std::memcpy(page + done, page, done);
}
inline bool sector_is(const uint8_t *page, uint64_t tag)
{
	return std::memcmp(page, &tag, sizeof tag) == 0 && std::memcmp(page, page + sizeof tag, HZ_SECTOR_BYTES - sizeof tag) == 0;
}

// A tag that no test writes.
constexpr uint64_t foreign_tag = ~0ull;

inline bool is_copy(int op) { return op == FTL_COPY || op == FTL_COPY_APPEND; }
constexpr uint16_t application_tag = 0x1234;
inline bool is_read(int op) { return op == FTL_READ || op == FTL_VERIFY || op == FTL_COMPARE; }

struct Request {
	ftl_request req{};
	std::vector<uint8_t> data;
	std::vector<uint8_t *> pages;
	std::vector<uint8_t> tuples; // as the host library makes them, on a device that has protection information
	bool done = false;
	uint64_t done_ns = 0;     // when the host may know
	uint64_t answered_ns = 0; // when the FTL gave it back
	std::function<void(Request &)> then;

	Request(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0, uint32_t bytes = 0)
		: data(Buffers::take(bytes ? whole_sectors(bytes) : size_t(sectors) * HZ_SECTOR_BYTES))
	{
		pages.resize(data.size() / HZ_SECTOR_BYTES);
		for (size_t i = 0; i < pages.size(); i++)
			pages[i] = data.data() + i * HZ_SECTOR_BYTES;
		req.op = op;
		req.flags = flags;
		req.lba = lba;
		req.sectors = sectors;
		req.sgl = {pages.data(), 0, bytes ? bytes : static_cast<uint32_t>(data.size())};
		req.done = [](ftl_request *r) {
			auto &self = *reinterpret_cast<Request *>(r);
			self.done = true;
			self.answered_ns = clock_now_ns();
			self.done_ns = clock_now_ns() > r->ready_ns ? clock_now_ns() : r->ready_ns;
			self.check_tuples();
			if (self.then)
				self.then(self);
		};
	}
	static size_t whole_sectors(uint32_t bytes) { return (size_t(bytes) + HZ_SECTOR_BYTES - 1) / HZ_SECTOR_BYTES * HZ_SECTOR_BYTES; }
	// FTL_DEALLOCATE: of these.
	void name_ranges(const std::vector<nvme_dsm_range> &ranges)
	{
		req.sectors = static_cast<uint32_t>(ranges.size());
		req.sgl.bytes = static_cast<uint32_t>(ranges.size() * sizeof(nvme_dsm_range));
		sgl_write(&req.sgl, 0, ranges.data(), req.sgl.bytes);
	}
	// FTL_COPY: from these, {first LBA, sectors}.
	void name_sources(const std::vector<std::pair<uint64_t, uint32_t>> &sources)
	{
		std::vector<nvme_copy_range> list;
		for (const auto &[lba, sectors] : sources) {
			nvme_copy_range range{};
			range.slba = lba;
			range.nlb = static_cast<uint16_t>(sectors - 1);
			range.eilbrt = static_cast<uint32_t>(lba);
			range.elbat = application_tag;
			range.elbatm = 0xffff;
			list.push_back(range);
		}
		req.sectors = static_cast<uint32_t>(list.size());
		req.sgl.bytes = static_cast<uint32_t>(list.size() * sizeof(list[0]));
		sgl_write(&req.sgl, 0, list.data(), req.sgl.bytes);
	}
	Request(const Request &) = delete;
	~Request() { Buffers::give(std::move(data)); }
	uint16_t status() const { return req.status; }
	bool brings_data() const { return req.op == FTL_WRITE || req.op == FTL_APPEND || req.op == FTL_UPDATE || req.op == FTL_COMPARE; }
	hz_tuple tuple(uint32_t i) const { return hz_tuple_load(&tuples[i * HZ_TUPLE_BYTES]); }
	hz_tuple expected(uint32_t i) const { return {guard_of(pages[i]), req.expected.application, req.expected.reference + i}; }
	// Everything is made and checked, unless the test has said what it wants.
	void protect()
	{
		if (is_copy(req.op) && !chosen) {
			req.expected = {0, application_tag, static_cast<uint32_t>(req.lba)};
			req.tag_mask = 0xffff;
			req.protect = req.source_checks = HZ_CHECK_ALL;
		}
		if (req.op > FTL_WRITE_ZEROES || chosen)
			return;
		const bool moves = req.op == FTL_READ || brings_data();
		tuples.assign(req.sectors * HZ_TUPLE_BYTES, 0);
		req.tuples = tuples.data();
		req.expected = {0, application_tag, static_cast<uint32_t>(req.lba)};
		req.tag_mask = 0xffff;
		req.protect = static_cast<uint8_t>(HZ_CHECK_ALL | (moves ? FTL_HOST_TUPLES : 0));
		for (uint32_t i = 0; brings_data() && i < req.sectors; i++)
			hz_tuple_store(&tuples[i * HZ_TUPLE_BYTES], expected(i));
	}
	void check_tuples() const
	{
		for (uint32_t i = 0; req.op == FTL_READ && !req.status && !chosen && i < tuples.size() / HZ_TUPLE_BYTES; i++) {
			EXPECT_EQ(hz_tuple_check(tuple(i), expected(i), HZ_CHECK_ALL, 0xffff), 0) << "sector " << i;
		}
	}
	bool chosen = false; // by the test: what is in req about protection
};

class Rig {
public:
	explicit Rig(const hz_device_config &config, std::shared_ptr<rig::Image> image = nullptr, uint64_t memory = 48 << 20)
		: cfg(config), image_(image ? image : std::make_shared<rig::Image>(hz_nand_image_bytes(&config))), memory_(memory)
	{
		char text[256];
		if (const char *broken = hz_device_config_check(&cfg, text, sizeof text)) {
			fprintf(stderr, "%s\n", broken);
			abort();
		}
		hz_shape_of(&cfg, &shape);
	}

	// Power on, and what mount leaves to do is done: everything but the image starts anew. False: the mount failed (see error). A cut in
	// what mount leaves to do is one more start, with a later cut.
	bool boot(nand_policy policy = {}, bool test_clock = true)
	{
		while (start(policy, test_clock) && test_clock) {
			lt_host_run_until_idle();
			if (!lt_load(&media.off))
				return true;
			policy.power_cut_op += 7;
			cuts_in_recovery++;
		}
		return ftl != nullptr;
	}
	bool start(nand_policy policy = {}, bool test_clock = true)
	{
		if (ftl && cfg.plp_bytes && !lt_load(&media.off))
			rig_lose_power(tsu);
		if (test_clock)
			lt_host_clock_test(1000);
		else
			lt_host_clock_steady();
		memory_.restart();
		arena *const space = &memory_.space();
		space->ledger = ledger;
		lt_harts_init(space, cfg.harts, 16);
		EXPECT_EQ(ftl_lock_classes_init(space, &cfg), nullptr);
		lt_locks_check(true);
		flash_map_init(&map, space, &cfg);
		policy.refused = [](void *, const char *rule) {
			ADD_FAILURE() << "flash rule broken: " << rule;
			fprintf(stderr, "flash rule broken: %s\n", rule);
		};
		media = {};
		ftl = nullptr;
		error = nand_media_init(&media, &cfg, &map, image_->base(), image_->bytes(), &policy);
		if (error)
			return false;
		if (before_mount)
			before_mount();
		tsu = tsu_init(space, &cfg, &map, &media.nand);
		link_init(&links.to_host, cfg.pcie_bytes_per_s);
		link_init(&links.to_device, cfg.pcie_bytes_per_s);
		ftl = ftl_init(space, &cfg, &map, tsu, &links, &error);
		if (test_clock)
			lt_host_clock_set(clock_now_ns()); // the other harts begin when the mount has ended
		return ftl != nullptr;
	}
	void submit(Request &r, unsigned worker = 0)
	{
		r.done = false;
		r.req.reply_to = &hil_;
		r.req.life = life;
		if (cfg.protection != HZ_PROTECTION_NONE)
			r.protect();
		ftl_submit(ftl, worker, &r.req);
	}
	uint16_t run(Request &r, unsigned worker = 0)
	{
		submit(r, worker);
		lt_host_run_until_idle();
		EXPECT_TRUE(r.done) << "request of op " << int(r.req.op) << " never completed";
		return r.status();
	}
	// A controller reset: what was submitted since the last one ends. Runs until all of it has, and not longer.
	template <typename F> void abandon(F ended)
	{
		Request reset(FTL_ABANDON, life++, 0);
		reset.req.reply_to = &hil_;
		ftl_submit(ftl, 0, &reset.req);
		for (uint64_t give_up_ns = clock_now_ns() + 1000000000; !(reset.done && ended()) && clock_now_ns() < give_up_ns;)
			lt_host_run_until(clock_now_ns() + 500);
		EXPECT_TRUE(reset.done) << "the FTL did not abandon";
	}
	uint8_t *bytes() const { return static_cast<uint8_t *>(image_->base()); }
	uint64_t image_bytes() const { return image_->bytes(); }
	uint64_t lba_of(uint32_t zone, uint32_t offset = 0) const { return zone * shape.zone_size_sectors + offset; }
	// tag of sector i of the request = tag + i
	uint16_t write(uint32_t zone, uint32_t offset, uint32_t sectors, uint64_t tag, uint8_t flags = 0, unsigned worker = 0)
	{
		Request r(FTL_WRITE, lba_of(zone, offset), sectors, flags);
		for (uint32_t i = 0; i < sectors; i++)
			fill_sector(r.pages[i], tag + i);
		return run(r, worker);
	}
	uint16_t run_op(ftl_op op, uint32_t zone, uint8_t flags = 0)
	{
		Request r(op, lba_of(zone), 0, flags);
		return run(r);
	}
	// "" or what is wrong with [offset, offset + sectors): expected tag, tag + 1, … (zeros: expected 0)
	std::string compare(uint32_t zone, uint32_t offset, uint32_t sectors, uint64_t tag)
	{
		Request r(FTL_READ, lba_of(zone, offset), sectors);
		if (uint16_t status = run(r))
			return "read status " + std::to_string(status);
		for (uint32_t i = 0; i < sectors; i++)
			if (!sector_is(r.pages[i], tag ? tag + i : 0))
				return "zone " + std::to_string(zone) + " sector " + std::to_string(offset + i) + " differs";
		return "";
	}
	std::vector<nvme_zone_descriptor> report_zones(uint8_t filter = 0)
	{
		Request r(FTL_ZONE_REPORT, 0, 0, 0, 64 + 64 * shape.zones);
		r.req.report_filter = filter;
		EXPECT_EQ(run(r), 0);
		uint64_t zones;
		std::memcpy(&zones, r.data.data(), 8);
		std::vector<nvme_zone_descriptor> out(zones);
		if (zones)
			std::memcpy(out.data(), r.data.data() + 64, zones * 64);
		return out;
	}
	// An orderly shutdown.
	uint16_t come_to_rest()
	{
		Request flush(FTL_FLUSH, 0, 0, FTL_AT_REST);
		return run(flush);
	}
	bool at_rest() { return media.nand.ops->rest(&media.nand, 0).at_rest; }
	// Number of the OOB record of a zone's sector, staged or at its place; backing zones follow the namespace's. UINT64_MAX: it is nowhere.
	uint64_t record_at(uint32_t zone, uint32_t offset)
	{
		uint32_t ppa = rig_place_of(ftl, zone, offset);
		return ppa == UINT32_MAX ? UINT64_MAX : rig::record_of(media, flash_addr_of(&map, ppa));
	}
	// First LBAs of the zones that the device has changed.
	std::vector<uint64_t> changed_zones(bool take = false)
	{
		std::vector<uint64_t> start(shape.zones);
		start.resize(ftl_changed_zones(ftl, start.data(), shape.zones, take));
		return start;
	}
	ftl_damage found_damage()
	{
		ftl_damage damage;
		ftl_damage_found(ftl, &damage);
		return damage;
	}
	uint8_t zone_state(uint32_t zone) { return report_zones()[zone].state >> 4; }
	hz_log_ftl counters()
	{
		hz_log_ftl log;
		ftl_report(ftl, &log);
		return log;
	}
	std::string check()
	{
		const char *broken = ftl_check(ftl);
		return broken ? broken : "";
	}

	hz_device_config cfg;
	hz_shape shape{};
	flash_map map{};
	nand_media media{};
	struct tsu *tsu = nullptr;
	link_pair links{};
	struct ftl *ftl = nullptr;
	const char *error = nullptr;
	arena_ledger *ledger = nullptr; // who holds what, from the next start on
	uint32_t life = 1;              // of the controller that all requests are for
	uint32_t cuts_in_recovery = 0;
	std::function<void()> before_mount; // with the media at hand

private:
	std::shared_ptr<rig::Image> image_;
	rig::DeviceMemory memory_;
	lt_thread hil_{"hil", 0};
};

} // namespace ftl_rig
