/* Rules of a device configuration: a table of limits, then the rules that tie fields together. One sentence per broken rule. */
#include "device_config.h"

#include <stdbool.h>

#include "sentence.h"

/* "FIELD is VALUE, but it must RULE" */
static void begin(struct hz_sentence *out, const char *field, uint64_t value, const char *rule)
{
	hz_say(out, field);
	hz_say(out, " is ");
	hz_say_number(out, value);
	hz_say(out, ", but it must ");
	hz_say(out, rule);
}

static bool broken(struct hz_sentence *out, const char *field, uint64_t value, const char *rule)
{
	begin(out, field, value, rule);
	hz_say(out, ".");
	return false;
}

static bool broken_limit(struct hz_sentence *out, const char *field, uint64_t value, const char *rule, uint64_t limit)
{
	begin(out, field, value, rule);
	hz_say_number(out, limit);
	hz_say(out, ".");
	return false;
}

struct limit { const char *field; uint32_t offset, least, most; };
#define LIMIT(field, least, most) { #field, offsetof(struct hz_device_config, field), least, most }

static const struct limit limits[] = {
	LIMIT(channels, 1, HZ_MAX_CHANNELS),
	LIMIT(chips_per_channel, 1, 1024),
	LIMIT(dies_per_chip, 1, 1024),
	LIMIT(planes_per_die, 1, HZ_MAX_PLANES_PER_DIE),
	LIMIT(blocks_per_plane, 2, 1 << 20),
	LIMIT(pages_per_block, 1, 1 << 16),
	LIMIT(page_bytes, HZ_SECTOR_BYTES, HZ_MAX_UNIT_SECTORS * HZ_SECTOR_BYTES),
	LIMIT(cell, HZ_CELL_SLC, HZ_CELL_QLC),
	LIMIT(program_pages, 1, HZ_MAX_UNIT_SECTORS),
	LIMIT(slc_program_sectors, 1, HZ_MAX_UNIT_SECTORS),
	LIMIT(plane_scheme, 0, HZ_PLANE_SCHEMES - 1),
	LIMIT(media_mode, 0, HZ_MEDIA_TIMING_ONLY),
	LIMIT(slc.erase_ns, 0, 1000000000),
	LIMIT(normal.erase_ns, 0, 1000000000),
	LIMIT(command_ns, 0, 1000000000),
	LIMIT(suspend_ns, 0, 1000000000),
	LIMIT(write_buffers, 1, 4096),
	LIMIT(buffer_binding, 0, HZ_BIND_PER_ZONE),
	LIMIT(flush_unit_planes, 1, HZ_MAX_PLANES),
	LIMIT(harts, 1, HZ_MAX_HARTS),
	LIMIT(tsu_count, 1, HZ_MAX_TSU),
	LIMIT(worker_count, 1, HZ_MAX_WORKERS),
	LIMIT(inflight_requests, 1, HZ_MAX_INFLIGHT),
	LIMIT(lock_stats, 0, HZ_STATS_ALL),
	LIMIT(program_fail_ppb, 0, 1000000000),
	LIMIT(erase_fail_ppb, 0, 1000000000),
	LIMIT(read_fail_ppb, 0, 1000000000),
	LIMIT(factory_bad_ppb, 0, 1000000000),
	LIMIT(read_retry_ppb, 0, 1000000000),
	LIMIT(read_retries, 0, 64),
	LIMIT(schedule, 0, HZ_SCHEDULES - 1),
	LIMIT(cache_read, 0, 1),
	LIMIT(cache_program, 0, 1),
	LIMIT(cache_busy_ns, 0, 1000000000),
	LIMIT(interleave_sectors, 0, HZ_MAX_UNIT_SECTORS),
	LIMIT(program_passes, 0, HZ_PAGE_TYPES),
	LIMIT(ecc_bits, 0, HZ_SECTOR_BYTES * 8),
	LIMIT(retry_percent, 0, 100),
	LIMIT(shelf_hours, 0, 1000000),
	LIMIT(namespace_kind, 0, HZ_NS_BLOCK),
	LIMIT(conventional_streams, 0, 2),
	LIMIT(conventional_buffers, 0, 4),
	LIMIT(conventional_gc, 0, HZ_GC_POLICIES - 1),
	LIMIT(slc_gc, 0, HZ_GC_FIFO),
	LIMIT(buffer_idle_ns, 0, 1000000000),
	LIMIT(l2p_levels, 0, HZ_MAP_ZONE),
	LIMIT(l2p_strategy, 0, HZ_L2P_STRATEGIES - 1),
	LIMIT(l2p_eviction, 0, HZ_L2P_CLOCK),
	LIMIT(l2p_log_policy, 0, HZ_L2P_LOG_BLOCKING),
	LIMIT(l2p_cache_bytes, 0, 64 << 20),
	LIMIT(l2p_buckets, 0, 1 << 20),
	LIMIT(l2p_log_entries, 0, 1 << 20),
};

static bool limits_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint32_t value = *(const uint32_t *)((const char *)cfg + limits[i].offset);

		if (value < limits[i].least)
			return broken_limit(out, limits[i].field, value, "be at least ", limits[i].least);
		if (value > limits[i].most)
			return broken_limit(out, limits[i].field, value, "be at most ", limits[i].most);
	}
	return true;
}

static bool record_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (cfg->magic != HZ_CONFIG_MAGIC)
		return broken_limit(out, "magic", cfg->magic, "be ", HZ_CONFIG_MAGIC);
	if (cfg->version != HZ_CONFIG_VERSION)
		return broken_limit(out, "version", cfg->version, "be ", HZ_CONFIG_VERSION);
	if (cfg->bytes != sizeof(*cfg))
		return broken_limit(out, "bytes", cfg->bytes, "be the record's size, ", sizeof(*cfg));
	return true;
}

static bool blocks_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint32_t page_sectors = cfg->page_bytes / HZ_SECTOR_BYTES;
	uint32_t unit = cfg->slc_program_sectors;

	if (cfg->page_bytes % HZ_SECTOR_BYTES || (page_sectors & (page_sectors - 1)))
		return broken(out, "page_bytes", cfg->page_bytes, "be 4096 times a power of two");
	if (cfg->program_pages * page_sectors > HZ_MAX_UNIT_SECTORS)
		return broken_limit(out, "program_pages", cfg->program_pages,
				    "keep the program unit (program_pages * page_bytes / 4096) within ", HZ_MAX_UNIT_SECTORS);
	if (cfg->pages_per_block % cfg->program_pages)
		return broken_limit(out, "pages_per_block", cfg->pages_per_block, "be a multiple of program_pages ",
				    cfg->program_pages);
	if (cfg->pages_per_block % cfg->cell)
		return broken_limit(out, "pages_per_block", cfg->pages_per_block, "be a multiple of cell (bits) ", cfg->cell);
	if (cfg->slc_blocks_per_plane >= cfg->blocks_per_plane)
		return broken_limit(out, "slc_blocks_per_plane", cfg->slc_blocks_per_plane,
				    "leave normal blocks: below blocks_per_plane ", cfg->blocks_per_plane);
	if (page_sectors % unit && unit % page_sectors)
		return broken_limit(out, "slc_program_sectors", unit, "divide, or be a multiple of, the sectors of a page ",
				    page_sectors);
	if (cfg->pages_per_block / cfg->cell * page_sectors % unit)
		return broken_limit(out, "slc_program_sectors", unit, "divide the sectors of an SLC block ",
				    cfg->pages_per_block / cfg->cell * page_sectors);
	return true;
}

static bool passes_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (cfg->program_passes > 1 && cfg->program_pages == 1)
		return broken(out, "program_passes", cfg->program_passes, "be 1 when program_pages is 1");
	return true;
}

static bool planes_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint64_t chips = (uint64_t)cfg->channels * cfg->chips_per_channel;
	uint64_t planes = chips * cfg->dies_per_chip * cfg->planes_per_die;
	uint64_t superblock = planes * cfg->pages_per_block * (cfg->page_bytes / HZ_SECTOR_BYTES), stride = 1;

	if (planes > HZ_MAX_PLANES)
		return broken_limit(out, "channels * chips_per_channel * dies_per_chip * planes_per_die", planes, "be at most ",
				    HZ_MAX_PLANES);
	while (stride < superblock)
		stride <<= 1;
	if (stride * cfg->blocks_per_plane > 1ull << HZ_PPA_BITS)
		return broken_limit(out, "blocks_per_plane", cfg->blocks_per_plane,
				    "keep blocks times the superblock's sectors (as a power of two) within ", 1ull << HZ_PPA_BITS);
	if (cfg->slow_die > chips * cfg->dies_per_chip)
		return broken_limit(out, "slow_die", cfg->slow_die, "be at most the number of dies ", chips * cfg->dies_per_chip);
	if (cfg->slow_die && (cfg->slow_percent < 1 || cfg->slow_percent > 100000))
		return broken(out, "slow_percent", cfg->slow_percent, "be 1 to 100000 when slow_die is set");
	if (cfg->failed_die > chips * cfg->dies_per_chip)
		return broken_limit(out, "failed_die", cfg->failed_die, "be at most the number of dies ", chips * cfg->dies_per_chip);
	if (cfg->flush_unit_planes > planes || planes % cfg->flush_unit_planes)
		return broken_limit(out, "flush_unit_planes", cfg->flush_unit_planes, "divide the number of planes ", planes);
	return true;
}

static bool zones_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint64_t normal = cfg->blocks_per_plane - cfg->slc_blocks_per_plane;
	struct hz_shape shape;

	if (cfg->spare_superblocks >= normal)
		return broken_limit(out, "spare_superblocks", cfg->spare_superblocks, "be below the normal superblocks ", normal);
	if (cfg->zones > normal - cfg->spare_superblocks)
		return broken_limit(out, "zones", cfg->zones, "fit the normal superblocks beside the spare ones: at most ",
				    normal - cfg->spare_superblocks);
	if (cfg->conventional_spare >= normal - cfg->spare_superblocks)
		return broken_limit(out, "conventional_spare", cfg->conventional_spare,
				    "leave normal superblocks beside it and spare_superblocks: below ", normal - cfg->spare_superblocks);
	hz_shape_of(cfg, &shape);
	if (cfg->conventional_zones > shape.zones)
		return broken_limit(out, "conventional_zones", cfg->conventional_zones, "be at most the number of zones ", shape.zones);
	if (shape.zone_capacity_sectors > shape.superblock_sectors + shape.slc_superblock_sectors)
		return broken_limit(out, "zone_capacity_sectors", shape.zone_capacity_sectors,
				    "fit a superblock and an SLC superblock of sectors ",
				    shape.superblock_sectors + shape.slc_superblock_sectors);
	if (shape.patch_sectors && shape.superpage_sectors % cfg->slc_program_sectors)
		return broken_limit(out, "slc_program_sectors", cfg->slc_program_sectors,
				    "divide the sectors of a superpage when zones are patched, ", shape.superpage_sectors);
	if (shape.zone_size_sectors < shape.zone_capacity_sectors)
		return broken_limit(out, "zone_size_sectors", shape.zone_size_sectors, "be at least zone_capacity_sectors ",
				    shape.zone_capacity_sectors);
	if (shape.zone_size_sectors > HZ_MAX_LBAS / ((uint64_t)shape.zones + shape.backing_zones))
		return broken(out, "zone_size_sectors", shape.zone_size_sectors,
			      "keep the namespace (zones and backing superblocks * zone_size_sectors) below 2^32 - 2^22 sectors");
	if (cfg->max_open && cfg->max_active && cfg->max_open > cfg->max_active)
		return broken_limit(out, "max_open", cfg->max_open, "be at most max_active ", cfg->max_active);
	return true;
}

static bool conventional_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	struct hz_shape shape;
	uint64_t normal = cfg->blocks_per_plane - cfg->slc_blocks_per_plane;

	hz_shape_of(cfg, &shape);
	if (!shape.conventional_zones)
		return true;
	if (cfg->conventional_streams < 1)
		return broken(out, "conventional_streams", cfg->conventional_streams, "be 1 or 2 when there are conventional zones");
	if (cfg->conventional_buffers < 1)
		return broken(out, "conventional_buffers", cfg->conventional_buffers, "be at least 1 when there are conventional zones");
	if (cfg->conventional_spare < cfg->conventional_streams + 3)
		return broken_limit(out, "conventional_spare", cfg->conventional_spare,
				    "be at least 3 more than conventional_streams: ", cfg->conventional_streams + 3);
	if (shape.zone_capacity_sectors > shape.superblock_sectors)
		return broken_limit(out, "zone_capacity_sectors", shape.zone_capacity_sectors,
				    "fit a superblock when there are conventional zones: at most ", shape.superblock_sectors);
	if (cfg->namespace_kind == HZ_NS_BLOCK && shape.zone_size_sectors != shape.zone_capacity_sectors)
		return broken_limit(out, "zone_size_sectors", shape.zone_size_sectors,
				    "be zone_capacity_sectors in a block namespace, ", shape.zone_capacity_sectors);
	if (shape.zones + cfg->conventional_spare > normal - cfg->spare_superblocks)
		return broken_limit(out, "conventional_spare", cfg->conventional_spare,
				    "fit the normal superblocks beside zones and spare_superblocks ", normal);
	if (cfg->conventional_gc_low < 2 || cfg->conventional_gc_low >= cfg->conventional_spare)
		return broken_limit(out, "conventional_gc_low", cfg->conventional_gc_low,
				    "be 2 or more and below conventional_spare ", cfg->conventional_spare);
	return true;
}

static bool l2p_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint32_t chunk = cfg->l2p_chunk_sectors;

	if (!cfg->l2p_cache_bytes)
		return true;
	if (cfg->l2p_cache_bytes < 16 * HZ_MAP_ENTRY_BYTES)
		return broken_limit(out, "l2p_cache_bytes", cfg->l2p_cache_bytes, "be 0 or at least ", 16 * HZ_MAP_ENTRY_BYTES);
	if (chunk < 4 || chunk > 1 << 20 || (chunk & (chunk - 1)))
		return broken(out, "l2p_chunk_sectors", chunk, "be a power of two from 4 to 1048576");
	if (cfg->l2p_prefetch >= HZ_MAP_PAGE_ENTRIES)
		return broken_limit(out, "l2p_prefetch", cfg->l2p_prefetch, "be below the entries of a table page ", HZ_MAP_PAGE_ENTRIES);
	if (cfg->l2p_log_entries < 256)
		return broken(out, "l2p_log_entries", cfg->l2p_log_entries, "be at least 256");
	return true;
}

static bool buffers_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (cfg->buffer_binding != HZ_BIND_PER_ZONE)
		return true;
	if (!cfg->max_active)
		return broken(out, "max_active", 0, "be set when buffer_binding is per zone");
	if (cfg->write_buffers < cfg->max_active)
		return broken_limit(out, "write_buffers", cfg->write_buffers,
				    "be at least max_active when buffer_binding is per zone, ", cfg->max_active);
	return true;
}

static bool harts_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (cfg->hil_hart >= cfg->harts)
		return broken_limit(out, "hil_hart", cfg->hil_hart, "be below harts ", cfg->harts);
	if (cfg->tsu_count > cfg->channels)
		return broken_limit(out, "tsu_count", cfg->tsu_count, "be at most channels ", cfg->channels);
	for (uint32_t i = 0; i < cfg->tsu_count; i++)
		if (cfg->tsu_hart[i] >= cfg->harts)
			return broken_limit(out, "tsu_hart", cfg->tsu_hart[i], "be below harts ", cfg->harts);
	for (uint32_t i = 0; i < cfg->worker_count; i++)
		if (cfg->worker_hart[i] >= cfg->harts)
			return broken_limit(out, "worker_hart", cfg->worker_hart[i], "be below harts ", cfg->harts);
	return true;
}

static bool page_times_hold(const struct hz_region_timing *timing, const char *read, const char *program, struct hz_sentence *out)
{
	for (unsigned i = 0; i < HZ_PAGE_TYPES; i++) {
		if (timing->read_ns[i] > 1000000000)
			return broken(out, read, timing->read_ns[i], "be at most 1 s");
		if (timing->program_ns[i] > 1000000000)
			return broken(out, program, timing->program_ns[i], "be at most 1 s");
	}
	return true;
}

/* With less, writers could wait for ever for room in the SLC log (firmware/ftl/slc/slc.h). */
static bool slc_log_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	struct hz_shape shape;
	uint32_t least;

	hz_shape_of(cfg, &shape);
	least = shape.patch_superblocks + hz_slc_log_least(cfg, &shape);
	if (shape.slc_superblocks >= least)
		return true;
	return broken_limit(out, "slc_blocks_per_plane", cfg->slc_blocks_per_plane,
			    shape.patch_sectors ? "hold the patches of all zones, the spare ones and the SLC log: at least "
						: "hold what all zones may have staged, the tables, and room to collect: at least ", least);
}

static bool flash_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	return record_holds(cfg, out) && limits_hold(cfg, out) && blocks_hold(cfg, out) && passes_hold(cfg, out) && planes_hold(cfg, out) &&
	       zones_hold(cfg, out) && conventional_hold(cfg, out) && l2p_holds(cfg, out) && buffers_hold(cfg, out) &&
	       harts_hold(cfg, out) &&
	       page_times_hold(&cfg->slc, "slc.read_ns", "slc.program_ns", out) &&
	       page_times_hold(&cfg->normal, "normal.read_ns", "normal.program_ns", out);
}

const char *hz_flash_config_check(const struct hz_device_config *cfg, char *text, size_t bytes)
{
	struct hz_sentence out = { text, bytes, 0 };

	if (flash_holds(cfg, &out))
		return NULL;
	return bytes ? text : "illegal device config";
}

const char *hz_device_config_check(const struct hz_device_config *cfg, char *text, size_t bytes)
{
	struct hz_sentence out = { text, bytes, 0 };

	if (flash_holds(cfg, &out) && slc_log_holds(cfg, &out))
		return NULL;
	return bytes ? text : "illegal device config";
}
