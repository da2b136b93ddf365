// Device files: presets, defaults, and an error for everything that can be wrong, with file, line and fix.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <yaml-cpp/yaml.h>

#include "config/device_json.hpp"
#include "config/device_names.hpp"
#include "config/device_yaml.hpp"
#include "config/placement.hpp"
#include "config/preparing_device.hpp"
#include "config/quantity.hpp"
#include "geometry.h"
#include "lt/lock_kind.h"
#include "namespaces.h"

namespace {

using namespace hz::conf;

std::string error_of(const std::string &text)
{
	try {
		parse_device(text, "d.yaml");
	} catch (const ConfigError &e) {
		return e.what();
	}
	return "no error";
}

TEST(Quantity, Units)
{
	EXPECT_EQ(parse_bytes("16 KiB"), 16384u);
	EXPECT_EQ(parse_bytes("1.5GiB"), 1610612736u);
	EXPECT_EQ(parse_bytes("333 MB"), 333000000u);
	EXPECT_EQ(parse_duration_ns("937.5us"), 937500u);
	EXPECT_EQ(parse_duration_ns("20"), 20u);
	EXPECT_EQ(parse_count("1_000"), 1000u);
	for (const char *wrong : {"", "KiB", "1 kib", "0.3", "1.2.3", "-1", "99999999999999999999", "1e3"})
		EXPECT_FALSE(parse_bytes(wrong)) << wrong;
	EXPECT_FALSE(parse_duration_ns("0.5ns"));
	EXPECT_FALSE(parse_real("nan"));
}

TEST(DeviceConfig, AnEmptyFileIsTheDefaultDevice)
{
	const hz_device_config cfg = parse_device("{}", "d.yaml"), usual = device_defaults();
	EXPECT_EQ(device_to_json(cfg), device_to_json(usual));
}

TEST(DeviceConfig, EnginesAreReplacedOneByOne)
{
	const hz_device_config cfg = parse_device("hardware: {fetch: firmware, nand: engine, checksum: firmware}", "d.yaml");
	EXPECT_EQ(cfg.fetch_by, uint32_t(HZ_BY_FIRMWARE));
	EXPECT_EQ(cfg.checksum_by, uint32_t(HZ_BY_FIRMWARE));
	for (const uint32_t by : {cfg.nand_by, cfg.completion_by, cfg.dma_by})
		EXPECT_EQ(by, uint32_t(HZ_BY_ENGINE));
	EXPECT_EQ(device_to_json(cfg)["hardware"]["fetch"], "firmware");
	EXPECT_EQ(preparing_device(cfg).fetch_by, uint32_t(HZ_BY_ENGINE)) << "one flash serves all of them";
	EXPECT_NE(error_of("hardware:\n  dma: hart\n").find("d.yaml:2: "), std::string::npos) << error_of("hardware:\n  dma: hart\n");
	EXPECT_NE(error_of("hardware:\n  dma: hart\n").find("engine"), std::string::npos);
	EXPECT_NE(error_of("hardware: {crc: engine}").find("crc"), std::string::npos);
}

TEST(DeviceConfig, EveryPresetIsLegal)
{
	size_t files = 0;
	for (const auto &file : std::filesystem::directory_iterator(HZ_TREE "/configs/devices")) {
		const hz_device_config cfg = load_device(file.path().string());
		EXPECT_EQ(cfg.name, file.path().stem().string());
		files++;
	}
	EXPECT_GE(files, 12u);
}

TEST(DeviceConfig, ConZoneHasTheShapeOfThePaper)
{
	const hz_device_config cfg = load_device(HZ_TREE "/configs/devices/conzone-paper.yaml");
	hz_shape shape{};
	hz_shape_of(&cfg, &shape);
	EXPECT_EQ(shape.superpage_sectors * 4u, 384u);
	EXPECT_EQ(shape.unit_sectors * 4u * cfg.flush_unit_planes, 96u);
	EXPECT_EQ(cfg.channel_bytes_per_s * cfg.channels, 3200ull << 20);
	EXPECT_EQ(shape.zones * shape.zone_capacity_sectors * 4096, 1536ull << 20);
	EXPECT_EQ(cfg.write_buffers, 2u);
	EXPECT_EQ(cfg.normal.program_ns[0], 937500u);
	EXPECT_EQ(cfg.slc.read_ns[0], 20000u);
}

hz_shape shape_of_preset(const char *name, hz_device_config &cfg)
{
	hz_shape shape{};
	cfg = load_device(std::string(HZ_TREE) + "/configs/devices/" + name + ".yaml");
	hz_shape_of(&cfg, &shape);
	return shape;
}

TEST(DeviceConfig, LegacyIsTheSameMediaAndCapacityWithoutZones)
{
	hz_device_config zoned, block;
	const hz_shape a = shape_of_preset("conzone-paper", zoned), b = shape_of_preset("legacy", block);
	EXPECT_EQ(a.zones * a.zone_capacity_sectors, b.namespace_sectors);
	EXPECT_EQ(a.superpage_sectors, b.superpage_sectors);
	EXPECT_EQ(zoned.l2p_cache_bytes, block.l2p_cache_bytes);
	EXPECT_EQ(zoned.l2p_cache_bytes, 12u << 10);
	EXPECT_EQ(memcmp(&zoned.normal, &block.normal, sizeof(zoned.normal)), 0);
	EXPECT_EQ(block.namespace_kind, uint32_t(HZ_NS_BLOCK));
	EXPECT_EQ(block.l2p_levels, uint32_t(HZ_MAP_PAGE));
	EXPECT_EQ(block.l2p_prefetch, 1023u);
	EXPECT_NEAR(double(b.backing_zones - b.zones) / b.zones, 0.07, 0.005) << "over-provisioning";
}

TEST(DeviceConfig, QlcHasTheUnitAndLatenciesOfTableII)
{
	hz_device_config cfg;
	const hz_shape shape = shape_of_preset("conzone-qlc", cfg);
	EXPECT_EQ(shape.unit_sectors * cfg.flush_unit_planes * 4, 64u);
	EXPECT_EQ(cfg.normal.program_ns[0], 6400000u);
	EXPECT_EQ(cfg.normal.read_ns[0], 85000u);
	EXPECT_EQ(shape.zone_size_sectors, shape.zone_capacity_sectors);
	EXPECT_EQ(shape.zones * shape.zone_capacity_sectors * 4096, 1536ull << 20);
}

TEST(DeviceConfig, PatchedZonesAreAPowerOfTwoOnTheSameMedia)
{
	hz_device_config plain, patched;
	const hz_shape a = shape_of_preset("conzone-paper", plain), b = shape_of_preset("conzone-patched", patched);
	EXPECT_EQ(b.zone_size_sectors * 4096, 16u << 20);
	EXPECT_EQ(b.zone_capacity_sectors, b.zone_size_sectors) << "no hole";
	EXPECT_EQ(b.patch_sectors * 4096, 4u << 20);
	EXPECT_EQ(b.superblock_sectors, a.superblock_sectors);
	EXPECT_EQ(b.slc_superblocks - b.patch_superblocks, a.slc_superblocks) << "the log is no larger";
	EXPECT_EQ(b.zones * b.zone_capacity_sectors, a.zones * a.zone_capacity_sectors);
	EXPECT_EQ(memcmp(&plain.normal, &patched.normal, sizeof(plain.normal)), 0);
	EXPECT_EQ(memcmp(&plain.slc, &patched.slc, sizeof(plain.slc)), 0);
	EXPECT_EQ(plain.l2p_cache_bytes, patched.l2p_cache_bytes);
}

TEST(DeviceConfig, OneTebibyteHasTheTablesThatItsFileSays)
{
	hz_device_config cfg;
	const hz_shape shape = shape_of_preset("conzone-1tb", cfg);
	EXPECT_EQ(shape.zones * shape.zone_capacity_sectors * 4096, 1ull << 40);
	EXPECT_EQ(shape.zones * shape.map_pages_per_zone, 262144u);
	EXPECT_GT(uint64_t(shape.slc_superblocks) * shape.slc_superblock_sectors, 262144u) << "room for the table";
	EXPECT_GE(cfg.l2p_cache_bytes / HZ_MAP_ENTRY_BYTES, shape.zones) << "an entry for every zone";
}

/* Every key of the sections for conventional zones, the SLC region, the map and idle buffers arrives in its field. */
TEST(DeviceConfig, MapAndNamespaceKeysArrive)
{
	const hz_device_config c = parse_device(
		"zones: {namespace: zoned, count: 20}\nbuffers: {idle: 320us}\n"
		"conventional: {zones: 4, spare_superblocks: 6, streams: 2, buffers: 3, gc: cost-benefit, gc_low: 4}\n"
		"slc: {gc: fifo, gc_low: 3}\nl2p: {cache: 12 KiB, levels: chunk, chunk: 1 MiB, strategy: multiple,\n"
		"  eviction: clock, prefetch: 7, buckets: 64, log_entries: 512, log_policy: blocking}\n",
		"d.yaml");
	EXPECT_EQ(c.buffer_idle_ns, 320000u);
	EXPECT_EQ(c.conventional_zones, 4u);
	EXPECT_EQ(c.conventional_spare, 6u);
	EXPECT_EQ(c.conventional_streams, 2u);
	EXPECT_EQ(c.conventional_buffers, 3u);
	EXPECT_EQ(c.conventional_gc, uint32_t(HZ_GC_COST_BENEFIT));
	EXPECT_EQ(c.conventional_gc_low, 4u);
	EXPECT_EQ(c.slc_gc, uint32_t(HZ_GC_FIFO));
	EXPECT_EQ(c.slc_gc_low, 3u);
	EXPECT_EQ(c.l2p_cache_bytes, 12288u);
	EXPECT_EQ(c.l2p_levels, uint32_t(HZ_MAP_CHUNK));
	EXPECT_EQ(c.l2p_chunk_sectors, 256u);
	EXPECT_EQ(c.l2p_strategy, uint32_t(HZ_L2P_MULTIPLE));
	EXPECT_EQ(c.l2p_eviction, uint32_t(HZ_L2P_CLOCK));
	EXPECT_EQ(c.l2p_prefetch, 7u);
	EXPECT_EQ(c.l2p_buckets, 64u);
	EXPECT_EQ(c.l2p_log_entries, 512u);
	EXPECT_EQ(c.l2p_log_policy, uint32_t(HZ_L2P_LOG_BLOCKING));
	const auto echo = device_to_json(c);
	EXPECT_EQ(echo["conventional"]["gc"], "cost-benefit");
	EXPECT_EQ(echo["l2p"]["strategy"], "multiple");
	EXPECT_EQ(echo["slc"]["gc"], "fifo");
	EXPECT_EQ(echo["buffers"]["idle_ns"], 320000u);
}

TEST(DeviceConfig, MapAndNamespaceErrorsNameLineAndFix)
{
	EXPECT_EQ(error_of("zones:\n  namespace: flat\n"), "d.yaml:2: zones.namespace: 'flat' is not one of zoned, block");
	EXPECT_EQ(error_of("conventional:\n  streams: 3\n"), "d.yaml:2: conventional.streams: '3' is out of range: 1 to 2");
	EXPECT_EQ(error_of("conventional:\n  buffers: 0\n"), "d.yaml:2: conventional.buffers: '0' is out of range: 1 to 48");
	EXPECT_EQ(error_of("conventional:\n  gc: random\n"),
		  "d.yaml:2: conventional.gc: 'random' is not one of greedy, cost-benefit, fifo, wear");
	EXPECT_EQ(error_of("l2p:\n  levels: block\n"), "d.yaml:2: l2p.levels: 'block' is not one of page, chunk, zone");
	EXPECT_EQ(error_of("l2p:\n  strategy: hash\n"), "d.yaml:2: l2p.strategy: 'hash' is not one of bitmap, multiple, pinned");
	EXPECT_EQ(error_of("l2p:\n  eviction: fifo\n"), "d.yaml:2: l2p.eviction: 'fifo' is not one of lru, clock");
	EXPECT_EQ(error_of("l2p:\n  log_policy: none\n"), "d.yaml:2: l2p.log_policy: 'none' is not one of background, blocking");
	EXPECT_EQ(error_of("l2p:\n  prefetch: 1024\n"), "d.yaml:2: l2p.prefetch: '1024' is out of range: 0 to 1023");
	EXPECT_EQ(error_of("l2p:\n  cach: 12 KiB\n"), "d.yaml:2: l2p: unknown key 'cach': did you mean 'cache'?");
	EXPECT_EQ(error_of("slc:\n  gc: wear\n"), "d.yaml:2: slc.gc: 'wear' is not one of greedy, cost-benefit, fifo");
	EXPECT_EQ(error_of("buffers:\n  idle: 2s\n"), "d.yaml:2: buffers.idle: '2s' is out of range: 0 to 1 s");
	EXPECT_EQ(
		error_of("conventional: {zones: 2}\n"),
		"d.yaml:1: conventional.spare_superblocks is 0, but it must be at least 2 more than conventional.streams times conventional.frontiers plus conventional.collectors: 4.");
	EXPECT_EQ(error_of("seed: 1\nzones:\n  count: 20\nconventional:\n  zones: 2\n  spare_superblocks: 4000000000\n"),
		  "d.yaml:6: conventional.spare_superblocks is 4000000000, but it must leave normal superblocks beside it and "
		  "zones.spare_superblocks: below 54.");
	EXPECT_EQ(error_of("seed: 1\nconventional:\n  zones: 2000\n  spare_superblocks: 5\n"),
		  "d.yaml:3: conventional.zones is 2000, but it must be at most the number of zones 49.");
	EXPECT_EQ(error_of("l2p:\n  cache: 12 KiB\n  buckets: 4000000000\n"),
		  "d.yaml:3: l2p.buckets: '4000000000' is out of range: 0 to 1048576");
	EXPECT_EQ(error_of("l2p:\n  cache: 12 KiB\n  log_entries: 4000000000\n"),
		  "d.yaml:3: l2p.log_entries: '4000000000' is out of range: 256 to 1048576");
	EXPECT_EQ(error_of("zones: {namespace: block, size: 16 MiB}\nconventional: {spare_superblocks: 5}\n"),
		  "d.yaml:1: zones.size (4 KiB sectors) is 4096, but it must be zones.capacity in a block namespace, 3072.");
	EXPECT_EQ(
		error_of("seed: 1\ngeometry:\n  slc_blocks_per_plane: 3\n"),
		"d.yaml:3: geometry.slc_blocks_per_plane is 3, but it must hold what all zones may have staged, the tables, and room to collect: "
		"at least 6.");
	EXPECT_EQ(error_of("zones: {namespace: block}\nconventional: {spare_superblocks: 5}\n"), "no error");
	EXPECT_EQ(error_of("l2p: {cache: 32}\n"), "d.yaml:1: l2p.cache is 32, but it must be 0 or at least 64.");
	EXPECT_EQ(
		error_of("l2p: {kind: zone, cache: 4096}\n"),
		"d.yaml:1: l2p.kind is zone, but it must be sector with l2p.cache, unless there are conventional zones: entries of zones are all "
		"in RAM.");
	EXPECT_EQ(
		error_of("l2p: {kind: zone}\nzones: {capacity: 14 MiB, count: 2}\n"),
		"d.yaml:1: l2p.kind is zone, but it must be sector when zones are larger than a superblock: such a zone is in two pieces, and "
		"an entry names one.");
	EXPECT_EQ(error_of("l2p: {kind: zone}\nzones: {namespace: block}\nconventional: {spare_superblocks: 5}\n"),
		  "d.yaml:1: l2p.kind is zone, but it must be sector when all zones are conventional: their sectors may be anywhere.");
	EXPECT_EQ(error_of("l2p: {kind: zone, cache: 4096}\nconventional: {zones: 3, spare_superblocks: 5}\n"), "no error");
	EXPECT_EQ(error_of("l2p: {cache: 12 KiB, chunk: 12 KiB}\n"), "d.yaml:1: l2p.chunk: '12 KiB' is out of range: 16 KiB to 4 GiB");
	EXPECT_EQ(error_of("l2p: {cache: 12 KiB, chunk: 20 KiB}\n"),
		  "d.yaml:1: l2p.chunk (4 KiB sectors) is 5, but it must be a power of two.");
}

TEST(DeviceConfig, McmqHasTheLatenciesOfTableI)
{
	const hz_device_config cfg = load_device(HZ_TREE "/configs/devices/mcmq.yaml");
	EXPECT_EQ(cfg.normal.read_ns[0], 56200u);
	EXPECT_EQ(cfg.normal.read_ns[1], 71500u);
	EXPECT_EQ(cfg.normal.program_ns[0], 381200u);
	EXPECT_EQ(cfg.normal.program_ns[1], 1578500u);
	EXPECT_EQ(cfg.worker_count, 6u);
	EXPECT_EQ(cfg.harts, 8u);
}

TEST(DeviceConfig, ErrorsNameLineAndFix)
{
	EXPECT_EQ(error_of("geometry:\n  chanels: 2\n"), "d.yaml:2: geometry: unknown key 'chanels': did you mean 'channels'?");
	EXPECT_EQ(error_of("geometry:\n  channels: two\n"), "d.yaml:2: geometry.channels: 'two' is not a whole number");
	EXPECT_EQ(error_of("geometry:\n  channels: 900\n"), "d.yaml:2: geometry.channels: '900' is out of range: 1 to 64");
	EXPECT_EQ(error_of("seed: 1\nseed: 2\n"), "d.yaml:2: key 'seed' is given twice: remove one");
	std::string kinds;
	for (const std::string_view name : lock_kind_names())
		kinds += (kinds.empty() ? "" : ", ") + std::string(name);
	EXPECT_EQ(error_of("locks:\n  kind:\n    zone: fair\n"), "d.yaml:3: locks.kind.zone: 'fair' is not one of " + kinds);
	EXPECT_EQ(error_of("geometry: 5\n"), "d.yaml:1: geometry: expected 'key: value' lines below it");
	EXPECT_NE(error_of("geometry:\n  cell: [tlc]\n").find("d.yaml:2: geometry.cell: expected a name"), std::string::npos);
	EXPECT_NE(error_of("a: b: c\n").find("d.yaml:1: this is not YAML"), std::string::npos);
	EXPECT_EQ(error_of("zones:\n  max_open: 9\n  max_active: 3\n"),
		  "d.yaml:2: zones.max_open is 9, but it must be at most zones.max_active 3.");
	EXPECT_EQ(error_of("seed: 1\ntiming:\n  command: 1ns\n  normal:\n    read: [20us, 2s]\n"),
		  "d.yaml:5: timing.normal.read: '2s' is out of range: 0 to 1 s");
	EXPECT_NE(error_of("harts:\n  workers: 2\n  worker: [2, 3]\n").find("give either counts"), std::string::npos);
	EXPECT_EQ(error_of(std::string(100, '[')), "d.yaml:1: lists are nested more than 64 deep");
}

/* A file with one key, in lines; the key stands in the last. */
std::string file_with(const hz_field &field, const std::string &value)
{
	std::string out, indent, path = field.section;
	for (size_t at = 0; at < path.size(); at = std::min(path.find('.', at), path.size() - 1) + 1, indent += "  ")
		out += indent + path.substr(at, path.find('.', at) - at) + ":\n";
	return out + indent + field.key + ": " + value + "\n";
}

std::string key_of(const hz_field &field) { return (*field.section ? std::string(field.section) + "." : "") + field.key; }

/* As numbers without units; sizes in bytes. */
std::string in_the_file(const hz_field &field, uint64_t value)
{
	return std::to_string(value * (field.unit == HZ_UNIT_SECTORS ? HZ_SECTOR_BYTES : 1));
}

TEST(DeviceConfig, EveryKeyIsRefusedBeyondItsLimitsWithFileLineAndRange)
{
	for (const hz_field &field : hz_device_fields) {
		SCOPED_TRACE(key_of(field));
		if (field.unit == HZ_UNIT_TEXT || field.unit == HZ_UNIT_RANGES || field.unit == HZ_UNIT_KIND_BY_CLASS ||
		    field.unit == HZ_UNIT_GRANULARITY_BY_CLASS)
			continue;
		const std::string above = in_the_file(field, field.most + 1);
		const std::string text = file_with(field, above);
		const std::string place = "d.yaml:" + std::to_string(std::count(text.begin(), text.end(), '\n')) + ": " + key_of(field) +
					  ": '" + above + "'";
		if (field.unit == HZ_UNIT_CHOICE) {
			EXPECT_TRUE(error_of(text).starts_with(place + " is not one of " + std::string(words_of(field)[0])))
				<< error_of(text);
			continue;
		}
		EXPECT_TRUE(error_of(text).starts_with(place + " is out of range: ")) << error_of(text);
		for (const uint64_t edge : {field.least, field.most}) // relations may refuse it, the limit does not
			EXPECT_EQ(error_of(file_with(field, in_the_file(field, edge))).find("out of range"), std::string::npos);
		if (field.least > 0) {
			EXPECT_NE(error_of(file_with(field, in_the_file(field, field.least - 1))).find(" is out of range: "),
				  std::string::npos);
		}
	}
}

/* A device in which every key means something, but those that exclude each other. */
const char *const all_used = "conventional: {zones: 4, spare_superblocks: 9}\n"
			     "l2p: {cache: 12 KiB, levels: chunk}\n"
			     "data_cache: {bytes: 1 MiB}\n"
			     "timing: {cache_read: on, read_age_limit: 1ms}\n"
			     "locks: {kind: {default: cohort}}\n"
			     "faults: {slow_die: 1, slow_percent: 100, ecc_bits: 8}\n";
/* … and one for those that need a map of zones, or slots. */
const char *const zones_used = "l2p: {kind: zone}\n"
			       "buffers: {pool: 8 MiB, flush: unit, slots: locked, binding: modulo, handover: polled}\n";
/* … and for those of capacitors and random write areas. */
const char *const kept_used = "geometry: {slc_blocks_per_plane: 20}\n"
			      "buffers: {pool: 16 MiB}\n"
			      "plp: {mode: selective, bytes: 8 MiB}\n"
			      "zrwa: {count: 2}\n";

std::string used_with(const char *device, const hz_field &field, const std::string &value)
{
	YAML::Node file = YAML::Load(device), node = file;
	std::istringstream path(field.section);
	for (std::string part; std::getline(path, part, '.');)
		node.reset(YAML::Node(node[part]));
	node[field.key] = value;
	return YAML::Dump(file);
}

/* Is there a value that the key may have in this device? What the file says arrives in its field, comes back in the echo, and changes nothing
 * else there. */
bool arrives(const char *device, const hz_field &field)
{
	const hz_device_config base = parse_device(device, "d.yaml");
	const auto usual = device_to_json(base).flatten();
	for (const uint64_t value : {field.least, field.least + 1, field.fallback + 1, field.fallback * 2, field.most}) {
		const bool choice = field.unit == HZ_UNIT_CHOICE;
		if (value < field.least || value > field.most || value == hz_field_read(&field, &base, 0))
			continue;
		const std::string text = used_with(device, field,
						   choice ? std::string(words_of(field)[value - field.least]) : in_the_file(field, value));
		if (error_of(text) != "no error")
			continue;
		const hz_device_config cfg = parse_device(text, "d.yaml");
		EXPECT_EQ(hz_field_read(&field, &cfg, 0), value) << text;
		std::string pointer = "/" + std::string(field.section) + (*field.section ? "/" : "") + field.echo;
		std::replace(pointer.begin(), pointer.end(), '.', '/');
		pointer += field.unit == HZ_UNIT_PAGE_NS ? "/0" : "";
		EXPECT_NE(device_to_json(cfg).flatten().at(pointer), usual.at(pointer)) << text;
		return true;
	}
	return false;
}

TEST(DeviceConfig, EveryKeyArrivesAndIsEchoed)
{
	unsigned seen = 0;
	for (const hz_field &field : hz_device_fields) {
		if (field.unit == HZ_UNIT_TEXT || field.unit == HZ_UNIT_HARTS || field.unit == HZ_UNIT_RANGES ||
		    field.unit == HZ_UNIT_KIND_BY_CLASS || field.unit == HZ_UNIT_GRANULARITY_BY_CLASS || !strcmp(field.echo, "_"))
			continue;
		seen += arrives(all_used, field) || arrives(zones_used, field) || arrives(kept_used, field);
	}
	EXPECT_GE(seen, HZ_DEVICE_FIELDS - 24);
}

const std::string four_channels = "geometry: {channels: 4, blocks_per_plane: 80, slc_blocks_per_plane: 24}\nbuffers: {count: 4}\n"
				  "zones: {max_open: 4, max_active: 4}\nnamespaces: ";

TEST(DeviceConfig, NamespacesAreRangesOfTheGeometry)
{
	const hz_device_config cfg = parse_device(four_channels + "{channels: [0, 1, 2-3], planes: all}\n", "d.yaml");
	EXPECT_EQ(cfg.namespaces, 3u);
	EXPECT_EQ(cfg.namespace_channels[0], hz_range_word(0, 0));
	EXPECT_EQ(cfg.namespace_channels[2], hz_range_word(2, 3));
	EXPECT_EQ(cfg.namespace_planes[0], 0u);
	const auto echo = device_to_json(cfg)["namespaces"];
	EXPECT_EQ(echo["channels"], nlohmann::json({"0", "1", "2-3"}));
	EXPECT_EQ(echo["chips"], nlohmann::json({"all", "all", "all"}));
	EXPECT_EQ(parse_device(four_channels + "{count: 2, channels: 1-3}\n", "d.yaml").namespace_channels[1], hz_range_word(1, 3));
	EXPECT_EQ(device_to_json(device_defaults())["namespaces"]["count"], 1);
}

TEST(DeviceConfig, NamespacesThatCannotBeAreRefused)
{
	const std::pair<const char *, const char *> cases[] = {
		{"{channels: [0, 4]}", "d.yaml:4: namespaces.channels is 4, but it must name what the geometry has: be below 4."},
		{"{channels: [0-1, 1-2]}", "namespaces.channels gives namespaces 1 and 2 some planes in common, but not all"},
		{"{channels: [0-1, all]}", "namespaces.channels gives namespaces 1 and 2 some planes in common, but not all"},
		{"{channels: [0, 0], planes: [0, all]}", "namespaces.planes gives namespaces 1 and 2 some planes in common"},
		{"{count: 3, channels: [0, 1]}", "names 2 ranges, but there are 3 namespaces: give one range for all, or one for each"},
		{"{channels: [1-0, 2]}", "'1-0' is not all, a number such as 0, or a range such as 0-3"},
		{"{channels: [0-x, 2]}", "'0-x' is not all, a number such as 0, or a range such as 0-3"},
		{"{count: 17}", "'17' is out of range: 1 to 16"},
		{"{count: 12}", "(in namespace 1)"},
		{"{count: 2}\nplp: {mode: selective, bytes: 8 MiB}", "be 0 with several namespaces"},
	};
	for (const auto &[text, sentence] : cases)
		EXPECT_NE(error_of(four_channels + text + "\n").find(sentence), std::string::npos) << text << "\n"
												   << error_of(four_channels + text + "\n");
}

/* Each in a device where another key makes it mean nothing. */
TEST(DeviceConfig, KeysWithoutAnEffectAreRefused)
{
	const std::string block = "zones:\n  namespace: block\n  count: 16\nconventional:\n  spare_superblocks: 9\n";
	const std::string tail = ": remove the key";
	EXPECT_EQ(error_of(block), "no error");
	EXPECT_EQ(error_of(block + "  zones: 3\n"),
		  "d.yaml:6: conventional.zones has no effect here, since all zones of a block namespace are conventional" + tail);
	EXPECT_EQ(error_of(block + "buffers: {binding: modulo}\n"),
		  "d.yaml:6: buffers.binding has no effect here, since a block namespace has no sequential zones, whose buffers these are" +
			  tail);
	for (const char *text :
	     {"zones: {namespace: block, count: 16, max_open: 4}\nconventional: {spare_superblocks: 9}\n", "conventional: {gc: fifo}\n",
	      "conventional: {streams: 1, zones: 0}\n", "timing: {suspend: 1us}\n", "timing: {cache_busy: 1us}\n",
	      "faults: {slow_percent: 200}\n", "locks: {cluster: 2}\n", "conventional: {collectors: 2}\n", "conventional: {frontiers: 2}\n",
	      "conventional: {region: slc}\n", "zrwa: {size: 32 KiB}\n", "zrwa: {count: 0, flush_granularity: 8 KiB}\n",
	      "buffers: {poll: 7us}\n", "buffers: {flush_percent: 50}\n", "plp: {failures: 3}\n", "l2p: {zone_log: 3}\n",
	      "data_cache: {eviction: clock}\n", "faults: {rber_base: 5}\n", "faults: {retry_percent: 5, ecc_bits: 0}\n"})
		EXPECT_NE(error_of(text).find(" has no effect here, since "), std::string::npos) << text << error_of(text);
	EXPECT_EQ(error_of("timing: {suspend: 1us, read_age_limit: 1ms}\nl2p: {cache: 0, chunk: 4 MiB, levels: page}\n"), "no error");
}

TEST(DeviceConfig, KeysOfLockClassesWithoutAnEffectAreRefused)
{
	const std::string only_global = "only locks.granularity.default: global has a lock of this class: remove the key";
	EXPECT_EQ(error_of("locks:\n  granularity:\n    slc: class\n"),
		  "d.yaml:3: locks.granularity.slc: there is one lock of this class: remove the key");
	EXPECT_EQ(error_of("locks: {granularity: {test: 4}}\n"),
		  "d.yaml:1: locks.granularity.test: no lock is divided by this class: remove the key");
	EXPECT_EQ(
		error_of("locks:\n  granularity:\n    zone: fine\n    default: global\n"),
		"d.yaml:3: locks.granularity.zone: one lock stands for all classes, as locks.granularity.default says: remove one of the two");
	EXPECT_EQ(error_of("locks:\n  kind:\n    link: mcs\n"),
		  "d.yaml:3: locks.kind.link: no lock of a device is of this class: remove the key");
	EXPECT_EQ(error_of("locks:\n  kind: {global: mcs}\n"), "d.yaml:2: locks.kind.global: " + only_global);
	EXPECT_EQ(error_of("locks:\n  granularity: {default: global}\n  kind: {zone: mcs}\n"),
		  "d.yaml:3: locks.kind.zone: the one lock that stands for all is of class 'global': remove the key");
	EXPECT_EQ(error_of("locks: {kind: {default: clh, block: mcs}, granularity: {default: 8, l2p: class}}\n"), "no error");
	EXPECT_EQ(error_of("locks: {kind: {global: mcs}, granularity: {default: global}}\n"), "no error");
}

TEST(DeviceConfig, SeveralWorkersNeedALock)
{
	const std::string why =
		" is none, but workers run on several harts, and only a lock keeps them apart: choose another kind, or one worker";
	EXPECT_EQ(error_of("harts: {workers: 2}\nlocks:\n  kind:\n    slc: none\n"), "d.yaml:4: locks.kind.slc" + why);
	EXPECT_EQ(error_of("harts: {workers: 2}\nlocks:\n  kind: {default: none}\n"), "d.yaml:3: locks.kind.zone" + why);
	EXPECT_EQ(error_of("harts: {hil: 0, tsu: [0], worker: [1, 0], count: 2}\nlocks: {kind: {l2p: none}}\n"),
		  "d.yaml:2: locks.kind.l2p" + why);
	EXPECT_EQ(error_of("locks:\n  granularity: {default: global}\n  kind: {default: none}\n"), "d.yaml:3: locks.kind.global" + why);
	for (const char *text : {"harts: {workers: 1}\nlocks: {kind: {default: none}}\n",
				 "harts: {hil: 0, tsu: [0], worker: [1, 1], count: 2}\nlocks: {kind: {l2p: none}}\n",
				 "harts: {workers: 1}\nlocks: {granularity: {default: global}, kind: {global: none}}\n"})
		EXPECT_EQ(error_of(text), "no error") << text;
	hz_device_config more = parse_device("harts: {workers: 1}\nlocks: {kind: {default: none}}\n", "d.yaml");
	place_roles(more, 1, 2);
	EXPECT_THROW(require_legal(more, "d.yaml"), ConfigError) << "workers of the command line";
}

TEST(DeviceConfig, GranularityIsAWordOrANumber)
{
	const std::string words = " is not one of fine, class, global, or a number of locks";
	EXPECT_EQ(error_of("locks: {granularity: {default: coarse}}\n"), "d.yaml:1: locks.granularity.default: 'coarse'" + words);
	EXPECT_EQ(error_of("locks: {granularity: {default: 8x}}\n"), "d.yaml:1: locks.granularity.default: '8x'" + words);
	EXPECT_EQ(error_of("locks: {granularity: {default: ''}}\n"), "d.yaml:1: locks.granularity.default: ''" + words);
	EXPECT_EQ(error_of("locks: {granularity: {zone: global}}\n"),
		  "d.yaml:1: locks.granularity.zone: 'global' is not one of fine, class, or a number of locks");
	for (const char *number : {"0", "1", "4097", "99999999999999999999"})
		EXPECT_NE(error_of(std::string("locks: {granularity: {zone: ") + number + "}}\n").find("locks.granularity.zone: '"),
			  std::string::npos)
			<< number;
	const auto of = [](const char *text) { return parse_device(std::string("locks: {granularity: {") + text + "}}\n", "d.yaml"); };
	for (const auto &[text, zone, slc] : {std::tuple{"default: fine", 0u, 0u},
					      {"default: class", 1u, 1u},
					      {"default: 4096", 4096u, 0u},
					      {"default: class, zone: fine", 0u, 1u},
					      {"default: global", 4097u, 4097u}}) {
		const hz_device_config cfg = of(text);
		EXPECT_EQ(cfg.lock_granularity[HZ_LC_ZONE], zone) << text;
		EXPECT_EQ(cfg.lock_granularity[HZ_LC_SLC], slc) << text;
		EXPECT_EQ(cfg.lock_granularity[HZ_LC_TEST], 0u) << text;
	}
	const auto echo = device_to_json(of("default: class, zone: fine, l2p: 8"))["locks"]["granularity"];
	EXPECT_EQ(echo["zone"], "fine");
	EXPECT_EQ(echo["slc"], "class");
	EXPECT_EQ(echo["l2p"], 8);
	EXPECT_EQ(device_to_json(of("default: global"))["locks"]["granularity"]["l2p"], "global");
}

TEST(DeviceConfig, SeveralRolesMayShareAHart)
{
	const hz_device_config cfg = parse_device("harts: {hil: 0, tsu: [0], worker: [0, 0, 1], count: 2}\n", "d.yaml");
	EXPECT_EQ(cfg.harts, 2u);
	EXPECT_EQ(cfg.worker_count, 3u);
	EXPECT_EQ(cfg.worker_hart[2], 1u);
}

TEST(DeviceConfig, LockKindsByClass)
{
	const hz_device_config cfg = parse_device("locks: {kind: {default: mcs, slc: clh}}\n", "d.yaml");
	EXPECT_EQ(cfg.lock_kind[HZ_LC_ZONE], LT_LOCK_MCS);
	EXPECT_EQ(cfg.lock_kind[HZ_LC_SLC], LT_LOCK_CLH);
}

TEST(DeviceConfig, SchemesAreNumberedInLexicographicOrder)
{
	for (const hz_field &field : hz_device_fields) {
		if (strcmp(field.member, "plane_scheme"))
			continue;
		const auto names = words_of(field);
		EXPECT_EQ(names.size(), 24u);
		EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
		EXPECT_EQ(names[0], "CDPW");
		EXPECT_EQ(names[23], "WPDC");
		EXPECT_EQ(names[parse_device("geometry: {plane_scheme: CWDP}", "d").plane_scheme], "CWDP");
	}
}

TEST(DeviceConfig, ClockCostsFollowThePresetAndSingleKeysChangeIt)
{
	const hz_clock_costs usual = parse_device("name: x\n", "t").clock;
	EXPECT_EQ(usual.preset, uint32_t(HZ_CLOCK_ROCKET));
	EXPECT_EQ(usual.remote, 69u);
	EXPECT_EQ(usual.mhz, 1000u);
	EXPECT_EQ(usual.data, uint32_t(HZ_DATA_ORDERED));
	const hz_clock_costs free = parse_device("clock: {preset: free}\n", "t").clock;
	EXPECT_EQ(free.remote, 40u);
	EXPECT_EQ(free.data, uint32_t(HZ_DATA_FREE));
	const hz_clock_costs ideal = parse_device("clock: {remote: 7, preset: ideal}\n", "t").clock;
	EXPECT_EQ(ideal.preset, uint32_t(HZ_CLOCK_IDEAL));
	EXPECT_EQ(ideal.remote, 7u);
	EXPECT_EQ(ideal.occupancy, 0u);
	EXPECT_EQ(ideal.insn, 1u);
	EXPECT_THROW(parse_device("clock: {preset: fast}\n", "t"), ConfigError);
	const hz_clock_costs single = parse_device("clock: {preset: single, mul: 9, store_buffer: 3}\n", "t").clock;
	EXPECT_EQ(single.div, 32u);
	EXPECT_EQ(single.mul, 9u);
	EXPECT_EQ(single.store_buffer, 3u);
	EXPECT_THROW(parse_device("clock: {store_buffer: 65}\n", "t"), ConfigError);
	const hz_clock_costs hub =
		parse_device("clock: {data: ordered, busy: access, lr: write, dispatch: 4, l2_bytes: 1 MiB}\n", "t").clock;
	EXPECT_EQ(hub.data, uint32_t(HZ_DATA_ORDERED));
	EXPECT_EQ(hub.busy, uint32_t(HZ_BUSY_ACCESS));
	EXPECT_EQ(hub.lr, uint32_t(HZ_LR_WRITE));
	EXPECT_EQ(hub.dispatch, 4u);
	EXPECT_EQ(hub.l2_bytes, 1u << 20);
	EXPECT_THROW(parse_device("clock: {l2_bytes: 96 KiB}\n", "t"), ConfigError);
	EXPECT_EQ(parse_device("clock: {preset: rocket}\n", "t").clock.arbiter, uint32_t(HZ_ARBITER_TURNS));
	EXPECT_THROW(parse_device("clock: {preset: free, arbiter: turns}\n", "t"), ConfigError);
	const hz_clock_costs clustered = parse_device("clock: {preset: clustered, cluster: 2, cache_bytes: 0}\n", "t").clock;
	EXPECT_EQ(clustered.data, uint32_t(HZ_DATA_MOVES));
	EXPECT_EQ(clustered.cluster, 2u);
	EXPECT_EQ(clustered.cache_bytes, 0u);
	EXPECT_EQ(clustered.memory, 120u);
	EXPECT_THROW(parse_device("clock: {cache_bytes: 96 KiB}\n", "t"), ConfigError);
	EXPECT_EQ(parse_device("clock: {cache_bytes: 96 KiB, cache_ways: 6}\n", "t").clock.cache_bytes, 96u << 10);
}

// Of devices that differ in harts, locks, costs and names only, and of no others.
TEST(PreparingDevice, IsOneForAllMachinesOnAFlash)
{
	const auto preparing = [](const std::string &text) { return device_to_json(preparing_device(parse_device(text, "d"))).dump(); };
	const std::string usual = preparing("{}");
	for (const char *text :
	     {"name: other", "harts: {workers: 1}", "harts: {workers: 24, hils: 2, tsus: 2}", "harts: {architecture: completion}",
	      "harts: {routing: owner}", "harts: {inflight_requests: 64}", "harts: {hil: [0], tsu: [1], worker: [2, 3], count: 8}",
	      "locks: {kind: {default: mcs}}", "locks: {granularity: {default: global}}", "locks: {kind: {zone: cohort}, cluster: 2}",
	      "locks: {stats: contended}", "clock: {preset: server}", "clock: {remote: 77}", "faults: {shelf_hours: 5}",
	      "memory: {sram: 64 MiB}"})
		EXPECT_EQ(preparing(text), usual) << text;
	for (const char *text : {"seed: 2", "geometry: {channels: 1}", "buffers: {count: 3}", "l2p: {kind: zone}", "timing: {command: 1us}",
				 "faults: {program_fail_ppb: 5}", "link: {doorbell: 1us}"})
		EXPECT_NE(preparing(text), usual) << text;
}

// The usual harts suit every flash.
TEST(PreparingDevice, IsLegal)
{
	for (const auto &file : std::filesystem::directory_iterator(HZ_TREE "/configs/devices"))
		EXPECT_NO_THROW(require_legal(preparing_device(load_device(file.path().string())), file.path().string()));
	const hz_device_config many = parse_device(
		"zones: {namespace: block}\nharts: {workers: 12}\nconventional: {frontiers: 6, spare_superblocks: 12}\n", "d");
	EXPECT_EQ(preparing_device(many).worker_count, 6u);
	EXPECT_NO_THROW(require_legal(preparing_device(many), "many"));
	EXPECT_NO_THROW(require_legal(preparing_device(parse_device("geometry: {channels: 1}\nharts: {workers: 3}\n", "d")), "one"));
}

} // namespace
