// Routing: the worker that runs a command.
// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <set>

#include "inside.h"
#include "l2p_rig.hpp"

using namespace ftl_rig;

namespace {

hz_device_config with_workers(hz_device_config cfg, uint32_t workers, uint32_t routing)
{
	cfg.worker_count = workers;
	for (uint32_t w = 0; w < workers; w++)
		cfg.worker_hart[w] = cfg.worker_hart[0];
	cfg.routing = routing;
	return cfg;
}

// The worker that reads a sector of this zone for a queue of `worker`.
uint32_t reader_of(Rig &rig, uint32_t zone, uint32_t worker)
{
	std::vector<uint64_t> before;
	for (uint32_t w = 0; w < rig.cfg.worker_count; w++)
		before.push_back(rig_reads_of(rig.ftl, w));
	Request read(FTL_READ, rig.lba_of(zone), 1);
	EXPECT_EQ(rig.run(read, worker), NVME_SUCCESS);
	uint32_t reader = UINT32_MAX;
	for (uint32_t w = 0; w < rig.cfg.worker_count; w++)
		if (rig_reads_of(rig.ftl, w) > before[w]) {
			EXPECT_EQ(reader, UINT32_MAX) << "one worker reads";
			reader = w;
		}
	return reader;
}

} // namespace

TEST(Routing, ByQueueWhateverTheZone)
{
	Rig rig(with_workers(ftl_config(), 3, HZ_ROUTE_QUEUE));
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t z = 0; z < rig.shape.zones; z++)
		for (uint32_t w = 0; w < 3; w++)
			EXPECT_EQ(reader_of(rig, z, w), w);
}

// For commands of any queue; every worker owns some.
TEST(Routing, AZoneHasAnOwner)
{
	for (const uint32_t workers : {2u, 3u, 4u}) {
		Rig rig(with_workers(ftl_config(), workers, HZ_ROUTE_OWNER));
		ASSERT_TRUE(rig.boot()) << rig.error;
		std::set<uint32_t> owners;
		for (uint32_t z = 0; z < rig.shape.zones; z++) {
			const uint32_t owner = reader_of(rig, z, 0);
			owners.insert(owner);
			for (uint32_t w = 1; w < workers; w++)
				EXPECT_EQ(reader_of(rig, z, w), owner);
		}
		EXPECT_EQ(owners.size(), workers);
	}
}

// A shard of the map is one worker's too, if there are enough shards.
TEST(Routing, AShardHasAnOwner)
{
	hz_device_config cfg = with_workers(map_config(), 2, HZ_ROUTE_OWNER);
	cfg.l2p_cache_bytes = 64 * HZ_MAP_ENTRY_BYTES;
	cfg.l2p_shards = 4;
	Rig rig(cfg);
	ASSERT_TRUE(rig.boot()) << rig.error;
	std::map<uint32_t, std::set<uint32_t>> owners;
	for (uint32_t z = 0; z < rig.shape.zones; z++)
		owners[rig_shard_of(rig.ftl, z)].insert(reader_of(rig, z, z % 2));
	EXPECT_GT(owners.size(), 2u);
	for (const auto &[shard, those] : owners)
		EXPECT_EQ(those.size(), 1u) << shard;
}

// Commands about all zones and Flush have no owner, and end as ever; data are as written, by any worker.
TEST(Routing, WhatNamesNoZoneStaysWithItsQueue)
{
	Rig rig(with_workers(ftl_config(), 3, HZ_ROUTE_OWNER));
	ASSERT_TRUE(rig.boot()) << rig.error;
	for (uint32_t z = 0; z < 4; z++)
		ASSERT_EQ(rig.write(z, 0, 5, 1 + z), NVME_SUCCESS);
	Request flush(FTL_FLUSH, 0, 0), close(FTL_ZONE_CLOSE, 0, 0, FTL_ALL_ZONES);
	EXPECT_EQ(rig.run(flush, 2), NVME_SUCCESS);
	EXPECT_EQ(rig.run(close, 1), NVME_SUCCESS);
	for (uint32_t z = 0; z < 4; z++)
		EXPECT_EQ(rig.compare(z, 0, 5, 1 + z), "");
	EXPECT_EQ(ftl_check(rig.ftl), nullptr);
}
