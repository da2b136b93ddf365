// A reference model of conventional sectors, and a driver that runs batches of reads, writes and flushes against FTL and model, with power
// cuts. Operations of a batch run side by side and may overlap: of several writes to a sector any may be the last.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <random>

#include "ftl_rig.hpp"
#include "slc_log_size.h"

namespace ftl_rig {

// Six zones of 96 sectors, four of them conventional, on nine backing zones; or a block namespace of six zones on eleven.
inline hz_device_config conventional_config(bool block = false)
{
	hz_device_config cfg = ftl_config();
	cfg.namespace_kind = block ? HZ_NS_BLOCK : HZ_NS_ZONED;
	cfg.conventional_zones = 4;
	cfg.conventional_spare = 5;
	cfg.conventional_streams = 2;
	cfg.conventional_buffers = 3;
	cfg.conventional_gc_low = 3;
	cfg.zones = 6;
	cfg.spare_superblocks = 2;
	cfg.slc_blocks_per_plane = 12;
	cfg.blocks_per_plane = 12 + 6 + 5 + 2;
	cfg.zone_size_sectors = block ? 96 : 0;
	return cfg;
}

// The same with the map in flash: a cache of 16 entries, and a log flushed every few units.
inline hz_device_config mapped_conventional_config(bool block = false, uint32_t log_policy = HZ_L2P_LOG_BACKGROUND)
{
	hz_device_config cfg = conventional_config(block);
	cfg.slc_blocks_per_plane += 2;
	cfg.blocks_per_plane += 2;
	cfg.l2p_cache_bytes = 16 * HZ_MAP_ENTRY_BYTES;
	cfg.l2p_levels = HZ_MAP_ZONE;
	cfg.l2p_chunk_sectors = 16;
	cfg.l2p_log_entries = 256;
	cfg.l2p_log_policy = log_policy;
	return cfg;
}

// That many write frontiers of each stream, on media with room for them.
inline void use_frontiers(hz_device_config &cfg, uint32_t count)
{
	const uint32_t more = cfg.conventional_streams * (count - 1);
	cfg.conventional_frontiers = count;
	cfg.conventional_spare += more;
	cfg.blocks_per_plane += more;
}

// That many collectors, on media with room for their open zones.
inline void use_collectors(hz_device_config &cfg, uint32_t count)
{
	cfg.conventional_spare += count - cfg.conventional_collectors;
	cfg.blocks_per_plane += count - cfg.conventional_collectors;
	cfg.conventional_collectors = count;
}

// That many reclaim unit handles instead of streams, on media with room for them.
inline void use_handles(hz_device_config &cfg, uint32_t count)
{
	const uint32_t more = count - std::min(count, cfg.conventional_streams * cfg.conventional_frontiers);
	cfg.fdp_handles = count;
	cfg.conventional_streams = cfg.conventional_frontiers = 1;
	cfg.conventional_spare += more;
	cfg.blocks_per_plane += more;
}

// A data cache of that many lines, each of a page; by a number: eviction policy, write-back or through, limit of dirty lines, shards.
inline void use_data_cache(hz_device_config &cfg, uint32_t lines, uint64_t choice)
{
	cfg.data_cache_bytes = uint64_t(lines) * cfg.page_bytes;
	cfg.data_cache_eviction = choice % HZ_CACHE_EVICTIONS;
	cfg.data_cache_write_back = choice / 2 % 4 ? HZ_ON : HZ_OFF;
	cfg.data_cache_dirty_percent = choice / 8 % 2 ? 100 : 60;
	cfg.data_cache_shards = choice / 16 % 2 ? 0 : 1;
}

// The directory of table pages on flash, too, and room for it; the cache lies in one shard then.
inline void use_directory(hz_device_config &cfg)
{
	cfg.l2p_directory = HZ_L2P_DIRECTORY_FLASH;
	cfg.l2p_shards = 1;
	cfg.slc_blocks_per_plane++;
	cfg.blocks_per_plane++;
}

// The other layouts: zones larger than a superblock, conventional data in SLC for good, or both, on media with just enough of each.
inline void lay_out(hz_device_config &cfg, bool patched, bool slc)
{
	hz_shape shape;
	const uint32_t log = cfg.slc_blocks_per_plane + 2; // more zones may have something staged
	if (patched) {
		cfg.zone_capacity_sectors = 110;
		cfg.zone_size_sectors = cfg.namespace_kind == HZ_NS_BLOCK ? 110 : 128;
	}
	cfg.conventional_region = slc ? HZ_REGION_SLC : HZ_REGION_NORMAL;
	hz_shape_of(&cfg, &shape);
	cfg.slc_blocks_per_plane = log + shape.patch_superblocks;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + std::max(shape.body_superblocks, cfg.conventional_spare + 1) +
			       cfg.spare_superblocks;
}

// Not fewer SLC superblocks than the device must have.
inline void fit_slc(hz_device_config &cfg)
{
	hz_shape shape;
	hz_shape_of(&cfg, &shape);
	const uint32_t least = shape.patch_superblocks + hz_slc_log_least(&cfg, &shape);
	const uint32_t more = least - std::min(least, cfg.slc_blocks_per_plane);
	cfg.slc_blocks_per_plane += more;
	cfg.blocks_per_plane += more;
}

struct ConventionalOp {
	ftl_op kind;
	uint32_t lba, sectors;
	uint8_t flags = 0;
	uint32_t from = 0;      // of a copy
	uint16_t placement = 0; // of a write; what FTL_PLACEMENT_UPDATE names
};

// Possible contents of a sector: groups of tags by batch, oldest first; the first one is the oldest possible after a power cut.
struct ConventionalSector {
	struct Group {
		uint64_t batch;
		std::vector<uint64_t> tags;
	};
	std::vector<Group> groups{{0, {0}}};

	void write(uint64_t batch, uint64_t tag);
	// Contents from before `batch` are durable.
	void flushed(uint64_t batch);
	// The last write failed: it may have happened in part.
	void failed(uint64_t batch);
	// A flush failed: volatile data may be lost, now and also by later flushes.
	void may_be_lost();
	// Gets the contents of another sector in this batch; that one may be written, too. Changes nothing when called once more.
	void copy(uint64_t batch, const ConventionalSector &other);
	bool may_read_during(uint64_t batch, const uint8_t *page) const;
	bool may_be_marked_during(uint64_t batch) const;
	bool may_read(const uint8_t *page) const { return holds(groups.back(), page); }
	// Adopts the content found after a power cut; false: it is impossible.
	bool recover(const uint8_t *page);
	static bool holds(const Group &group, const uint8_t *page);
};

class ConventionalDriver {
public:
	ConventionalDriver(Rig &rig_, uint64_t seed);

	uint32_t roll(uint32_t n) { return static_cast<uint32_t>(random() % n); }
	uint32_t sector_count() const { return static_cast<uint32_t>(sectors.size()); }
	// The model counts existing sectors; LBAs have holes if a zone's capacity is below its size.
	uint64_t lba_of(uint32_t index) const { return index / capacity * rig.shape.zone_size_sectors + index % capacity; }
	bool has_holes() const { return rig.shape.zone_size_sectors != capacity; }

	// Runs the batch to its end, or until power is cut: then returns false.
	bool run_batch(const std::vector<ConventionalOp> &ops);
	// The same in two parts, for a batch that runs with another model's.
	void begin(const std::vector<ConventionalOp> &ops);
	bool end();
	// Resets the controller in the middle of the batch, and stops when it has ended. Returns the time that took.
	uint64_t run_cancelled_batch(const std::vector<ConventionalOp> &ops, uint64_t after_ns);
	std::vector<ConventionalOp> random_batch(uint32_t most = 8);
	// Half of the writes go to a tenth of the sectors.
	uint32_t pick_place() { return roll(2) ? roll(sector_count() / 10) : roll(sector_count()); }

	// Many batches of writes anywhere, of all handles, if there are any, and of an update of one of these.
	void churn();
	void check_cancelled() { verify_all(); }
	void verify_all();
	// After a boot: every sector has its durable content, or a newer one; the model adopts it.
	void check_recovered();
	// As after a shutdown.
	void all_durable();
	void fill(uint32_t step = 32);

	Rig &rig;
	std::mt19937_64 random;
	uint32_t capacity;
	std::vector<ConventionalSector> sectors;
	uint64_t next_tag = 1000, cancelled = 0, cancelled_updates = 0;
	uint32_t deallocations = 2; // of a hundred operations
	bool writes_may_fail = false, reads_may_fail = false, refused = false;

private:
	struct Running {
		ConventionalOp op;
		std::unique_ptr<Request> request;
		uint64_t tag = 0;
		bool differs = false; // compare: from every content ever written
	};

	static bool writes_data(ftl_op kind)
	{
		return kind == FTL_WRITE || kind == FTL_WRITE_ZEROES || kind == FTL_WRITE_UNCORRECTABLE || kind == FTL_COPY;
	}
	// A mark of the host explains the request's failure.
	bool met_a_mark(const Running &run) const;
	uint32_t room_at(uint32_t index) const { return has_holes() ? capacity - index % capacity : sector_count() - index; }
	// Two ranges if there are two sectors.
	void name_sources(Running &run) const;
	// One that exists, or hardly ever none, of a write; of an update one that exists.
	uint16_t pick_handle(bool of_write)
	{
		return static_cast<uint16_t>(of_write && roll(50) == 0 ? 0xfff0 + roll(16) : roll(rig.cfg.fdp_handles));
	}
	void place(std::vector<ConventionalOp> &ops);
	Running issue(ConventionalOp op);
	// It compares with the expected content if nothing else of the batch comes there; half of them with one unwritten sector.
	void expect(Running &run);
	bool is_certain(const Running &run) const;
	void settle_compare(const Running &run);
	void note_write(Running &run);
	void note_copy(const Running &run);
	void settle_all(bool cut);
	void settle(Running &run, bool cut);
	template <typename F> void each_sector(F visit);

	uint64_t batch_ = 0;
	std::vector<Running> running_;
};

} // namespace ftl_rig
