// A whole FTL over a NAND image in memory.
// SPDX-License-Identifier: BSD-3-Clause
#include "ftl_rig.hpp"

namespace ftl_rig {

Rig::Rig(const hz_device_config &config, std::shared_ptr<rig::Image> image, uint64_t memory)
	: cfg(config), image_(image ? image : rig::blank_image(config)), memory_(memory)
{
	char text[256];
	if (const char *broken = hz_device_config_check(&cfg, text, sizeof text)) {
		fprintf(stderr, "%s\n", broken);
		abort();
	}
	hz_shape_of(&cfg, &shape);
}

bool Rig::boot(nand_policy policy, bool test_clock)
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

bool Rig::start(nand_policy policy, bool test_clock)
{
	if (ftl && cfg.plp_bytes && !lt_load(&media.off) && !killed)
		rig_lose_power(tsu);
	killed = false;
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

void Rig::submit(Request &r, unsigned worker)
{
	r.done = false;
	r.req.reply_to = &hil_;
	r.req.life = life;
	if (cfg.protection != HZ_PROTECTION_NONE)
		r.protect();
	ftl_submit(ftl, worker, &r.req);
}

uint16_t Rig::run(Request &r, unsigned worker)
{
	submit(r, worker);
	lt_host_run_until_idle();
	EXPECT_TRUE(r.done) << "request of op " << int(r.req.op) << " never completed";
	return r.status();
}

uint16_t Rig::run_over_marks(Request &read)
{
	uint16_t status = run(read);
	if (status != NVME_HZ_MARKED)
		return status;
	for (uint32_t i = 0; i < read.req.sectors; i++) {
		Request one(FTL_READ, read.req.lba + i, 1);
		status = run(one);
		if (status && status != NVME_HZ_MARKED)
			return status;
		if (status)
			fill_sector(read.pages[i], marked_tag);
		else
			std::memcpy(read.pages[i], one.pages[0], HZ_SECTOR_BYTES);
	}
	return NVME_SUCCESS;
}

uint16_t Rig::write(uint32_t zone, uint32_t offset, uint32_t sectors, uint64_t tag, uint8_t flags, unsigned worker)
{
	Request r(FTL_WRITE, lba_of(zone, offset), sectors, flags);
	for (uint32_t i = 0; i < sectors; i++)
		fill_sector(r.pages[i], tag + i);
	return run(r, worker);
}

uint16_t Rig::run_op(ftl_op op, uint32_t zone, uint8_t flags)
{
	Request r(op, lba_of(zone), 0, flags);
	return run(r);
}

std::string Rig::compare(uint32_t zone, uint32_t offset, uint32_t sectors, uint64_t tag)
{
	Request r(FTL_READ, lba_of(zone, offset), sectors);
	if (uint16_t status = run(r))
		return "read status " + std::to_string(status);
	for (uint32_t i = 0; i < sectors; i++)
		if (!sector_is(r.pages[i], tag ? tag + i : 0))
			return "zone " + std::to_string(zone) + " sector " + std::to_string(offset + i) + " differs";
	return "";
}

std::vector<nvme_zone_descriptor> Rig::report_zones(uint8_t filter)
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

uint16_t Rig::shut_down_cleanly()
{
	Request flush(FTL_FLUSH, 0, 0, FTL_CLEAN);
	return run(flush);
}

uint64_t Rig::record_at(uint32_t zone, uint32_t offset)
{
	uint32_t ppa = rig_place_of(ftl, zone, offset);
	return ppa == UINT32_MAX ? UINT64_MAX : rig::record_of(media, flash_addr_of(&map, ppa));
}

std::vector<uint64_t> Rig::changed_zones(bool take)
{
	std::vector<uint64_t> start(shape.zones);
	start.resize(ftl_changed_zones(ftl, start.data(), shape.zones, take));
	return start;
}

ftl_damage Rig::found_damage()
{
	ftl_damage damage;
	ftl_damage_found(ftl, &damage);
	return damage;
}

hz_log_ftl Rig::counters()
{
	hz_log_ftl log;
	ftl_report(ftl, &log);
	return log;
}

std::string Rig::check()
{
	const char *broken = ftl_check(ftl);
	if (!broken && cfg.rain)
		broken = rig_check_parity(ftl);
	return broken ? broken : "";
}

} // namespace ftl_rig
