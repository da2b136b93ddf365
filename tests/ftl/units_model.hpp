// Two units in one device: sequential zones under a map of zones, and conventional zones under a map of sectors. A driver runs both models'
// operations side by side, in the same batches and with the same power cuts.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "conventional_model.hpp"
#include "model.hpp"

namespace ftl_rig {

// Three conventional zones and five sequential ones.
inline hz_device_config units_config(bool mapped)
{
	hz_device_config cfg = mapped ? mapped_conventional_config() : conventional_config();
	cfg.l2p_kind = HZ_L2P_KIND_ZONE;
	cfg.l2p_zone_log = 1;
	cfg.conventional_zones = 3;
	cfg.zones = 8;
	cfg.blocks_per_plane += 2;
	fit_slc(cfg);
	return cfg;
}

struct UnitsLayout {
	const char *name;
	bool mapped;
	void (*change)(hz_device_config &) = [](hz_device_config &) {};
};
inline const UnitsLayout units_layouts[] = {
	{"Flat", false},
	{"Mapped", true},
	{"MappedBlockingLateLog", true,
	 [](hz_device_config &cfg) {
		 cfg.l2p_log_policy = HZ_L2P_LOG_BLOCKING, cfg.l2p_zone_log = 5, cfg.max_active = 0, cfg.max_open = 0;
	 }},
	{"Compressed", true, [](hz_device_config &cfg) { cfg.l2p_compress = HZ_ON; }},
	{"Directory", true, [](hz_device_config &cfg) { cfg.l2p_compress = HZ_ON, use_directory(cfg); }},
	{"FlatSlc", false, [](hz_device_config &cfg) { lay_out(cfg, false, true); }},
	{"MappedSlc", true, [](hz_device_config &cfg) { lay_out(cfg, false, true); }},
	{"MappedSlots", true, [](hz_device_config &cfg) { use_slots(cfg, 30, HZ_SLOTS_LOCKED, HZ_BUFFER_FLUSH_UNIT); }},
	{"MappedProtected", true, [](hz_device_config &cfg) { protect_memory(cfg, 30, 20); }},
	{"MappedInPlace", true, [](hz_device_config &cfg) { cfg.in_place_sectors = 20; }},
	{"FlatCached", false, [](hz_device_config &cfg) { use_data_cache(cfg, 20, 9); }},
	{"MappedNarrow", true, [](hz_device_config &cfg) { use_planes(cfg, 2); }},
	{"FlatProtectedTuples", false, [](hz_device_config &cfg) { protect_memory(cfg, 30, 20), cfg.protection = HZ_PROTECTION_TYPE1; }},
};
inline hz_device_config units_config(const UnitsLayout &layout)
{
	hz_device_config cfg = units_config(layout.mapped);
	layout.change(cfg);
	fit_slc(cfg);
	return cfg;
}

struct UnitsBatch {
	std::vector<Op> zones;
	std::vector<ConventionalOp> sectors;
};

class UnitsDriver {
public:
	UnitsDriver(Rig &rig_, uint64_t seed) : rig(rig_), zones(rig_, seed), sectors(rig_, seed + 1) {}

	bool run_batch(const UnitsBatch &batch)
	{
		zones.begin(batch.zones);
		sectors.begin(batch.sectors);
		lt_host_run_until_idle();
		const bool alive = zones.end();
		return sectors.end() && alive;
	}
	uint32_t roll(uint32_t n) { return zones.roll(n); }
	UnitsBatch random_batch() { return {zones.random_batch(3), sectors.random_batch(4)}; }
	void check_recovered()
	{
		zones.check_recovered();
		sectors.check_recovered();
	}
	void all_durable()
	{
		zones.all_durable();
		sectors.all_durable();
	}
	void verify_all()
	{
		zones.verify_all();
		sectors.verify_all();
	}

	Rig &rig;
	Driver zones;
	ConventionalDriver sectors;
};

} // namespace ftl_rig
