/* struct hz_device_config → JSON: every field, so that a result can be repeated from its echo. */
#include "config/device_config.hpp"
#include "config/device_names.hpp"

#include <cstring>

namespace hz::conf {
namespace {

using nlohmann::json;

json region_json(const hz_region_timing &t)
{
	return {{"read_ns", t.read_ns}, {"program_ns", t.program_ns}, {"erase_ns", t.erase_ns}, {"endurance", t.endurance}};
}

json geometry_json(const hz_device_config &c)
{
	return {
		{"channels", c.channels}, {"chips_per_channel", c.chips_per_channel}, {"dies_per_chip", c.dies_per_chip},
		{"planes_per_die", c.planes_per_die}, {"blocks_per_plane", c.blocks_per_plane},
		{"pages_per_block", c.pages_per_block}, {"page_bytes", c.page_bytes},
		{"slc_blocks_per_plane", c.slc_blocks_per_plane}, {"cell", name_of(cell_names, c.cell, HZ_CELL_SLC)},
		{"program_pages", c.program_pages}, {"slc_program_sectors", c.slc_program_sectors},
		{"plane_scheme", name_of(plane_scheme_names(), c.plane_scheme)}, {"media", name_of(media_names, c.media_mode)},
	};
}

json timing_json(const hz_device_config &c)
{
	return {
		{"slc", region_json(c.slc)}, {"normal", region_json(c.normal)}, {"channel_bytes_per_s", c.channel_bytes_per_s},
		{"command_ns", c.command_ns}, {"suspend_ns", c.suspend_ns}, {"read_age_limit_ns", c.read_age_limit_ns},
		{"schedule", name_of(schedule_names, c.schedule)}, {"cache_read", name_of(off_on_names, c.cache_read)},
		{"cache_program", name_of(off_on_names, c.cache_program)}, {"cache_busy_ns", c.cache_busy_ns},
		{"interleave_sectors", c.interleave_sectors}, {"program_passes", c.program_passes},
	};
}

json faults_json(const hz_device_config &c)
{
	return {
		{"program_fail_ppb", c.program_fail_ppb}, {"erase_fail_ppb", c.erase_fail_ppb}, {"read_fail_ppb", c.read_fail_ppb},
		{"factory_bad_ppb", c.factory_bad_ppb}, {"read_retry_ppb", c.read_retry_ppb}, {"read_retries", c.read_retries},
		{"slow_die", c.slow_die}, {"slow_percent", c.slow_percent}, {"failed_die", c.failed_die},
		{"fail_program_at", c.fail_program_at}, {"fail_erase_at", c.fail_erase_at}, {"fail_read_at", c.fail_read_at},
		{"ecc_bits", c.ecc_bits}, {"rber_base", c.rber_base}, {"rber_per_erase", c.rber_per_erase},
		{"rber_per_hour", c.rber_per_hour}, {"rber_per_read", c.rber_per_read}, {"retry_percent", c.retry_percent},
		{"shelf_hours", c.shelf_hours},
	};
}

json harts_json(const hz_device_config &c)
{
	json tsu = json::array(), worker = json::array();
	for (uint32_t i = 0; i < c.tsu_count; i++)
		tsu.push_back(c.tsu_hart[i]);
	for (uint32_t i = 0; i < c.worker_count; i++)
		worker.push_back(c.worker_hart[i]);
	return {{"count", c.harts}, {"hil", c.hil_hart}, {"tsu", tsu}, {"worker", worker},
		{"inflight_requests", c.inflight_requests}};
}

json locks_json(const hz_device_config &c)
{
	json kind, shards;
	for (uint32_t i = 0; i < HZ_LOCK_CLASSES; i++) {
		kind[std::string(lock_class_names[i])] = name_of(lock_kind_names, c.lock_kind[i]);
		shards[std::string(lock_class_names[i])] = c.lock_shards[i];
	}
	return {{"kind", kind}, {"shards", shards}, {"stats", name_of(lock_stats_names, c.lock_stats)}};
}

json l2p_json(const hz_device_config &c)
{
	return {
		{"cache_bytes", c.l2p_cache_bytes}, {"levels", name_of(map_level_names, c.l2p_levels)}, {"chunk_sectors", c.l2p_chunk_sectors},
		{"strategy", name_of(l2p_strategy_names, c.l2p_strategy)}, {"eviction", name_of(l2p_eviction_names, c.l2p_eviction)},
		{"prefetch", c.l2p_prefetch}, {"buckets", c.l2p_buckets}, {"log_entries", c.l2p_log_entries},
		{"log_policy", name_of(l2p_log_policy_names, c.l2p_log_policy)},
	};
}

json conventional_json(const hz_device_config &c)
{
	return {
		{"zones", c.conventional_zones}, {"spare_superblocks", c.conventional_spare}, {"streams", c.conventional_streams},
		{"buffers", c.conventional_buffers}, {"gc", name_of(gc_names, c.conventional_gc)}, {"gc_low", c.conventional_gc_low},
	};
}

json shape_json(const hz_device_config &c)
{
	hz_shape s{};
	hz_shape_of(&c, &s);
	return {
		{"planes", s.planes}, {"page_sectors", s.page_sectors}, {"unit_sectors", s.unit_sectors},
		{"superpage_sectors", s.superpage_sectors}, {"superblock_sectors", s.superblock_sectors},
		{"slc_superblock_sectors", s.slc_superblock_sectors}, {"slc_superblocks", s.slc_superblocks},
		{"normal_superblocks", s.normal_superblocks}, {"zones", s.zones}, {"zone_size_sectors", s.zone_size_sectors},
		{"zone_capacity_sectors", s.zone_capacity_sectors}, {"namespace_sectors", s.namespace_sectors},
		{"conventional_zones", s.conventional_zones}, {"backing_zones", s.backing_zones}, {"patch_sectors", s.patch_sectors},
		{"map_pages_per_zone", s.map_pages_per_zone},
	};
}

} // namespace

json device_to_json(const hz_device_config &c)
{
	return {
		{"name", std::string(c.name, strnlen(c.name, sizeof(c.name)))}, {"seed", c.seed}, {"geometry", geometry_json(c)}, {"timing", timing_json(c)},
		{"zones", {{"namespace", name_of(namespace_names, c.namespace_kind)}, {"count", c.zones}, {"spare_superblocks", c.spare_superblocks},
			{"zone_size_sectors", c.zone_size_sectors}, {"zone_capacity_sectors", c.zone_capacity_sectors},
			{"max_open", c.max_open}, {"max_active", c.max_active}}},
		{"buffers", {{"count", c.write_buffers}, {"binding", name_of(binding_names, c.buffer_binding)},
			{"flush_unit_planes", c.flush_unit_planes}, {"idle_ns", c.buffer_idle_ns}}},
		{"conventional", conventional_json(c)}, {"slc", {{"gc", name_of(gc_names, c.slc_gc)}, {"gc_low", c.slc_gc_low}}}, {"l2p", l2p_json(c)},
		{"link", {{"bytes_per_s", c.pcie_bytes_per_s}, {"doorbell_ns", c.doorbell_ns}, {"fetch_ns", c.fetch_ns},
			{"completion_ns", c.completion_ns}, {"interrupt_ns", c.interrupt_ns}}},
		{"harts", harts_json(c)}, {"locks", locks_json(c)},
		{"faults", faults_json(c)},
		{"clock", {{"preset", name_of(clock_preset_names, c.clock.preset)}, {"mhz", c.clock.mhz}, {"insn", c.clock.insn}, {"local", c.clock.local}, {"remote", c.clock.remote},
			{"occupancy", c.clock.occupancy}, {"wake", c.clock.wake}, {"pause", c.clock.pause}, {"ipi", c.clock.ipi}}},
		{"shape", shape_json(c)},
	};
}

} // namespace hz::conf
