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

// The same with the map in flash: a cache of 16 entries, and a log that is flushed every few units.
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

// So many write frontiers of each stream, on media with room for them.
inline void use_frontiers(hz_device_config &cfg, uint32_t count)
{
	const uint32_t more = cfg.conventional_streams * (count - 1);
	cfg.conventional_frontiers = count;
	cfg.conventional_spare += more;
	cfg.blocks_per_plane += more;
}

// A data cache of so many lines, each of a page; chosen by a number: who leaves, whether writes wait for flash, how many may be dirty, shards.
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

// The other layouts: zones larger than a superblock, conventional data in SLC for good, or both, on media that have just enough of each.
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
	uint32_t from = 0; // of a copy
};

// What a sector may hold: groups of tags by batch, oldest first; the first one is as old as it may be after a power cut.
struct ConventionalSector {
	struct Group {
		uint64_t batch;
		std::vector<uint64_t> tags;
	};
	std::vector<Group> groups{{0, {0}}};

	void write(uint64_t batch, uint64_t tag)
	{
		if (groups.back().batch != batch)
			groups.push_back({batch, {}});
		groups.back().tags.push_back(tag);
	}
	// What was there before `batch` is durable.
	void flushed(uint64_t batch)
	{
		while (groups.size() > 1 && groups[1].batch < batch)
			groups.erase(groups.begin());
	}
	// The last write failed: it may have happened in part.
	void failed(uint64_t batch)
	{
		if (groups.back().batch == batch && groups.size() > 1) {
			const std::vector<uint64_t> &old = groups[groups.size() - 2].tags;
			groups.back().tags.insert(groups.back().tags.end(), old.begin(), old.end());
		}
	}
	// A flush failed: what was not durable may be lost, now and whatever is flushed later.
	void may_be_lost()
	{
		while (groups.size() > 1) {
			groups[1].tags.insert(groups[1].tags.end(), groups[0].tags.begin(), groups[0].tags.end());
			groups.erase(groups.begin());
		}
	}
	// Gets what another has in this batch, which may be written, too. Changes nothing when called once more.
	void copy(uint64_t batch, const ConventionalSector &other)
	{
		std::vector<uint64_t> found = other.groups.back().tags;
		if (other.groups.back().batch == batch && other.groups.size() > 1) {
			const std::vector<uint64_t> &old = other.groups[other.groups.size() - 2].tags;
			found.insert(found.end(), old.begin(), old.end());
		}
		for (uint64_t tag : found)
			if (groups.back().batch != batch || !std::count(groups.back().tags.begin(), groups.back().tags.end(), tag))
				write(batch, tag);
	}
	bool may_read_during(uint64_t batch, const uint8_t *page) const
	{
		size_t last = groups.size() - 1;
		return holds(groups[last], page) || (groups[last].batch == batch && last && holds(groups[last - 1], page));
	}
	bool may_read(const uint8_t *page) const { return holds(groups.back(), page); }
	// Takes over what it finds after a power cut; false: it cannot be.
	bool recover(const uint8_t *page)
	{
		for (const Group &group : groups)
			for (uint64_t tag : group.tags)
				if (sector_is(page, tag)) {
					groups = {{0, {tag}}};
					return true;
				}
		return false;
	}
	static bool holds(const Group &group, const uint8_t *page)
	{
		return std::any_of(group.tags.begin(), group.tags.end(), [page](uint64_t tag) { return sector_is(page, tag); });
	}
};

class ConventionalDriver {
public:
	ConventionalDriver(Rig &rig_, uint64_t seed)
		: rig(rig_), random(seed), capacity(static_cast<uint32_t>(rig_.shape.zone_capacity_sectors)),
		  sectors(rig_.shape.conventional_zones * capacity)
	{
	}

	uint32_t roll(uint32_t n) { return static_cast<uint32_t>(random() % n); }
	uint32_t sector_count() const { return static_cast<uint32_t>(sectors.size()); }
	// The model counts sectors that exist; LBAs have holes where a zone's capacity is below its size.
	uint64_t lba_of(uint32_t index) const { return index / capacity * rig.shape.zone_size_sectors + index % capacity; }
	bool has_holes() const { return rig.shape.zone_size_sectors != capacity; }

	// Runs the batch to its end, or until power is cut: then returns false.
	bool run_batch(std::vector<ConventionalOp> ops)
	{
		std::vector<Running> running;
		batch_++;
		for (ConventionalOp &op : ops)
			running.push_back(issue(op));
		lt_host_run_until_idle();
		bool cut = lt_load(&rig.media.off) != 0;
		settle_all(running, cut);
		return !cut;
	}
	// Resets the controller in the midst of the batch, and stops when it has ended. Returns how long that took.
	uint64_t run_abandoned_batch(std::vector<ConventionalOp> ops, uint64_t after_ns)
	{
		std::vector<Running> running;
		uint64_t reset_ns, last_ns;
		batch_++;
		for (ConventionalOp &op : ops)
			running.push_back(issue(op));
		lt_host_run_until(clock_now_ns() + after_ns);
		last_ns = reset_ns = clock_now_ns();
		rig.abandon([&] { return std::all_of(running.begin(), running.end(), [](const Running &r) { return r.request->done; }); });
		settle_all(running, false);
		for (Running &run : running) {
			last_ns = std::max(last_ns, run.request->answered_ns);
			abandoned += run.request->status() == NVME_ABORT_REQUESTED;
		}
		return last_ns - reset_ns;
	}
	std::vector<ConventionalOp> random_batch(uint32_t most = 8)
	{
		std::vector<ConventionalOp> ops;
		for (uint32_t n = 1 + roll(most); n; n--) {
			uint32_t dice = roll(100), count = 1 + roll(roll(4) ? 6 : 40), lba = pick_place();
			uint8_t fua = roll(6) ? 0 : FTL_FUA;
			if (roll(100) < deallocations)
				ops.push_back({FTL_DEALLOCATE, lba, roll(4) ? count : 1 + roll(100), fua});
			else if (dice < 4)
				ops.push_back({FTL_COPY, lba, count, fua, roll(sector_count())});
			else if (dice < 62)
				ops.push_back({FTL_WRITE, lba, count, fua});
			else if (dice < 66)
				ops.push_back({FTL_WRITE_ZEROES, lba, count, static_cast<uint8_t>(fua | (roll(2) ? FTL_FREES : 0))});
			else if (dice < 74)
				ops.push_back({roll(2) ? FTL_COMPARE : FTL_VERIFY, roll(sector_count()), 1 + roll(60)});
			else if (dice < 92)
				ops.push_back({FTL_READ, roll(sector_count()), 1 + roll(60)});
			else
				ops.push_back({FTL_FLUSH, 0, 0});
		}
		return ops;
	}
	// Half of the writes go to a tenth of the sectors.
	uint32_t pick_place() { return roll(2) ? roll(sector_count() / 10) : roll(sector_count()); }

	void check_abandoned() { verify_all(); }
	void verify_all()
	{
		each_sector([this](uint32_t at, const uint8_t *page) {
			EXPECT_TRUE(sectors[at].may_read(page)) << "conventional sector " << at << " reads wrong";
		});
	}
	// After a boot: every sector holds what was durable, or something newer; the model takes over what it finds.
	void check_recovered()
	{
		ASSERT_EQ(rig.check(), "");
		each_sector([this](uint32_t at, const uint8_t *page) {
			EXPECT_TRUE(sectors[at].recover(page)) << "conventional sector " << at << " is neither old nor new";
		});
	}
	void fill(uint32_t step = 32)
	{
		for (uint32_t at = 0; at < sector_count(); at += step)
			ASSERT_TRUE(run_batch({{FTL_WRITE, at, std::min(step, sector_count() - at)}}));
	}

	Rig &rig;
	std::mt19937_64 random;
	uint32_t capacity;
	std::vector<ConventionalSector> sectors;
	uint64_t next_tag = 1000, abandoned = 0;
	uint32_t deallocations = 2; // of a hundred operations
	bool writes_may_fail = false, reads_may_fail = false, refused = false;

private:
	struct Running {
		ConventionalOp op;
		std::unique_ptr<Request> request;
		uint64_t tag = 0;
		bool differs = false; // compare: from everything that was ever written
	};

	static bool writes_data(ftl_op kind) { return kind == FTL_WRITE || kind == FTL_WRITE_ZEROES || kind == FTL_COPY; }
	uint32_t room_at(uint32_t index) const { return has_holes() ? capacity - index % capacity : sector_count() - index; }
	// Two ranges where there are two sectors.
	void name_sources(Running &run) const
	{
		const uint32_t first = (run.op.sectors + 1) / 2, rest = run.op.sectors - first;
		std::vector<std::pair<uint64_t, uint32_t>> sources{{lba_of(run.op.from), first}};
		if (rest)
			sources.emplace_back(lba_of(run.op.from) + first, rest);
		run.request->name_sources(sources);
	}
	Running issue(ConventionalOp op)
	{
		op.sectors = std::min(op.sectors, room_at(op.lba));
		if (op.kind == FTL_COPY)
			op.sectors = std::min(op.sectors, room_at(op.from));
		if (rig.cfg.plp_mode == HZ_PLP_FULL && writes_data(op.kind)) // as the HIL does
			op.flags |= FTL_FUA;
		Running run{op, std::make_unique<Request>(op.kind, lba_of(op.lba), op.sectors, op.flags), next_tag};
		if (op.kind == FTL_WRITE_ZEROES || op.kind == FTL_DEALLOCATE)
			run.tag = 0;
		if (op.kind == FTL_DEALLOCATE)
			run.request->name_ranges({{0, op.sectors, lba_of(op.lba)}});
		if (op.kind == FTL_COPY)
			name_sources(run);
		if (op.kind == FTL_COMPARE)
			expect(run);
		if (op.kind == FTL_WRITE)
			for (auto *page : run.request->pages)
				fill_sector(page, next_tag++);
		rig.submit(*run.request, roll(rig.cfg.worker_count));
		return run;
	}
	// It compares with what it should find if nothing else of the batch comes there; half of them with one sector that nobody wrote.
	void expect(Running &run)
	{
		for (uint32_t i = 0; i < run.op.sectors; i++)
			fill_sector(run.request->pages[i], sectors[run.op.lba + i].groups.back().tags.back());
		run.differs = roll(2);
		if (run.differs)
			fill_sector(run.request->pages[roll(run.op.sectors)], foreign_tag);
	}
	bool is_certain(const Running &run) const
	{
		return std::all_of(&sectors[run.op.lba], &sectors[run.op.lba] + run.op.sectors, [this](const ConventionalSector &sector) {
			const ConventionalSector::Group &last = sector.groups.back();
			return last.batch != batch_ && last.tags == std::vector<uint64_t>(last.tags.size(), last.tags.back());
		});
	}
	void settle_compare(const Running &run)
	{
		uint16_t status = run.request->status();
		bool certain = run.differs || is_certain(run), unreadable = reads_may_fail && status == NVME_UNRECOVERED_READ;
		EXPECT_TRUE(unreadable || status == 0 || status == NVME_COMPARE_FAILURE) << "compare status " << status;
		EXPECT_TRUE(unreadable || !certain || (status != 0) == run.differs)
			<< "compare of " << run.op.sectors << " sectors from " << run.op.lba << " is wrong";
	}
	void note_write(Running &run)
	{
		for (uint32_t i = 0; i < run.op.sectors; i++)
			sectors[run.op.lba + i].write(batch_, run.tag ? run.tag + i : 0);
	}
	void note_copy(const Running &run)
	{
		const std::vector<ConventionalSector> from(&sectors[run.op.from],
							   &sectors[run.op.from] + run.op.sectors); // they may overlap
		for (uint32_t i = 0; i < run.op.sectors; i++)
			sectors[run.op.lba + i].copy(batch_, from[i]);
	}
	void settle_all(std::vector<Running> &running, bool cut)
	{
		for (Running &run : running)
			if (run.op.kind == FTL_WRITE || run.op.kind == FTL_WRITE_ZEROES || run.op.kind == FTL_DEALLOCATE)
				note_write(run);
		for (size_t i = 0; i < running.size(); i++) // a copy may be of what another has copied
			for (Running &run : running)
				if (run.op.kind == FTL_COPY)
					note_copy(run);
		for (Running &run : running) // reads first: they may have seen what a write of the batch then made obsolete
			if (is_read(run.op.kind))
				settle(run, cut);
		for (Running &run : running)
			if (!is_read(run.op.kind))
				settle(run, cut);
	}
	void settle(Running &run, bool cut)
	{
		if (!run.request->done) {
			EXPECT_TRUE(cut) << "op " << run.op.kind << " at " << run.op.lba << " never completed";
			return;
		}
		uint16_t status = run.request->status();
		bool ended = status == NVME_ABORT_REQUESTED;
		if (run.op.kind == FTL_COMPARE && !ended) {
			settle_compare(run);
			return;
		}
		if (is_read(run.op.kind) && !ended) {
			EXPECT_TRUE(!status || (reads_may_fail && status == NVME_UNRECOVERED_READ)) << "read status " << status;
			for (uint32_t i = 0; i < run.op.sectors && !status && run.op.kind == FTL_READ; i++)
				EXPECT_TRUE(sectors[run.op.lba + i].may_read_during(batch_, run.request->pages[i]))
					<< "conventional sector " << run.op.lba + i << " reads wrong";
			return;
		}
		EXPECT_TRUE(!status || writes_may_fail || ended || (reads_may_fail && run.op.kind == FTL_COPY))
			<< "op " << run.op.kind << " at " << run.op.lba << " status " << status;
		refused = refused || status;
		if (status) {
			for (uint32_t i = 0; i < run.op.sectors && !is_read(run.op.kind) && run.op.kind != FTL_FLUSH; i++)
				sectors[run.op.lba + i].failed(batch_);
			for (ConventionalSector &sector : sectors)
				if (run.op.kind == FTL_FLUSH && !ended)
					sector.may_be_lost();
			return;
		}
		if (run.op.kind == FTL_FLUSH)
			for (ConventionalSector &sector : sectors)
				sector.flushed(batch_);
		else if (run.op.flags & FTL_FUA)
			for (uint32_t i = 0; i < run.op.sectors; i++)
				sectors[run.op.lba + i].flushed(batch_ + 1);
	}
	template <typename F> void each_sector(F visit)
	{
		for (uint32_t at = 0, count; at < sector_count(); at += count) {
			count = std::min(32u, room_at(at));
			Request read(FTL_READ, lba_of(at), count);
			ASSERT_EQ(rig.run(read), 0);
			for (uint32_t i = 0; i < count; i++)
				visit(at + i, read.pages[i]);
			ASSERT_FALSE(testing::Test::HasFailure());
		}
	}

	uint64_t batch_ = 0;
};

} // namespace ftl_rig
