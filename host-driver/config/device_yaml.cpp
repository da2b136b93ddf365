/* YAML → struct hz_device_config, a function per section of the file. */
#include "config/device_config.hpp"
#include "config/device_names.hpp"
#include "config/rule_sentence.hpp"

#include <algorithm>
#include <cstring>

namespace hz::conf {
namespace {

void read_geometry(Fields f, hz_device_config &cfg)
{
	f.count("channels", cfg.channels, 1, 64);
	f.count("chips_per_channel", cfg.chips_per_channel, 1, 64);
	f.count("dies_per_chip", cfg.dies_per_chip, 1, 16);
	f.count("planes_per_die", cfg.planes_per_die, 1, 16);
	f.count("blocks_per_plane", cfg.blocks_per_plane, 1, 1 << 20);
	f.count("pages_per_block", cfg.pages_per_block, 1, 1 << 16);
	f.bytes("page_bytes", cfg.page_bytes, HZ_SECTOR_BYTES, 1 << 20);
	f.count("slc_blocks_per_plane", cfg.slc_blocks_per_plane, 0, 1 << 20);
	f.choice("cell", cfg.cell, cell_names, HZ_CELL_SLC);
	f.count("program_pages", cfg.program_pages, 1, HZ_PAGE_TYPES);
	f.count("slc_program_sectors", cfg.slc_program_sectors, 1, 256);
	f.choice("plane_scheme", cfg.plane_scheme, plane_scheme_names());
	f.choice("media", cfg.media_mode, media_names);
	f.finish();
}

/* One value stands for all page types. */
void read_page_times(Fields &f, const char *key, uint32_t out[HZ_PAGE_TYPES])
{
	std::vector<uint64_t> values;
	f.durations(key, values, HZ_PAGE_TYPES);
	if (values.empty())
		return;
	for (size_t i = 0; i < HZ_PAGE_TYPES; i++) {
		const uint64_t value = values[std::min(i, values.size() - 1)];
		if (value > UINT32_MAX)
			f.fail(key, "a flash operation may take at most 4.29 s");
		out[i] = uint32_t(value);
	}
}

void read_region(Fields f, hz_region_timing &timing)
{
	read_page_times(f, "read", timing.read_ns);
	read_page_times(f, "program", timing.program_ns);
	f.duration("erase", timing.erase_ns);
	f.count("endurance", timing.endurance);
	f.finish();
}

void read_timing(Fields f, hz_device_config &cfg)
{
	read_region(f.child("slc"), cfg.slc);
	read_region(f.child("normal"), cfg.normal);
	f.bytes("channel_bytes_per_s", cfg.channel_bytes_per_s, 1);
	f.duration("command", cfg.command_ns);
	f.duration("suspend", cfg.suspend_ns);
	f.duration("read_age_limit", cfg.read_age_limit_ns);
	f.choice("schedule", cfg.schedule, schedule_names);
	f.choice("cache_read", cfg.cache_read, off_on_names);
	f.choice("cache_program", cfg.cache_program, off_on_names);
	f.duration("cache_busy", cfg.cache_busy_ns);
	f.count("interleave_sectors", cfg.interleave_sectors, 0, HZ_MAX_UNIT_SECTORS);
	f.count("program_passes", cfg.program_passes, 0, HZ_PAGE_TYPES);
	f.finish();
}

void read_zones(Fields f, hz_device_config &cfg)
{
	f.choice("namespace", cfg.namespace_kind, namespace_names);
	f.count("count", cfg.zones);
	f.count("spare_superblocks", cfg.spare_superblocks);
	f.sectors("size", cfg.zone_size_sectors);
	f.sectors("capacity", cfg.zone_capacity_sectors);
	f.count("max_open", cfg.max_open);
	f.count("max_active", cfg.max_active);
	f.finish();
}

void read_buffers(Fields f, hz_device_config &cfg)
{
	f.count("count", cfg.write_buffers, 1, 4096);
	f.choice("binding", cfg.buffer_binding, binding_names);
	f.count("flush_unit_planes", cfg.flush_unit_planes, 1, HZ_MAX_PLANES);
	f.duration("idle", cfg.buffer_idle_ns);
	f.finish();
}

void read_slc(Fields f, hz_device_config &cfg)
{
	f.choice("gc", cfg.slc_gc, std::span(gc_names).first(HZ_GC_WEAR));
	f.count("gc_low", cfg.slc_gc_low);
	f.finish();
}

void read_conventional(Fields f, hz_device_config &cfg)
{
	f.count("zones", cfg.conventional_zones);
	f.count("spare_superblocks", cfg.conventional_spare);
	f.count("streams", cfg.conventional_streams, 1, 2);
	f.count("buffers", cfg.conventional_buffers, 1, 4);
	f.choice("gc", cfg.conventional_gc, gc_names);
	f.count("gc_low", cfg.conventional_gc_low);
	f.finish();
}

void read_l2p(Fields f, hz_device_config &cfg)
{
	uint64_t chunk = cfg.l2p_chunk_sectors;
	f.bytes("cache", cfg.l2p_cache_bytes);
	f.choice("levels", cfg.l2p_levels, map_level_names);
	f.sectors("chunk", chunk);
	f.choice("strategy", cfg.l2p_strategy, l2p_strategy_names);
	f.choice("eviction", cfg.l2p_eviction, l2p_eviction_names);
	f.count("prefetch", cfg.l2p_prefetch, 0, HZ_MAP_PAGE_ENTRIES - 1);
	f.count("buckets", cfg.l2p_buckets);
	f.count("log_entries", cfg.l2p_log_entries);
	f.choice("log_policy", cfg.l2p_log_policy, l2p_log_policy_names);
	if (chunk > UINT32_MAX)
		f.fail("chunk", "at most 4 GiB");
	f.finish();
	cfg.l2p_chunk_sectors = uint32_t(chunk);
}

void read_link(Fields f, hz_device_config &cfg)
{
	f.bytes("bytes_per_s", cfg.pcie_bytes_per_s, 1);
	f.duration("doorbell", cfg.doorbell_ns);
	f.duration("fetch", cfg.fetch_ns);
	f.duration("completion", cfg.completion_ns);
	f.duration("interrupt", cfg.interrupt_ns);
	f.finish();
}

void read_hart_list(Fields &f, const char *key, uint8_t *out, uint32_t &count, size_t max_items)
{
	std::vector<uint64_t> harts;
	f.counts(key, harts, max_items);
	if (harts.empty())
		return;
	for (size_t i = 0; i < harts.size(); i++) {
		if (harts[i] >= HZ_MAX_HARTS)
			f.fail(key, "hart numbers go from 0 to " + std::to_string(HZ_MAX_HARTS - 1));
		out[i] = uint8_t(harts[i]);
	}
	count = uint32_t(harts.size());
}

/* Either counts (`tsus: 1`, `workers: 4`: one hart each) or explicit lists (`hil: 0`, `tsu: [1]`, `worker: [2, 3]`). */
void read_harts(Fields f, hz_device_config &cfg)
{
	uint32_t tsus = cfg.tsu_count, workers = cfg.worker_count;
	f.count("tsus", tsus, 1, HZ_MAX_TSU);
	f.count("workers", workers, 1, HZ_MAX_WORKERS);
	const bool lists = f.has("tsu") || f.has("worker") || f.has("hil") || f.has("count");
	if (lists && (f.has("tsus") || f.has("workers")))
		f.fail(f.has("tsus") ? "tsus" : "workers", "give either counts (tsus, workers) or lists (hil, tsu, worker, count)");
	place_roles(cfg, tsus, workers);
	f.count("hil", cfg.hil_hart, 0, HZ_MAX_HARTS - 1);
	read_hart_list(f, "tsu", cfg.tsu_hart, cfg.tsu_count, HZ_MAX_TSU);
	read_hart_list(f, "worker", cfg.worker_hart, cfg.worker_count, HZ_MAX_WORKERS);
	f.count("count", cfg.harts, 1, HZ_MAX_HARTS);
	f.count("inflight_requests", cfg.inflight_requests, 1, 1 << 16);
	f.finish();
}

void read_lock_kinds(Fields f, hz_device_config &cfg)
{
	uint32_t all = cfg.lock_kind[0];
	f.choice("default", all, lock_kind_names);
	for (uint32_t c = 0; c < HZ_LOCK_CLASSES; c++) {
		uint32_t kind = f.has("default") ? all : cfg.lock_kind[c];
		f.choice(std::string(lock_class_names[c]).c_str(), kind, lock_kind_names);
		cfg.lock_kind[c] = uint8_t(kind);
	}
	f.finish();
}

void read_locks(Fields f, hz_device_config &cfg)
{
	read_lock_kinds(f.child("kind"), cfg);
	Fields shards = f.child("shards");
	for (uint32_t c = 0; c < HZ_LOCK_CLASSES; c++)
		shards.count(std::string(lock_class_names[c]).c_str(), cfg.lock_shards[c], 0, 65536);
	shards.finish();
	f.choice("stats", cfg.lock_stats, lock_stats_names);
	f.finish();
}

void read_faults(Fields f, hz_device_config &cfg)
{
	f.count("program_fail_ppb", cfg.program_fail_ppb, 0, 1000000000);
	f.count("erase_fail_ppb", cfg.erase_fail_ppb, 0, 1000000000);
	f.count("read_fail_ppb", cfg.read_fail_ppb, 0, 1000000000);
	f.count("factory_bad_ppb", cfg.factory_bad_ppb, 0, 1000000000);
	f.count("read_retry_ppb", cfg.read_retry_ppb, 0, 1000000000);
	f.count("read_retries", cfg.read_retries, 0, 64);
	f.count("slow_die", cfg.slow_die, 0, HZ_MAX_PLANES);
	f.count("slow_percent", cfg.slow_percent, 0, 100000);
	f.count("failed_die", cfg.failed_die, 0, HZ_MAX_PLANES);
	f.count("fail_program_at", cfg.fail_program_at);
	f.count("fail_erase_at", cfg.fail_erase_at);
	f.count("fail_read_at", cfg.fail_read_at);
	f.count("ecc_bits", cfg.ecc_bits, 0, HZ_SECTOR_BYTES * 8);
	f.count("rber_base", cfg.rber_base);
	f.count("rber_per_erase", cfg.rber_per_erase);
	f.count("rber_per_hour", cfg.rber_per_hour);
	f.count("rber_per_read", cfg.rber_per_read);
	f.count("retry_percent", cfg.retry_percent, 0, 100);
	f.count("shelf_hours", cfg.shelf_hours, 0, 1000000);
	f.finish();
}

constexpr hz_clock_costs clock_presets[] = {
	{.preset = HZ_CLOCK_DEFAULT, .mhz = 1000, .insn = 1, .local = 2, .remote = 40, .occupancy = 20, .wake = 0, .pause = 10, .ipi = 100},
	{.preset = HZ_CLOCK_IDEAL, .mhz = 1000, .insn = 1, .local = 0, .remote = 0, .occupancy = 0, .wake = 0, .pause = 10, .ipi = 0},
};

/* Single costs change the preset. */
void read_clock(Fields f, hz_clock_costs &costs)
{
	constexpr uint64_t most = 1000000;
	uint32_t preset = 0;
	f.choice("preset", preset, clock_preset_names);
	costs = clock_presets[preset];
	f.count("mhz", costs.mhz, 1, HZ_MAX_MHZ);
	f.count("insn", costs.insn, 0, most);
	f.count("local", costs.local, 0, most);
	f.count("remote", costs.remote, 0, most);
	f.count("occupancy", costs.occupancy, 0, most);
	f.count("wake", costs.wake, 0, most);
	f.count("pause", costs.pause, 0, most);
	f.count("ipi", costs.ipi, 0, most);
	f.finish();
}

/* Line, from 0, where a key "section.key" is given; of its section where it is not; 0 where that is not either. */
int line_of_key(YAML::Node node, const std::string &key)
{
	int line = 0;
	for (size_t at = 0; at < key.size() && node.IsMap(); at = std::min(key.find('.', at), key.size()) + 1) {
		const std::string part = key.substr(at, key.find('.', at) - at);
		const auto found = std::find_if(node.begin(), node.end(), [&](const auto &item) { return item.first.IsScalar() && item.first.Scalar() == part; });
		if (found == node.end())
			break;
		line = found->first.Mark().line;
		node.reset(YAML::Node(found->second));
	}
	return std::max(line, 0);
}

hz_device_config read_device(YAML::Node root, const std::string &file)
{
	hz_device_config cfg = device_defaults();
	const YAML::Node tree = root;
	Fields f(std::move(root), file, "");
	std::string name = cfg.name;
	f.text("name", name, sizeof(cfg.name) - 1);
	memset(cfg.name, 0, sizeof(cfg.name));
	memcpy(cfg.name, name.data(), name.size());
	f.count("seed", cfg.seed);
	read_geometry(f.child("geometry"), cfg);
	read_timing(f.child("timing"), cfg);
	read_zones(f.child("zones"), cfg);
	read_buffers(f.child("buffers"), cfg);
	read_conventional(f.child("conventional"), cfg);
	read_slc(f.child("slc"), cfg);
	read_l2p(f.child("l2p"), cfg);
	read_link(f.child("link"), cfg);
	read_harts(f.child("harts"), cfg);
	read_locks(f.child("locks"), cfg);
	read_faults(f.child("faults"), cfg);
	read_clock(f.child("clock"), cfg.clock);
	f.finish();
	char text[512];
	if (const char *sentence = hz_device_config_check(&cfg, text, sizeof(text)))
		throw ConfigError(file + ":" + std::to_string(line_of_key(tree, key_of(sentence)) + 1) + ": " + in_words_of_the_file(sentence));
	return cfg;
}

void set_region(hz_region_timing &timing, uint32_t read_ns, uint32_t program_ns, uint32_t erase_ns)
{
	for (int type = 0; type < HZ_PAGE_TYPES; type++) {
		timing.read_ns[type] = read_ns;
		timing.program_ns[type] = program_ns;
	}
	timing.erase_ns = erase_ns;
}

} // namespace

hz_device_config device_defaults()
{
	hz_device_config cfg{};
	cfg.magic = HZ_CONFIG_MAGIC, cfg.version = HZ_CONFIG_VERSION, cfg.bytes = sizeof(cfg), cfg.seed = 1;
	strcpy(cfg.name, "unnamed");
	cfg.channels = 2, cfg.chips_per_channel = 2, cfg.dies_per_chip = 1, cfg.planes_per_die = 2;
	cfg.blocks_per_plane = 64, cfg.pages_per_block = 96, cfg.page_bytes = 16384, cfg.slc_blocks_per_plane = 8;
	cfg.cell = HZ_CELL_TLC, cfg.program_pages = 3, cfg.slc_program_sectors = 1;
	cfg.plane_scheme = 13; /* PCWD: the planes of a die side by side, so that a flush unit is one multi-plane program */
	set_region(cfg.slc, 20000, 75000, 3500000);
	set_region(cfg.normal, 32000, 937500, 3500000);
	cfg.channel_bytes_per_s = 1600ull << 20, cfg.command_ns = 200;
	cfg.spare_superblocks = 2;
	cfg.max_open = 16, cfg.max_active = 16;
	cfg.write_buffers = 16, cfg.buffer_binding = HZ_BIND_FIRST_FREE, cfg.flush_unit_planes = 2;
	cfg.conventional_streams = 1, cfg.conventional_buffers = 2, cfg.conventional_gc_low = 2;
	cfg.slc_gc_low = 2;
	cfg.l2p_levels = HZ_MAP_ZONE, cfg.l2p_chunk_sectors = 1024, cfg.l2p_log_entries = 4096;
	cfg.pcie_bytes_per_s = 3000ull << 20;
	cfg.doorbell_ns = 200, cfg.fetch_ns = 500, cfg.completion_ns = 300, cfg.interrupt_ns = 1000;
	cfg.inflight_requests = 512;
	place_roles(cfg, 1, 4);
	for (int c = 0; c < HZ_LOCK_CLASSES; c++)
		cfg.lock_kind[c] = LT_LOCK_TTAS;
	cfg.lock_stats = HZ_STATS_ALL;
	cfg.clock = clock_presets[0];
	return cfg;
}

void require_legal(const hz_device_config &cfg, const std::string &file)
{
	char text[512];
	if (const char *sentence = hz_device_config_check(&cfg, text, sizeof(text)))
		throw ConfigError(file + ": " + in_words_of_the_file(sentence));
}

hz_device_config load_device(const std::string &path) { return read_device(load_yaml_file(path), path); }

hz_device_config parse_device(const std::string &text, const std::string &name)
{
	return read_device(load_yaml_text(text, name), name);
}

} // namespace hz::conf
