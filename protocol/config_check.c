/* Rules of a device configuration: the limits of device_keys.yaml, then rules across fields. One sentence per broken rule. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config_check.h"

#include "clock_preset.h"

#include "device_fields.h"
#include "geometry.h"
#include "dump_size.h"
#include "namespaces.h"
#include "nand_image.h"
#include "sentence.h"
#include "slc_log_size.h"

static bool begins_with(const char *text, const char *start)
{
	while (*start)
		if (*text++ != *start++)
			return false;
	return true;
}

static const char *granularity_word(uint64_t value)
{
	switch (value) {
	case HZ_LOCKS_FINE: return "fine";
	case HZ_LOCKS_CLASS: return "class";
	case HZ_LOCKS_GLOBAL: return "global";
	default: return NULL;
	}
}

/* As a device file has it; NULL: a number. */
static const char *choice_word(const char *member, uint64_t value)
{
	static const char by_class[] = "lock_granularity.";

	return begins_with(member, by_class) ? granularity_word(value) : hz_choice_word(member, value);
}

/* "FIELD is VALUE, but it must RULE" */
static void begin(struct hz_sentence *out, const char *field, uint64_t value, const char *rule)
{
	const char *word = choice_word(field, value);

	hz_say(out, field);
	hz_say(out, " is ");
	if (word)
		hz_say(out, word);
	else
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

/* Beyond the least or the most. */
static bool broken_range(const struct hz_field *field, uint64_t value, const char *rule, uint64_t limit, struct hz_sentence *out)
{
	if (field->unit != HZ_UNIT_CHOICE)
		return broken_limit(out, field->member, value, rule, limit);
	begin(out, field->member, value, "be one of ");
	for (uint64_t i = field->least; i <= field->most; i++) {
		hz_say(out, i == field->least ? "" : ", ");
		hz_say(out, field->words[i - field->least]);
	}
	hz_say(out, ".");
	return false;
}

static bool item_holds(const struct hz_field *field, uint64_t value, struct hz_sentence *out)
{
	if (value < field->least)
		return broken_range(field, value, "be at least ", field->least, out);
	if (value > field->most)
		return broken_range(field, value, "be at most ", field->most, out);
	return true;
}

static bool limits_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	for (unsigned i = 0; i < HZ_DEVICE_FIELDS; i++) {
		const struct hz_field *field = &hz_device_fields[i];

		for (unsigned item = 0; item < field->items && field->unit != HZ_UNIT_TEXT; item++)
			if (!item_holds(field, hz_field_read(field, cfg, item), out))
				return false;
	}
	return true;
}

static bool record_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (cfg->magic != HZ_CONFIG_MAGIC)
		return broken_limit(out, "magic", cfg->magic, "be ", HZ_CONFIG_MAGIC);
	if (cfg->version != hz_config_version())
		return broken_limit(out, "version", cfg->version, "be ", hz_config_version());
	if (cfg->bytes != HZ_DEVICE_BYTES)
		return broken_limit(out, "bytes", cfg->bytes, "be the record's size, ", HZ_DEVICE_BYTES);
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
		return broken_limit(out, "pages_per_block", cfg->pages_per_block, "be a multiple of program_pages ", cfg->program_pages);
	if (cfg->pages_per_block % cfg->cell)
		return broken_limit(out, "pages_per_block", cfg->pages_per_block, "be a multiple of cell (bits) ", cfg->cell);
	if (cfg->slc_blocks_per_plane >= cfg->blocks_per_plane)
		return broken_limit(out, "slc_blocks_per_plane", cfg->slc_blocks_per_plane, "leave normal blocks: below blocks_per_plane ",
				    cfg->blocks_per_plane);
	if (page_sectors % unit && unit % page_sectors)
		return broken_limit(out, "slc_program_sectors", unit, "divide, or be a multiple of, the sectors of a page ", page_sectors);
	if (cfg->pages_per_block / cfg->cell * page_sectors % unit)
		return broken_limit(out, "slc_program_sectors", unit, "divide the sectors of an SLC block ",
				    cfg->pages_per_block / cfg->cell * page_sectors);
	return true;
}

static bool protection_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (cfg->protection != HZ_PROTECTION_NONE && cfg->media_mode == HZ_MEDIA_TIMING_ONLY)
		return broken(out, "protection", cfg->protection, "be none when media_mode is timing-only, which keeps no data to protect");
	return true;
}

enum { RAIN_LEAST_DIES = 3, RAIN_MOST_COLUMNS = UINT16_MAX };

/* Of what a stripe is made: a unit of each die, one of them parity. */
static bool stripes_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint64_t dies = (uint64_t)cfg->channels * cfg->chips_per_channel * cfg->dies_per_chip, planes = dies * cfg->planes_per_die;

	if (dies < RAIN_LEAST_DIES)
		return broken(out, "rain", cfg->rain, "be off with fewer than three dies");
	if ((dies + 1) * planes > RAIN_MOST_COLUMNS)
		return broken_limit(out, "rain", cfg->rain, "be off unless planes times dies + 1 are at most ", RAIN_MOST_COLUMNS);
	if (cfg->superblock_planes && cfg->superblock_planes != planes)
		return broken(out, "rain", cfg->rain, "be off when superblock_planes is less than all planes");
	return true;
}

/* Each refusal has its reason in docs/internals/redundancy.md. */
static bool rain_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (!cfg->rain && cfg->parity_by != HZ_BY_ENGINE)
		return broken(out, "parity_by", cfg->parity_by, "be engine without rain");
	if (!cfg->rain)
		return true;
	if (!stripes_hold(cfg, out))
		return false;
	if (cfg->namespace_kind == HZ_NS_BLOCK || cfg->conventional_zones)
		return broken(out, "rain", cfg->rain, "be off with a block namespace or conventional zones");
	if (cfg->namespaces > 1)
		return broken(out, "rain", cfg->rain, "be off with several namespaces");
	if (cfg->media_mode == HZ_MEDIA_TIMING_ONLY)
		return broken(out, "rain", cfg->rain, "be off when media_mode is timing-only, which keeps no data to rebuild");
	if (cfg->protection != HZ_PROTECTION_NONE)
		return broken(out, "rain", cfg->rain, "be off with protection information, which parity does not cover");
	if (cfg->plp_mode != HZ_PLP_NONE)
		return broken(out, "rain", cfg->rain, "be off unless plp_mode is none: capacitors write no parity");
	if (cfg->buffer_release != HZ_RELEASE_PROGRAMMED)
		return broken(out, "rain", cfg->rain, "be off unless buffer_release is programmed");
	return true;
}

/* A zone that goes on in a patch has sectors without parity. */
static bool rain_covers(const struct hz_device_config *cfg, const struct hz_shape *shape, struct hz_sentence *out)
{
	if (cfg->rain && shape->patch_sectors)
		return broken(out, "rain", cfg->rain, "be off when zones are larger than a superblock");
	return true;
}

static bool passes_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (cfg->program_passes > 1 && cfg->program_pages == 1)
		return broken(out, "program_passes", cfg->program_passes, "be 1 when program_pages is 1");
	return true;
}

/* An operation on all planes of a die must begin at some time, and each TSU thread has an equal share. The device trusts the host's check. */
static bool power_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint32_t planes = __STDC_HOSTED__ ? cfg->power_planes : 0, threads = cfg->tsu_count;

	if (planes && planes < cfg->planes_per_die * threads)
		return broken_limit(out, "power_planes", planes,
				    "be 0 or at least planes_per_die for each TSU hart: ", (uint64_t)cfg->planes_per_die * threads);
	if (planes > HZ_MAX_POWER_PLANES * threads)
		return broken_limit(out, "power_planes", planes,
				    "be at most 132 for each TSU hart: ", (uint64_t)HZ_MAX_POWER_PLANES * threads);
	if (planes && cfg->plp_bytes)
		return broken(out, "power_planes", planes, "be 0 with plp_bytes: capacitors have a limit of their own");
	return true;
}

/* Beyond a half too much is cut off: what is drawn no longer has the sigma that the file says. */
static bool sigma_holds(const char *field, const uint32_t *sigma_ns, const uint32_t *ns, uint32_t items, struct hz_sentence *out)
{
	for (uint32_t i = 0; i < items; i++)
		if (sigma_ns[i] > ns[i] / 2)
			return broken_limit(out, field, sigma_ns[i], "be at most half of the time that it spreads: ", ns[i] / 2);
	return true;
}

static bool spread_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	const struct hz_region_sigma *slc = &cfg->slc_sigma, *normal = &cfg->normal_sigma;

	return sigma_holds("slc_sigma.read_ns", slc->read_ns, cfg->slc.read_ns, 1, out) &&
	       sigma_holds("slc_sigma.program_ns", slc->program_ns, cfg->slc.program_ns, 1, out) &&
	       sigma_holds("slc_sigma.erase_ns", &slc->erase_ns, &cfg->slc.erase_ns, 1, out) &&
	       sigma_holds("normal_sigma.read_ns", normal->read_ns, cfg->normal.read_ns, HZ_PAGE_TYPES, out) &&
	       sigma_holds("normal_sigma.program_ns", normal->program_ns, cfg->normal.program_ns, HZ_PAGE_TYPES, out) &&
	       sigma_holds("normal_sigma.erase_ns", &normal->erase_ns, &cfg->normal.erase_ns, 1, out);
}

/* Every address has room for the larger kind of superblocks: SLC ones lie on all planes. */
static uint64_t place_sectors(const struct hz_device_config *cfg, uint64_t planes, uint64_t superblock_planes)
{
	uint64_t page_sectors = cfg->page_bytes / HZ_SECTOR_BYTES;
	uint64_t normal = superblock_planes * cfg->pages_per_block * page_sectors;
	uint64_t slc = planes * (cfg->pages_per_block / cfg->cell) * page_sectors;

	return hz_power_of_two_from(normal > slc ? normal : slc);
}

/* The parity of a superblock has an address of its own. */
static bool addresses_fit(const struct hz_device_config *cfg, uint64_t planes, uint64_t superblock_planes)
{
	uint64_t count = cfg->slc_blocks_per_plane +
			 (uint64_t)(cfg->blocks_per_plane - cfg->slc_blocks_per_plane) * (planes / superblock_planes) * (cfg->rain ? 2 : 1);

	return count <= (1ull << HZ_PPA_BITS) / place_sectors(cfg, planes, superblock_planes);
}

/* In bytes, as a device is spoken of. */
static bool broken_places(struct hz_sentence *out, const struct hz_device_config *cfg, uint64_t sectors)
{
	begin(out, "blocks_per_plane", cfg->blocks_per_plane, "keep all superblocks, each in a place of ");
	hz_say_number(out, sectors << HZ_SECTOR_SHIFT);
	hz_say(out, " bytes (a power of two), within ");
	hz_say_number(out, 1ull << (HZ_PPA_BITS + HZ_SECTOR_SHIFT));
	hz_say(out, " bytes.");
	return false;
}

/* Timing-only media keep the records of sectors, and of data those in SLC. */
static bool image_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint64_t bytes = hz_nand_image_bytes(cfg);

	if (bytes <= HZ_NAND_IMAGE_MOST)
		return true;
	begin(out, "blocks_per_plane", cfg->blocks_per_plane, "keep the NAND image (docs/reference/format.md) within ");
	hz_say_number(out, HZ_NAND_IMAGE_MOST);
	hz_say(out, " bytes: it would have ");
	hz_say_number(out, bytes);
	hz_say(out, ".");
	return false;
}

static bool dies_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint64_t dies = (uint64_t)cfg->channels * cfg->chips_per_channel * cfg->dies_per_chip;

	if (dies * cfg->planes_per_die > HZ_MAX_PLANES)
		return broken_limit(out, "channels * chips_per_channel * dies_per_chip * planes_per_die", dies * cfg->planes_per_die,
				    "be at most ", HZ_MAX_PLANES);
	if (cfg->slow_die > dies)
		return broken_limit(out, "slow_die", cfg->slow_die, "be at most the number of dies ", dies);
	if (cfg->slow_die && !cfg->slow_percent)
		return broken(out, "slow_percent", cfg->slow_percent, "be at least 1 when slow_die is set");
	if (cfg->failed_die > dies)
		return broken_limit(out, "failed_die", cfg->failed_die, "be at most the number of dies ", dies);
	return true;
}

struct range_rule {
	const char *member;
	const uint32_t *word; /* [namespace] */
	uint32_t all;
};

static bool range_holds(const struct range_rule *rule, uint32_t number, struct hz_sentence *out)
{
	uint32_t first = rule->word[number] & 0xffff, end = rule->word[number] >> 16;

	if (rule->word[number] && first >= end)
		return broken(out, rule->member, first, "begin a range that ends no earlier, such as 0-1");
	if (end > rule->all)
		return broken_limit(out, rule->member, end - 1, "name what the geometry has: be below ", rule->all);
	return true;
}

static bool pair_holds(const struct hz_device_config *cfg, const struct range_rule *rules, uint32_t a, uint32_t b, struct hz_sentence *out)
{
	const struct range_rule *rule = rules;

	if (hz_same_planes(cfg, a, b) || hz_no_common_plane(cfg, a, b))
		return true;
	while (rule->word[a] == rule->word[b])
		rule++;
	hz_say(out, rule->member);
	hz_say(out, " gives namespaces ");
	hz_say_number(out, a + 1);
	hz_say(out, " and ");
	hz_say_number(out, b + 1);
	hz_say(out, " some planes in common, but not all: let them have the same ranges, or no plane in common.");
	return false;
}

static bool ranges_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	const struct range_rule rules[] = {
		{ "namespace_channels", cfg->namespace_channels, cfg->channels },
		{ "namespace_chips", cfg->namespace_chips, cfg->chips_per_channel },
		{ "namespace_dies", cfg->namespace_dies, cfg->dies_per_chip },
		{ "namespace_planes", cfg->namespace_planes, cfg->planes_per_die },
	};

	for (uint32_t i = 0; i < cfg->namespaces; i++)
		for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++)
			if (!range_holds(&rules[r], i, out))
				return false;
	for (uint32_t b = 1; b < cfg->namespaces; b++)
		for (uint32_t a = 0; a < b; a++)
			if (!pair_holds(cfg, rules, a, b, out))
				return false;
	if (cfg->namespaces > 1 && cfg->plp_bytes)
		return broken(out, "plp_bytes", cfg->plp_bytes, "be 0 with several namespaces: capacitors keep the buffers of one");
	if (cfg->namespaces > 1 && cfg->fdp_handles)
		return broken(out, "fdp_handles", cfg->fdp_handles, "be 0 with several namespaces: all handles are those of one");
	return true;
}

/* Of a namespace. */
static bool planes_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint64_t planes = (uint64_t)cfg->channels * cfg->chips_per_channel * cfg->dies_per_chip * cfg->planes_per_die;
	uint64_t superblock_planes = cfg->superblock_planes ? cfg->superblock_planes : planes;

	if (superblock_planes > planes || planes % superblock_planes)
		return broken_limit(out, "superblock_planes", superblock_planes, "divide the number of planes ", planes);
	if (!addresses_fit(cfg, planes, superblock_planes))
		return broken_places(out, cfg, place_sectors(cfg, planes, superblock_planes));
	superblock_planes -= cfg->rain ? cfg->planes_per_die : 0;
	if (cfg->flush_unit_planes > superblock_planes || superblock_planes % cfg->flush_unit_planes)
		return broken_limit(out, "flush_unit_planes", cfg->flush_unit_planes,
				    "divide the planes of a superblock with data (superblock_planes; 0: all; less a die with rain), ",
				    superblock_planes);
	return true;
}

/* Its data are copies over sequential zones, as those written in place: one table serves either. */
static bool zrwa_holds(const struct hz_device_config *cfg, const struct hz_shape *shape, struct hz_sentence *out)
{
	if (!cfg->zrwa_count)
		return true;
	if (!cfg->zrwa_flush_sectors)
		return broken(out, "zrwa_flush_sectors", cfg->zrwa_flush_sectors, "be at least a sector when zrwa_count is not 0");
	if (!cfg->zrwa_sectors || cfg->zrwa_sectors % cfg->zrwa_flush_sectors)
		return broken_limit(out, "zrwa_flush_sectors", cfg->zrwa_flush_sectors,
				    "divide zrwa_sectors, which is at least a sector: ", cfg->zrwa_sectors);
	if (cfg->zrwa_sectors > shape->zone_capacity_sectors)
		return broken_limit(out, "zrwa_sectors", cfg->zrwa_sectors, "be at most zone_capacity_sectors ",
				    shape->zone_capacity_sectors);
	if (shape->patch_sectors || shape->conventional_zones == shape->zones)
		return broken(out, "zrwa_count", cfg->zrwa_count, "be 0 when zones are larger than a superblock, or none is sequential");
	if (cfg->in_place_sectors)
		return broken(out, "zrwa_count", cfg->zrwa_count, "be 0 when in_place_sectors is not");
	if (cfg->protection != HZ_PROTECTION_NONE)
		return broken(out, "zrwa_count", cfg->zrwa_count, "be 0 with protection information");
	return true;
}

static bool zones_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	struct hz_shape shape;
	uint64_t normal, in_slc;

	hz_shape_of(cfg, &shape);
	normal = shape.normal_superblocks;
	in_slc = cfg->conventional_region == HZ_REGION_SLC ? cfg->conventional_zones : 0;
	if (cfg->spare_superblocks >= normal)
		return broken_limit(out, "spare_superblocks", cfg->spare_superblocks, "be below the normal superblocks ", normal);
	if (cfg->zones > normal - cfg->spare_superblocks + in_slc && !(in_slc && cfg->namespace_kind == HZ_NS_BLOCK))
		return broken_limit(out, "zones", cfg->zones, "fit the normal superblocks beside the spare ones: at most ",
				    normal - cfg->spare_superblocks + in_slc);
	if (cfg->conventional_spare >= normal - cfg->spare_superblocks || !shape.zones)
		return broken_limit(out, "conventional_spare", cfg->conventional_spare,
				    "leave normal superblocks beside it and spare_superblocks: below ", normal - cfg->spare_superblocks);
	if (cfg->conventional_zones > shape.zones)
		return broken_limit(out, "conventional_zones", cfg->conventional_zones, "be at most the number of zones ", shape.zones);
	if (shape.zone_capacity_sectors > shape.superblock_sectors + shape.slc_superblock_sectors)
		return broken_limit(out, "zone_capacity_sectors", shape.zone_capacity_sectors,
				    "fit a superblock and an SLC superblock of sectors ",
				    shape.superblock_sectors + shape.slc_superblock_sectors);
	if (!rain_covers(cfg, &shape, out))
		return false;
	if (shape.patch_sectors && shape.superblock_planes < shape.planes)
		return broken_limit(out, "zone_capacity_sectors", shape.zone_capacity_sectors,
				    "fit a superblock when superblock_planes is less than all planes (no patches then): at most ",
				    shape.superblock_sectors);
	if (shape.patch_superblocks && shape.superpage_sectors % cfg->slc_program_sectors)
		return broken_limit(out, "slc_program_sectors", cfg->slc_program_sectors,
				    "divide the sectors of a superpage when zones have SLC superblocks, ", shape.superpage_sectors);
	if (shape.zone_size_sectors < shape.zone_capacity_sectors)
		return broken_limit(out, "zone_size_sectors", shape.zone_size_sectors, "be at least zone_capacity_sectors ",
				    shape.zone_capacity_sectors);
	if (shape.zone_size_sectors > HZ_MAX_LBAS / ((uint64_t)shape.zones + shape.backing_zones))
		return broken(out, "zone_size_sectors", shape.zone_size_sectors,
			      "keep the namespace (zones and backing superblocks * zone_size_sectors) below 2^32 - 2^22 sectors");
	if (cfg->in_place_sectors && (shape.patch_sectors || shape.conventional_zones == shape.zones))
		return broken(out, "in_place_sectors", cfg->in_place_sectors,
			      "be 0 when zones are larger than a superblock, or none is sequential");
	if (!zrwa_holds(cfg, &shape, out))
		return false;
	if (cfg->max_open && cfg->max_active && cfg->max_open > cfg->max_active)
		return broken_limit(out, "max_open", cfg->max_open, "be at most max_active ", cfg->max_active);
	return true;
}

/* A handle is a stream of host writes with one write frontier. Lines of the data cache do not know whose data they hold. */
static bool handles_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (!cfg->fdp_handles)
		return true;
	if (cfg->namespace_kind != HZ_NS_BLOCK)
		return broken(out, "fdp_handles", cfg->fdp_handles, "be 0 unless namespace_kind is block");
	if (cfg->conventional_streams > 1 || cfg->conventional_frontiers > 1 || cfg->data_cache_bytes)
		return broken(out, "fdp_handles", cfg->fdp_handles,
			      "be 0 with conventional_streams or conventional_frontiers above 1, or with data_cache_bytes");
	if (cfg->conventional_spare < cfg->fdp_handles + cfg->conventional_collectors + 2)
		return broken_limit(out, "conventional_spare", cfg->conventional_spare,
				    "be at least 2 more than fdp_handles plus conventional_collectors: ",
				    cfg->fdp_handles + cfg->conventional_collectors + 2);
	return true;
}

static bool conventional_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint32_t frontiers = cfg->conventional_streams * cfg->conventional_frontiers + cfg->conventional_collectors;
	struct hz_shape shape;

	if (!handles_hold(cfg, out))
		return false;
	hz_shape_of(cfg, &shape);
	if (!shape.conventional_zones)
		return true;
	if (cfg->conventional_region == HZ_REGION_SLC && shape.superblock_planes < shape.planes)
		return broken(out, "conventional_region", cfg->conventional_region,
			      "be normal when superblock_planes is less than all planes");
	if (cfg->conventional_region == HZ_REGION_SLC && shape.patch_superblocks >= shape.slc_superblocks)
		return broken_limit(out, "slc_blocks_per_plane", cfg->slc_blocks_per_plane,
				    "hold the conventional zones beside the SLC log: more than ", shape.patch_superblocks);
	if (cfg->conventional_frontiers > cfg->worker_count)
		return broken_limit(out, "conventional_frontiers", cfg->conventional_frontiers, "be at most worker_count ",
				    cfg->worker_count);
	if (cfg->conventional_collectors > cfg->worker_count)
		return broken_limit(out, "conventional_collectors", cfg->conventional_collectors, "be at most worker_count ",
				    cfg->worker_count);
	if (cfg->conventional_spare < frontiers + 2)
		return broken_limit(
			out, "conventional_spare", cfg->conventional_spare,
			"be at least 2 more than conventional_streams times conventional_frontiers plus conventional_collectors: ",
			frontiers + 2);
	if (cfg->namespace_kind == HZ_NS_BLOCK && shape.zone_size_sectors != shape.zone_capacity_sectors)
		return broken_limit(out, "zone_size_sectors", shape.zone_size_sectors, "be zone_capacity_sectors in a block namespace, ",
				    shape.zone_capacity_sectors);
	if (shape.body_superblocks > shape.normal_superblocks - cfg->spare_superblocks)
		return broken_limit(out, "conventional_spare", cfg->conventional_spare,
				    "fit the normal superblocks beside zones and spare_superblocks ", shape.normal_superblocks);
	if (cfg->conventional_gc_low < 2 || cfg->conventional_gc_low >= cfg->conventional_spare)
		return broken_limit(out, "conventional_gc_low", cfg->conventional_gc_low, "be 2 or more and below conventional_spare ",
				    cfg->conventional_spare);
	return true;
}

static bool data_cache_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	struct hz_shape shape;

	hz_shape_of(cfg, &shape);
	if (!cfg->data_cache_bytes)
		return true;
	if (!shape.conventional_zones)
		return broken(out, "data_cache_bytes", cfg->data_cache_bytes,
			      "be 0 where all zones are sequential: the cache is one of conventional sectors");
	if (cfg->data_cache_bytes / cfg->page_bytes < HZ_CACHE_LEAST_LINES)
		return broken_limit(out, "data_cache_bytes", cfg->data_cache_bytes, "be 0 or hold 16 lines of page_bytes, at least ",
				    (uint64_t)HZ_CACHE_LEAST_LINES * cfg->page_bytes);
	if (cfg->protection != HZ_PROTECTION_NONE)
		return broken(out, "data_cache_bytes", cfg->data_cache_bytes,
			      "be 0 with protection: lines have no room for protection information");
	if (cfg->plp_mode != HZ_PLP_NONE)
		return broken(out, "data_cache_bytes", cfg->data_cache_bytes,
			      "be 0 unless plp_mode is none: capacitors keep no lines alive");
	return true;
}

static bool zone_map_holds(const struct hz_device_config *cfg, const struct hz_shape *shape, struct hz_sentence *out)
{
	if (shape->patch_sectors)
		return broken(out, "l2p_kind", cfg->l2p_kind,
			      "be sector when zones are larger than a superblock: such a zone is in two pieces, and an entry names one");
	if (shape->conventional_zones == shape->zones)
		return broken(out, "l2p_kind", cfg->l2p_kind, "be sector when all zones are conventional: their sectors may be anywhere");
	if (cfg->l2p_cache_bytes && !shape->conventional_zones)
		return broken(out, "l2p_kind", cfg->l2p_kind,
			      "be sector with l2p_cache_bytes, unless there are conventional zones: entries of zones are all in RAM");
	return true;
}

static bool l2p_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint32_t chunk = cfg->l2p_chunk_sectors;
	struct hz_shape shape;

	hz_shape_of(cfg, &shape);
	if (cfg->l2p_kind == HZ_L2P_KIND_ZONE && !zone_map_holds(cfg, &shape, out))
		return false;
	if (cfg->l2p_lookups && (cfg->l2p_cache_bytes || (cfg->l2p_kind == HZ_L2P_KIND_ZONE && !shape.conventional_zones)))
		return broken(
			out, "l2p_lookups", cfg->l2p_lookups,
			"be locked with l2p_cache_bytes, since a hit changes the order of eviction, or with an entry for each zone and no "
			"conventional zones");
	if (cfg->l2p_compress && (!cfg->l2p_cache_bytes || !shape.conventional_zones))
		return broken(out, "l2p_compress", cfg->l2p_compress, "be off without l2p_cache_bytes, or without conventional zones");
	if (cfg->l2p_directory == HZ_L2P_DIRECTORY_FLASH && (!cfg->l2p_cache_bytes || !shape.conventional_zones || cfg->l2p_shards != 1))
		return broken(out, "l2p_directory", cfg->l2p_directory,
			      "be ram without l2p_cache_bytes, without conventional zones, or unless l2p_shards is 1");
	if (!cfg->l2p_cache_bytes)
		return true;
	if (cfg->l2p_cache_bytes < 16 * HZ_MAP_ENTRY_BYTES)
		return broken_limit(out, "l2p_cache_bytes", cfg->l2p_cache_bytes, "be 0 or at least ", 16 * HZ_MAP_ENTRY_BYTES);
	if (chunk & (chunk - 1))
		return broken(out, "l2p_chunk_sectors", chunk, "be a power of two");
	return true;
}

/* Of each part of the shared memory a buffer has a flush unit (firmware/ftl/buffer/memory.h). */
static bool pool_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint64_t buffers = cfg->write_buffers, sure;
	struct hz_shape shape;

	hz_shape_of(cfg, &shape);
	buffers += shape.backing_zones ? cfg->conventional_buffers : 0;
	sure = buffers * cfg->flush_unit_planes * shape.unit_sectors * HZ_SECTOR_BYTES;
	if (cfg->plp_bytes && cfg->plp_mode == HZ_PLP_NONE)
		return broken(out, "plp_bytes", cfg->plp_bytes, "be 0 when plp_mode is none");
	if (cfg->plp_bytes && (cfg->plp_bytes < sure || cfg->plp_bytes % HZ_SECTOR_BYTES))
		return broken_limit(out, "plp_bytes", cfg->plp_bytes, "be whole sectors of 4096, a flush unit for each buffer: at least ",
				    sure);
	if (cfg->plp_bytes && hz_dump_sectors(cfg, &shape) * (uint64_t)HZ_SECTOR_BYTES < sure)
		return broken_limit(out, "plp_energy_uj", cfg->plp_energy_uj, "be 0 or last for a flush unit of each buffer: at least ",
				    hz_dump_energy_pj(cfg, &shape, (uint32_t)(sure / HZ_SECTOR_BYTES)) / 1000000 + 1);
	if (cfg->plp_bytes > cfg->buffer_pool_bytes)
		return broken_limit(out, "plp_bytes", cfg->plp_bytes, "be a part of buffer_pool_bytes, ", cfg->buffer_pool_bytes);
	if (cfg->buffer_pool_bytes % HZ_SECTOR_BYTES || (cfg->buffer_pool_bytes && cfg->buffer_pool_bytes - cfg->plp_bytes < sure))
		return broken_limit(out, "buffer_pool_bytes", cfg->buffer_pool_bytes,
				    "be whole sectors of 4096, and hold a flush unit for each buffer beside plp_bytes: at least ",
				    sure + cfg->plp_bytes);
	if (cfg->buffer_slots != HZ_SLOTS_ACCOUNTS && !cfg->buffer_pool_bytes)
		return broken(out, "buffer_slots", cfg->buffer_slots, "be accounts when buffer_pool_bytes is 0: there is nothing to share");
	if (cfg->buffer_slots != HZ_SLOTS_ACCOUNTS && cfg->plp_bytes)
		return broken(out, "buffer_slots", cfg->buffer_slots, "be accounts when plp_bytes protects a part of the pool");
	if (cfg->buffer_flush == HZ_BUFFER_FLUSH_SUPERPAGE && shape.patch_superblocks)
		return broken(out, "buffer_flush", cfg->buffer_flush,
			      "not be superpage when zones are larger than a superblock, or conventional_region is slc");
	if (cfg->buffer_pool_bytes && shape.patch_superblocks)
		return broken(out, "buffer_pool_bytes", cfg->buffer_pool_bytes,
			      "be 0 when zones are larger than a superblock, or conventional_region is slc");
	return true;
}

static bool buffers_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (!pool_holds(cfg, out))
		return false;
	if (cfg->buffer_release != HZ_RELEASE_PROGRAMMED && cfg->buffer_pool_bytes)
		return broken(out, "buffer_pool_bytes", cfg->buffer_pool_bytes, "be 0 when buffer_release is not programmed");
	if (cfg->buffer_handover == HZ_HANDOVER_POLLED && cfg->buffer_binding != HZ_BIND_MODULO)
		return broken(out, "buffer_binding", cfg->buffer_binding, "be modulo when buffer_handover is polled");
	if (cfg->buffer_binding != HZ_BIND_PER_ZONE)
		return true;
	if (!cfg->max_active)
		return broken(out, "max_active", 0, "be set when buffer_binding is per zone");
	if (cfg->write_buffers < cfg->max_active)
		return broken_limit(out, "write_buffers", cfg->write_buffers, "be at least max_active when buffer_binding is per zone, ",
				    cfg->max_active);
	return true;
}

static bool hil_harts_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	for (uint32_t i = 0; i < cfg->hil_count; i++) {
		if (cfg->hil_hart[i] >= cfg->harts)
			return broken_limit(out, "hil_hart", cfg->hil_hart[i], "be below harts ", cfg->harts);
		for (uint32_t before = 0; before < i; before++)
			if (cfg->hil_hart[before] == cfg->hil_hart[i])
				return broken(out, "hil_hart", cfg->hil_hart[i], "be named once");
	}
	if (cfg->inflight_requests < cfg->hil_count)
		return broken_limit(out, "inflight_requests", cfg->inflight_requests, "be at least hil_count ", cfg->hil_count);
	return true;
}

/* Each worker's hart serves queue pairs, as a HIL hart of its own. */
static bool architecture_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	uint64_t taken = 1ull << cfg->hil_hart[0];

	if (cfg->architecture != HZ_ARCH_COMPLETION)
		return true;
	if (cfg->hil_count != 1)
		return broken(out, "hil_count", cfg->hil_count, "be 1 when architecture is completion: the workers serve the queue pairs");
	if (cfg->inflight_requests < cfg->worker_count)
		return broken_limit(out, "inflight_requests", cfg->inflight_requests,
				    "be at least worker_count when architecture is completion, ", cfg->worker_count);
	for (uint32_t i = 0; i < cfg->worker_count; i++) {
		if (taken >> cfg->worker_hart[i] & 1)
			return broken(out, "worker_hart", cfg->worker_hart[i],
				      "be a hart of one worker, and not the HIL's, when architecture is completion");
		taken |= 1ull << cfg->worker_hart[i];
	}
	return true;
}

static bool harts_hold(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	if (!hil_harts_hold(cfg, out))
		return false;
	if (cfg->tsu_count > cfg->channels)
		return broken_limit(out, "tsu_count", cfg->tsu_count, "be at most channels ", cfg->channels);
	for (uint32_t i = 0; i < cfg->tsu_count; i++)
		if (cfg->tsu_hart[i] >= cfg->harts)
			return broken_limit(out, "tsu_hart", cfg->tsu_hart[i], "be below harts ", cfg->harts);
	for (uint32_t i = 0; i < cfg->worker_count; i++)
		if (cfg->worker_hart[i] >= cfg->harts)
			return broken_limit(out, "worker_hart", cfg->worker_hart[i], "be below harts ", cfg->harts);
	return architecture_holds(cfg, out);
}

struct class_rule {
	const char *member;
	uint32_t most; /* below HZ_LOCKS_GLOBAL; 0: only the one lock for all */
};

static bool granularity_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
#define SHARDED HZ_MAX_LOCK_SHARDS
#define SINGLE HZ_LOCKS_CLASS
#define ONE 0
#define UNUSED 0
	static const struct class_rule rules[HZ_LOCK_CLASSES] = {
#define HZ_LOCK_CLASS(constant, name, level, shards, ...) [HZ_LC_##constant] = { "lock_granularity." #name, shards },
#include "lock_classes.def"
	};

	for (unsigned c = 0; c < HZ_LOCK_CLASSES; c++) {
		uint32_t chosen = cfg->lock_granularity[c];

		if (rules[c].most && (chosen == HZ_LOCKS_GLOBAL) != (cfg->lock_granularity[0] == HZ_LOCKS_GLOBAL))
			return broken(out, rules[c].member, chosen, "be global with all classes or with none");
		if (chosen > rules[c].most && (!rules[c].most || chosen != HZ_LOCKS_GLOBAL))
			return broken(out, rules[c].member, chosen,
				      rules[c].most ? "be fine, class or global: there is one lock of this class"
						    : "be 0: no lock of a device is of this class");
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
			    shape.patch_superblocks ? "hold what zones have there for good, the spare ones and the SLC log: at least "
						    : "hold what all zones may have staged, the tables, and room to collect: at least ",
			    least);
}

static bool clock_holds(const struct hz_device_config *cfg, struct hz_sentence *out)
{
	static const char sets[] = "be a power of two of sets: a power of two times 64 bytes times the ways, ";

	if (!hz_cache_is_possible(cfg->clock.cache_bytes, cfg->clock.cache_ways))
		return broken_limit(out, "clock.cache_bytes", cfg->clock.cache_bytes, sets, cfg->clock.cache_ways);
	if (!hz_cache_is_possible(cfg->clock.l2_bytes, cfg->clock.l2_ways))
		return broken_limit(out, "clock.l2_bytes", cfg->clock.l2_bytes, sets, cfg->clock.l2_ways);
	if (cfg->clock.arbiter == HZ_ARBITER_TURNS && !cfg->clock.dispatch)
		return broken_limit(out, "clock.dispatch", cfg->clock.dispatch,
				    "be so many cycles where `clock.arbiter` is turns: at least ", 1);
	return true;
}

/* True if its FTL works on a device as large as its window. slc_log: also with its SLC log. */
static bool namespace_holds(const struct hz_device_config *cfg, bool slc_log, struct hz_sentence *out)
{
	return planes_hold(cfg, out) && zones_hold(cfg, out) && conventional_hold(cfg, out) && data_cache_holds(cfg, out) &&
	       l2p_holds(cfg, out) && buffers_hold(cfg, out) && (!slc_log || slc_log_holds(cfg, out));
}

static void say_which(uint32_t number, struct hz_sentence *out)
{
	out->used -= out->used && out->text[out->used - 1] == '.';
	hz_say(out, " (in namespace ");
	hz_say_number(out, number + 1);
	hz_say(out, ").");
}

static bool namespaces_hold(const struct hz_device_config *cfg, bool slc_log, struct hz_sentence *out)
{
	struct hz_device_config window;

	for (uint32_t i = 0; i < cfg->namespaces; i++) {
		hz_namespace_config(cfg, i, &window);
		if (window.blocks_per_plane == window.slc_blocks_per_plane)
			return broken_limit(out, "namespaces", cfg->namespaces, "leave each that shares planes a block of every plane: ",
					    cfg->blocks_per_plane - cfg->slc_blocks_per_plane);
		if (namespace_holds(&window, slc_log, out))
			continue;
		if (cfg->namespaces > 1)
			say_which(i, out);
		return false;
	}
	return true;
}

static bool device_holds(const struct hz_device_config *cfg, bool slc_log, struct hz_sentence *out)
{
	return record_holds(cfg, out) && limits_hold(cfg, out) && blocks_hold(cfg, out) && protection_holds(cfg, out) &&
	       passes_hold(cfg, out) && power_holds(cfg, out) && spread_holds(cfg, out) && dies_hold(cfg, out) && rain_holds(cfg, out) &&
	       ranges_hold(cfg, out) && namespaces_hold(cfg, slc_log, out) && harts_hold(cfg, out) && granularity_holds(cfg, out) &&
	       clock_holds(cfg, out);
}

const char *hz_flash_config_check(const struct hz_device_config *cfg, char *text, size_t bytes)
{
	struct hz_sentence out = { text, bytes, 0 };

	if (device_holds(cfg, false, &out))
		return NULL;
	return bytes ? text : "illegal device config";
}

const char *hz_device_config_check(const struct hz_device_config *cfg, char *text, size_t bytes)
{
	struct hz_sentence out = { text, bytes, 0 };

	if (device_holds(cfg, true, &out))
		return NULL;
	return bytes ? text : "illegal device config";
}

const char *hz_machine_config_check(const struct hz_device_config *cfg, char *text, size_t bytes)
{
	struct hz_sentence out = { text, bytes, 0 };

	if (device_holds(cfg, true, &out) && image_holds(cfg, &out))
		return NULL;
	return bytes ? text : "illegal device config";
}
