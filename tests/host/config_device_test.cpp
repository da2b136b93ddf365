// Device files: presets, defaults, and an error for everything that can be wrong, with file, line and fix.
#include <gtest/gtest.h>

#include "config/device_config.hpp"
#include "config/device_names.hpp"
#include "config/quantity.hpp"

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
	const hz_device_config cfg = parse_device("", "d.yaml"), usual = device_defaults();
	EXPECT_EQ(device_to_json(cfg), device_to_json(usual));
}

TEST(DeviceConfig, EveryPresetIsLegal)
{
	for (const char *name : {"default", "conzone-paper", "mcmq", "small"}) {
		const hz_device_config cfg = load_device(std::string(HZ_TREE) + "/configs/devices/" + name + ".yaml");
		EXPECT_STREQ(cfg.name, name);
	}
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
	EXPECT_EQ(error_of("locks:\n  kind:\n    zone: fair\n"),
		  "d.yaml:3: locks.kind.zone: 'fair' is not one of none, tas, ttas, ticket, mcs, clh");
	EXPECT_EQ(error_of("geometry: 5\n"), "d.yaml:1: geometry: expected 'key: value' lines below it");
	EXPECT_NE(error_of("geometry:\n  cell: [tlc]\n").find("d.yaml:2: geometry.cell: expected a name"), std::string::npos);
	EXPECT_NE(error_of("a: b: c\n").find("d.yaml:1: this is not YAML"), std::string::npos);
	EXPECT_NE(error_of("zones:\n  max_open: 9\n  max_active: 3\n").find("max_open is 9, but it must be at most max_active 3"),
		  std::string::npos);
	EXPECT_NE(error_of("harts:\n  workers: 2\n  worker: [2, 3]\n").find("give either counts"), std::string::npos);
	EXPECT_EQ(error_of(std::string(100, '[')), "d.yaml:1: lists are nested more than 64 deep");
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
	const hz_device_config cfg = parse_device("locks: {kind: {default: mcs, slc: clh}, shards: {l2p: 8}}\n", "d.yaml");
	EXPECT_EQ(cfg.lock_kind[HZ_LC_ZONE], HZ_LOCK_MCS);
	EXPECT_EQ(cfg.lock_kind[HZ_LC_SLC], HZ_LOCK_CLH);
	EXPECT_EQ(cfg.lock_shards[HZ_LC_L2P], 8u);
}

TEST(DeviceConfig, SchemesAreNumberedInLexicographicOrder)
{
	const auto names = plane_scheme_names();
	EXPECT_EQ(names.size(), 24u);
	EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
	EXPECT_EQ(names[0], "CDPW");
	EXPECT_EQ(names[23], "WPDC");
	EXPECT_EQ(names[parse_device("geometry: {plane_scheme: CWDP}", "d").plane_scheme], "CWDP");
}

TEST(DeviceConfig, ClockCostsFollowThePresetAndSingleKeysChangeIt)
{
	const hz_clock_costs plain = parse_device("name: x\n", "t").clock;
	EXPECT_EQ(plain.remote, 40u);
	EXPECT_EQ(plain.mhz, 1000u);
	const hz_clock_costs ideal = parse_device("clock: {remote: 7, preset: ideal}\n", "t").clock;
	EXPECT_EQ(ideal.preset, uint32_t(HZ_CLOCK_IDEAL));
	EXPECT_EQ(ideal.remote, 7u);
	EXPECT_EQ(ideal.occupancy, 0u);
	EXPECT_EQ(ideal.insn, 1u);
	EXPECT_THROW(parse_device("clock: {preset: fast}\n", "t"), ConfigError);
}

} // namespace
