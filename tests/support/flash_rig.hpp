// One flash device in a test's memory: config, media, TSU, and transactions that record when and how they ended.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base_config.hpp"
#include "config_check.h"
#include "device_memory.hpp"
#include "lt/hart.h"
#include "port_arch.h"
#include "host_clock.h"
#include "nand/nand_media.h"
#include "tsu/tsu.h"
#include "tsu/tsu_report.h"

namespace rig {

constexpr uint64_t command_ns = 200; // of every command

inline constexpr uint32_t plain_scheme = 15; // PDWC: stripe column = flat plane number

// A small MLC device, page by page; the times are those of MCMQ's Table I, the channel moves 4 KiB in 10 us.
inline hz_device_config small_config()
{
	hz_device_config cfg = support::base_config();
	cfg.blocks_per_plane = 8;
	cfg.pages_per_block = 16;
	cfg.page_bytes = 8192;
	cfg.slc_blocks_per_plane = 2;
	cfg.cell = HZ_CELL_MLC;
	cfg.program_pages = 1;
	cfg.plane_scheme = plain_scheme;
	cfg.slc = {{20000}, {75000}, 1000000, 0};
	cfg.normal = {{56200, 71500}, {381200, 1578500}, 1200000, 0};
	cfg.channel_bytes_per_s = 409600000;
	cfg.command_ns = command_ns;
	cfg.read_age_limit_ns = 10000000;
	cfg.spare_superblocks = 1;
	return cfg;
}

// A transaction with its own buffer.
struct Txn {
	tsu_txn txn{};
	std::vector<uint8_t> buffer;
	std::vector<uint8_t *> pages;
	std::vector<hz_oob> oob;
	uint64_t delivered_ns = 0;
	bool done = false;
	std::function<void(Txn &)> then;

	explicit Txn(uint32_t sectors) : buffer(static_cast<size_t>(sectors) * HZ_SECTOR_BYTES), oob(sectors)
	{
		for (size_t at = 0; at < buffer.size(); at += HZ_SECTOR_BYTES)
			pages.push_back(buffer.data() + at);
		txn.data = {pages.data(), 0, static_cast<uint32_t>(buffer.size())};
		txn.oob = oob.data();
	}
	Txn(const Txn &) = delete;
	uint64_t took_ns() const { return txn.end_ns - txn.submit_ns; }
};

class Rig {
public:
	explicit Rig(const hz_device_config &config, const nand_policy *policy = nullptr, std::shared_ptr<Image> image = nullptr,
		     bool test_clock = true)
		: cfg(config)
	{
		char text[256];
		if (const char *error = hz_flash_config_check(&cfg, text, sizeof text)) {
			fprintf(stderr, "%s\n", error);
			abort();
		}
		if (test_clock)
			lt_host_clock_test(1000);
		else
			lt_host_clock_steady();
		lt_harts_init(&memory_.space(), cfg.harts, 16);
		flash_map_init(&map, &memory_.space(), &cfg);
		image_ = image ? image : std::make_shared<Image>(hz_nand_image_bytes(&cfg));
		nand_policy chosen = policy ? *policy : nand_policy{};
		if (!chosen.refused) {
			chosen.refused = [](void *self, const char *rule) { static_cast<Rig *>(self)->refusals.push_back(rule); };
			chosen.ctx = this;
		}
		mount_error = nand_media_init(&media, &cfg, &map, image_->base(), image_->bytes(), &chosen);
		if (!mount_error)
			tsu = tsu_init(&memory_.space(), &cfg, &map, &media.nand);
	}

	// Address of a sector by flat plane; needs plain_scheme.
	ppa_t ppa(uint32_t plane, uint32_t block, uint32_t sector) const
	{
		uint32_t unit = block < map.slc_superblocks ? cfg.slc_program_sectors : map.shape.unit_sectors;
		return ppa_make(&map, block, (sector / unit * map.shape.planes + plane) * unit + sector % unit);
	}
	Txn &make(tsu_op op, uint32_t plane, uint32_t block, uint32_t sector, uint32_t sectors, hz_cause cause = HZ_CAUSE_HOST)
	{
		Txn &made = txns_.emplace_back(sectors);
		made.txn.op = op;
		made.txn.cause = cause;
		made.txn.sectors = static_cast<uint16_t>(sectors);
		made.txn.ppa = ppa(plane, block, sector);
		made.txn.owner = &owner_;
		made.txn.done = [](tsu_txn *txn) {
			Txn &self = *reinterpret_cast<Txn *>(txn);
			self.delivered_ns = clock_now_ns();
			self.done = true;
			if (self.then)
				self.then(self);
		};
		for (uint32_t i = 0; op == TSU_PROGRAM && i < sectors; i++)
			made.oob[i] = {++sequence_, made.txn.ppa + i, {1}, HZ_OOB_DATA, 0, 0};
		return made;
	}
	Txn &read(uint32_t plane, uint32_t block, uint32_t sector, uint32_t sectors, hz_cause cause = HZ_CAUSE_HOST)
	{
		return make(TSU_READ, plane, block, sector, sectors, cause);
	}
	Txn &program(uint32_t plane, uint32_t block, uint32_t sector, uint32_t sectors, hz_cause cause = HZ_CAUSE_HOST)
	{
		return make(TSU_PROGRAM, plane, block, sector, sectors, cause);
	}
	Txn &erase(uint32_t plane, uint32_t block) { return make(TSU_ERASE, plane, block, 0, 0, HZ_CAUSE_GC); }
	void submit(Txn &txn) { tsu_submit(tsu, &txn.txn); }
	void submit_list(const std::vector<Txn *> &list)
	{
		for (size_t i = 0; i < list.size(); i++)
			list[i]->txn.next = i + 1 < list.size() ? &list[i + 1]->txn : nullptr;
		tsu_submit_list(tsu, &list[0]->txn);
	}
	Txn &run(Txn &txn)
	{
		submit(txn);
		lt_host_run_until_idle();
		return txn;
	}
	flash_addr addr(uint32_t plane, uint32_t block, uint32_t sector) const { return flash_addr_of(&map, ppa(plane, block, sector)); }
	uint64_t transfer_ns(uint32_t sectors) const
	{
		return (sectors * 4096ull * 1000000000 + cfg.channel_bytes_per_s / 2) / cfg.channel_bytes_per_s;
	}
	std::shared_ptr<Image> image() const { return image_; }
	hz_log_energy energy() const
	{
		hz_log_flash flash;
		hz_log_energy energy;
		tsu_report(tsu, &flash);
		tsu_energy_published(tsu, &energy);
		return energy;
	}
	struct arena *memory() { return &memory_.space(); }

	hz_device_config cfg;
	flash_map map{};
	nand_media media{};
	struct tsu *tsu = nullptr;
	const char *mount_error = nullptr;
	std::vector<std::string> refusals;

private:
	DeviceMemory memory_{64 << 20};
	std::shared_ptr<Image> image_;
	std::deque<Txn> txns_;
	lt_thread owner_{"owner", 0};
	uint64_t sequence_ = 0;
};

// Work of the TSU while each die had four programs and four reads, a pair at a time.
inline tsu_work work_of_all_dies(uint32_t dies)
{
	hz_device_config cfg = small_config();
	cfg.channels = 4;
	cfg.chips_per_channel = dies / 4;
	cfg.media_mode = HZ_MEDIA_TIMING_ONLY;
	Rig r(cfg);
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t die = 0; die < dies; die++) {
			r.submit(r.program(die, 3, round * 2, 2));
			r.submit(r.read(die, 4, 0, 2));
		}
		lt_host_run_until_idle();
	}
	tsu_work work;
	tsu_work_done(r.tsu, &work);
	return work;
}

} // namespace rig
