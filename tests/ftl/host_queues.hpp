// Host queues that run side by side on eight harts and know what they must read back: a workload for zones, one for conventional sectors.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <random>

#include "units_model.hpp"

namespace ftl_rig {

// One command at a time; it knows the completions it has seen. Ends with a flush; the last queue stops the harts.
class HostQueue {
public:
	void start(Rig &rig, uint32_t index, uint32_t queues, uint64_t seed, uint32_t steps, std::atomic<uint32_t> &left)
	{
		rig_ = &rig;
		index_ = index;
		queues_ = queues;
		random_.seed(seed);
		steps_ = steps;
		left_ = &left;
		begin();
		next();
	}
	virtual ~HostQueue() = default;
	// After a boot: everything reads as it was acknowledged.
	virtual void verify(Rig &rig) const = 0;
	uint32_t wrong = 0;

protected:
	virtual void begin() {}
	virtual void choose(uint32_t dice) = 0;
	virtual void completed(Request &r) = 0;

	Request &request() { return *request_; } // the one that has been made
	void make(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0)
	{
		request_ = std::make_unique<Request>(op, lba, sectors, flags);
		request_->then = [this](Request &r) {
			completed(r);
			next();
		};
	}
	void write(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0)
	{
		tag_ = (uint64_t(index_) << 32 | step_) + 1;
		make(op, lba, sectors, flags);
		for (auto *page : request_->pages)
			fill_sector(page, tag_);
	}
	uint64_t random_below(uint64_t n) { return random_() % n; }

	Rig *rig_ = nullptr;
	uint32_t index_ = 0, queues_ = 0;
	uint64_t tag_ = 0; // written, or expected

private:
	void next()
	{
		if (step_ > steps_) {
			if (--*left_ == 0)
				lt_harts_stop();
			return;
		}
		uint32_t dice = static_cast<uint32_t>(random_below(100));
		if (step_++ == steps_)
			make(FTL_FLUSH, 0, 0);
		else
			choose(dice);
		rig_->submit(*request_, index_);
	}

	std::mt19937_64 random_;
	std::unique_ptr<Request> request_;
	std::atomic<uint32_t> *left_ = nullptr;
	uint32_t step_ = 0, steps_ = 0;
};

// Appends to a zone of its own and to one shared by all, flushes, reads back, resets.
class ZoneQueue : public HostQueue {
public:
	void verify(Rig &rig) const override
	{
		for (auto [lba, tag] : written_) {
			Request read(FTL_READ, lba, 1);
			ASSERT_EQ(rig.run(read), 0);
			ASSERT_TRUE(sector_is(read.pages[0], tag)) << "LBA " << lba;
		}
	}

protected:
	void choose(uint32_t dice) override
	{
		if (own_full_ || dice < 4) {
			make(FTL_ZONE_RESET, own(), 0);
		} else if (dice < 60) {
			write(FTL_APPEND, dice < 20 ? rig_->lba_of(rig_->shape.zones - 1) : own(),
			      static_cast<uint32_t>(1 + random_below(9)), random_below(4) ? 0 : FTL_FUA);
		} else if (dice < 70 && !written_.empty() && rig_->cfg.in_place_sectors) {
			write(FTL_UPDATE, written_[random_below(written_.size())].first, 1);
		} else if (dice < 92 && !written_.empty()) {
			auto [lba, expected] = written_[random_below(written_.size())];
			tag_ = expected;
			make(FTL_READ, lba, 1);
		} else {
			make(FTL_FLUSH, 0, 0);
		}
	}
	void completed(Request &r) override
	{
		uint16_t status = r.status();
		if (r.req.op == FTL_APPEND && status == 0) {
			for (uint32_t i = 0; i < r.req.sectors; i++)
				written_.emplace_back(r.req.result + i, tag_);
		} else if (r.req.op == FTL_APPEND) {
			wrong += status != NVME_ZONE_BOUNDARY && status != NVME_ZONE_FULL;
			own_full_ = own_full_ || r.req.lba == own();
		} else if (r.req.op == FTL_READ) {
			wrong += status != 0 || !sector_is(r.pages[0], tag_);
		} else if (r.req.op == FTL_UPDATE) {
			updated(r.req.lba, status);
		} else {
			wrong += status != 0;
		}
		if (r.req.op == FTL_ZONE_RESET)
			forget();
	}

private:
	uint64_t own() const { return rig_->lba_of(static_cast<uint32_t>(rig_->shape.conventional_zones) + index_); }
	void updated(uint64_t lba, uint16_t status)
	{
		wrong += status != 0 && status != NVME_HZ_IN_PLACE_BUDGET;
		for (auto &[written, tag] : written_)
			tag = written == lba && !status ? tag_ : tag;
	}
	void forget()
	{
		own_full_ = false;
		std::erase_if(written_, [this](auto &w) { return w.first >= own() && w.first < own() + rig_->shape.zone_size_sectors; });
	}

	std::vector<std::pair<uint64_t, uint64_t>> written_; // LBA, tag
	bool own_full_ = false;
};

// Fills zones of its own by writes of up to one and a half superpages, finishes some early, resets full ones, flushes, reads back.
class LifeQueue : public HostQueue {
public:
	void verify(Rig &rig) const override
	{
		for (size_t z = 0; z < zones_.size(); z++)
			for (uint32_t at = 0; at < zones_[z].tags.size(); at++) {
				Request read(FTL_READ, first_of(z) + at, 1);
				ASSERT_EQ(rig.run(read), 0);
				ASSERT_TRUE(sector_is(read.pages[0], zones_[z].tags[at])) << "zone " << number(z) << " sector " << at;
			}
	}

protected:
	void begin() override { zones_.resize(rig_->shape.zones / queues_); }
	void choose(uint32_t dice) override
	{
		at_ = random_below(zones_.size());
		Zone &zone = zones_[at_];
		if (zone.full && dice < 40)
			make(FTL_ZONE_RESET, first_of(at_), 0);
		else if (!zone.full && !zone.tags.empty() && dice < 4)
			make(FTL_ZONE_FINISH, first_of(at_), 0);
		else if (!zone.full && dice < 60)
			write_some(zone);
		else if (!zone.tags.empty() && dice < 72 && rig_->cfg.in_place_sectors)
			write(FTL_UPDATE, first_of(at_) + random_below(zone.tags.size()), 1);
		else if (!zone.tags.empty() && dice < 90)
			read_some(zone);
		else
			make(FTL_FLUSH, 0, 0);
	}
	void completed(Request &r) override
	{
		Zone &zone = zones_[at_];
		wrong += r.status() != 0 && (r.req.op != FTL_UPDATE || r.status() != NVME_HZ_IN_PLACE_BUDGET);
		if (r.req.op == FTL_UPDATE && r.status() == 0)
			zone.tags[r.req.lba - first_of(at_)] = tag_;
		if (r.req.op == FTL_ZONE_RESET)
			zone = Zone();
		else if (r.req.op == FTL_ZONE_FINISH)
			zone.full = true;
		else if (r.req.op == FTL_APPEND)
			zone.tags.insert(zone.tags.end(), r.req.sectors, tag_);
		else if (r.req.op == FTL_READ)
			for (uint32_t i = 0; i < r.req.sectors; i++)
				wrong += !sector_is(r.pages[i], zone.tags[r.req.lba - first_of(at_) + i]);
		zone.full |= zone.tags.size() == rig_->shape.zone_capacity_sectors;
	}

private:
	struct Zone {
		std::vector<uint64_t> tags;
		bool full = false;
	};
	uint32_t number(size_t z) const { return index_ + static_cast<uint32_t>(z) * queues_; }
	uint64_t first_of(size_t z) const { return rig_->lba_of(number(z)); }
	void write_some(const Zone &zone)
	{
		static constexpr uint32_t sizes[] = {1, 4, 16, 72};
		const uint64_t rest = rig_->shape.zone_capacity_sectors - zone.tags.size();
		write(FTL_APPEND, first_of(at_), static_cast<uint32_t>(std::min<uint64_t>(sizes[random_below(4)], rest)),
		      random_below(16) ? 0 : FTL_FUA);
	}
	void read_some(const Zone &zone)
	{
		const uint64_t from = random_below(zone.tags.size());
		make(FTL_READ, first_of(at_) + from,
		     static_cast<uint32_t>(1 + random_below(std::min<uint64_t>(20, zone.tags.size() - from))));
	}

	std::vector<Zone> zones_;
	size_t at_ = 0;
};

// Overwrites and reads its own sectors n, with n mod queues = index; they share zones with those of all queues. Now and then it writes a
// run over the last sectors: unchecked, but across everything.
class ConventionalQueue : public HostQueue {
public:
	void verify(Rig &rig) const override
	{
		for (uint32_t at = 0; at < tags_.size(); at++) {
			Request read(FTL_READ, lba_of(at), 1);
			ASSERT_EQ(rig.run(read), 0);
			ASSERT_TRUE(sector_is(read.pages[0], tags_[at])) << "LBA " << lba_of(at);
		}
	}

protected:
	void begin() override { tags_.assign((rig_->shape.conventional_zones * rig_->shape.zone_size_sectors - 100) / queues_, 0); }
	void choose(uint32_t dice) override
	{
		at_ = static_cast<uint32_t>(random_below(tags_.size()));
		if (dice < 2)
			make(FTL_FLUSH, 0, 0);
		else if (dice < 70)
			write(FTL_WRITE, lba_of(at_), 1, random_below(16) ? 0 : FTL_FUA);
		else if (dice < 76)
			make(FTL_WRITE, tags_.size() * queues_ + random_below(60), static_cast<uint32_t>(1 + random_below(30)));
		else if (dice < 78 && rig_->cfg.fdp_handles)
			update(static_cast<uint16_t>(random_below(rig_->cfg.fdp_handles)));
		else
			make(FTL_READ, lba_of(at_), 1);
		if (rig_->cfg.fdp_handles && request().req.op == FTL_WRITE)
			request().req.placement = static_cast<uint16_t>(random_below(rig_->cfg.fdp_handles));
	}
	void completed(Request &r) override
	{
		wrong += r.status() != 0;
		if (r.req.op == FTL_READ)
			wrong += !sector_is(r.pages[0], tags_[at_]);
		if (r.req.op == FTL_WRITE && r.req.lba < tags_.size() * queues_)
			tags_[at_] = tag_;
	}

private:
	uint64_t lba_of(uint32_t own) const { return uint64_t(own) * queues_ + index_; }
	void update(uint16_t handle)
	{
		make(FTL_PLACEMENT_UPDATE, 0, 1);
		request().name_handles({handle});
	}

	std::vector<uint64_t> tags_;
	uint32_t at_ = 0;
};

// HIL, two TSUs and five workers; one kind of lock for all classes; times so short that the machine's clock may be the device's.
inline void eight_harts(hz_device_config &cfg, int variant)
{
	cfg.harts = 8;
	cfg.tsu_count = 2;
	cfg.tsu_hart[0] = 1;
	cfg.tsu_hart[1] = 2;
	cfg.worker_count = 5;
	for (uint8_t i = 0; i < 5; i++)
		cfg.worker_hart[i] = 3 + i;
	for (uint8_t &kind : cfg.lock_kind)
		kind = static_cast<uint8_t>(LT_LOCK_TAS + variant % (LT_LOCK_KINDS - 1));
	cfg.slc = {{2000}, {3000}, 9000, 0};
	cfg.normal = {{2000, 2000, 2000}, {5000}, 12000, 0};
	cfg.channel_bytes_per_s = 0;
	cfg.refresh_reads = variant % 3 == 2 ? 7 : 0; // full zones are always on their way
	cfg.refresh_wear = variant % 3 == 2 ? 2 : 0;
}

constexpr int zone_variants = 18, conventional_variants = 14, units_variants = 5;

// Buffer bindings and idle flush; 3, 4: patched zones; 5 to 7: the map in flash, a cache as small as can be, all strategies; from 8 on the
// buffers share their memory, 9: little more of it than each is sure of; 10: a part of it is protected; 11: zones on one plane, 12: on two,
// with a protected part of the memory; 13, 14: buffers are lent, 13: and kept, 14: and polled; from 15 on slots, of each kind, few of them,
// 16, 17: and the map has an entry for each zone. 0, 10: look-ups without the map's lock; 8: by looks at its sequence; 9: combined. 2, 6, 8,
// 16: with rain. Every third one has sectors written in place.
inline hz_device_config zone_variant(int variant)
{
	hz_device_config cfg = ftl_config();
	eight_harts(cfg, variant);
	cfg.buffer_binding = variant % 2;
	cfg.buffer_idle_ns = variant % 2 ? 20000 : 0;
	cfg.write_buffers = 2;
	cfg.max_open = cfg.max_active = 0;
	if (variant == 3 || variant == 4) {
		cfg.zone_capacity_sectors = cfg.zone_size_sectors = 128;
		cfg.slc_blocks_per_plane = 18;
		cfg.blocks_per_plane = 28;
	}
	cfg.l2p_lookups = variant == 0 || variant == 10 ? HZ_LOOKUPS_UNLOCKED : HZ_LOOKUPS_LOCKED;
	if (variant >= 16)
		cfg.l2p_kind = HZ_L2P_KIND_ZONE, cfg.l2p_zone_log = static_cast<uint32_t>(variant) - 15;
	if (variant >= 15)
		use_slots(cfg, 4 + static_cast<uint32_t>(variant % 3) * 8, HZ_SLOTS_LOCKED + static_cast<uint32_t>(variant - 15),
			  HZ_BUFFER_FLUSH_UNIT + static_cast<uint32_t>(variant % 2));
	else if (variant >= 13)
		lend_buffers(cfg, variant == 14);
	else if (variant >= 11)
		use_planes(cfg, variant == 11 ? 1 : 2);
	if (variant == 13)
		cfg.buffer_handover = HZ_HANDOVER_KEPT;
	if (variant == 10 || variant == 12)
		protect_memory(cfg, 30, 30);
	else if (variant == 8 || variant == 9)
		share_memory(cfg, variant == 8 ? 80 : 2);
	if (variant >= 5 && variant < 8) {
		cfg.slc_blocks_per_plane = 8;
		cfg.blocks_per_plane = 8 + 10;
		cfg.l2p_cache_bytes = (variant == 7 ? 64 : 16) * HZ_MAP_ENTRY_BYTES;
		cfg.l2p_levels = HZ_MAP_ZONE;
		cfg.l2p_chunk_sectors = 16;
		cfg.l2p_log_entries = 256;
		cfg.l2p_strategy = variant % 3;
		cfg.l2p_eviction = variant % 2;
		cfg.l2p_log_policy = variant == 6;
	}
	if (variant == 2 || variant == 6 || variant == 8 || variant == 16)
		use_rain(cfg);
	if (variant % 3 == 2) {
		cfg.in_place_sectors = 30;
		cfg.slc_blocks_per_plane += 2;
		cfg.blocks_per_plane += 2;
	}
	return cfg;
}

// Twelve superblocks of 192 sectors, on as many planes as before: zones without an end beyond them.
inline void use_long_zones(hz_device_config &cfg)
{
	const uint32_t planes = std::exchange(cfg.superblock_planes, 0);
	cfg.zone_capacity_sectors = cfg.zone_size_sectors = 0;
	cfg.pages_per_block = 24;
	cfg.blocks_per_plane = cfg.slc_blocks_per_plane + 12;
	if (planes)
		use_planes(cfg, planes);
}

// A block namespace; odd: the map in flash, 1, 5: compressed, 5: and found by a directory on flash, 3: lines of four entries; 4, 5:
// superblocks on two planes; 6: buffers are lent; 7, 8: conventional data in SLC, 7: … of patched zones; 9 to 11: a data cache, so small
// that lines are always busy; then reclaim unit handles. 4, 10: look-ups without the map's lock; 8: by looks at its sequence;
// 2: combined.
inline hz_device_config page_variant(int variant)
{
	hz_device_config cfg = variant % 2 ? mapped_conventional_config(true) : conventional_config(true);
	eight_harts(cfg, variant);
	cfg.l2p_cache_bytes *= 8;
	cfg.l2p_prefetch = variant % 4 == 3 ? 95 : 0;
	cfg.l2p_compress = variant % 4 == 1;
	cfg.conventional_gc = static_cast<uint32_t>(variant) % HZ_GC_POLICIES;
	cfg.conventional_streams = 1 + variant % 2;
	use_frontiers(cfg, 1 + variant % cfg.worker_count);
	use_collectors(cfg, 1 + variant / 2 % cfg.worker_count);
	cfg.conventional_buffers = 1 + variant % 3;
	cfg.conventional_gc_low = 2 + variant % 2;
	cfg.l2p_shards = variant % 4 == 1 ? 1 : 0;
	cfg.l2p_lookups = variant == 4 || variant == 10 ? HZ_LOOKUPS_UNLOCKED : HZ_LOOKUPS_LOCKED;
	if (variant == 2)
		cfg.lock_kind[HZ_LC_L2P] = LT_LOCK_COMBINE;
	if (variant == 5)
		use_directory(cfg);
	if (variant == 6)
		lend_buffers(cfg);
	else if (variant >= 12)
		use_handles(cfg, 3);
	else if (variant >= 9)
		use_data_cache(cfg, variant == 10 ? 16 : 40, variant == 9 ? 19 : variant == 10 ? 8 : 2);
	else if (variant >= 7)
		lay_out(cfg, variant == 7, true);
	else if (variant >= 4)
		use_planes(cfg, 2);
	return cfg;
}

// Both kinds of zones, under a map of zones and one of sectors: 1 on: the latter in flash, 2: with a directory, 3: slots, 4: conventional
// data in SLC.
inline hz_device_config units_variant(int variant)
{
	static constexpr int layouts[] = {0, 1, 4, 7, 6};
	hz_device_config cfg = units_config(units_layouts[layouts[variant]]);
	eight_harts(cfg, variant);
	cfg.zones++; // one for each queue, and one for all
	cfg.blocks_per_plane++;
	cfg.zone_size_sectors = 96;
	cfg.l2p_cache_bytes *= 8;
	cfg.max_open = cfg.max_active = variant == 3 ? cfg.max_active : 0;
	fit_slc(cfg);
	return cfg;
}

// As many locks as the number says: one for each thing, two of a class, one of a class, one for all.
inline hz_device_config with_locks(hz_device_config cfg, uint64_t which)
{
	const uint32_t granularity[] = {HZ_LOCKS_FINE, 2, HZ_LOCKS_CLASS, HZ_LOCKS_GLOBAL};
	support::choose_granularity(cfg, granularity[which % 4]);
	return cfg;
}

// A block device with everything written once, so that overwriting it needs collections.
inline void fill_device(Rig &rig)
{
	ASSERT_TRUE(rig.boot()) << rig.error;
	ConventionalDriver driver(rig, 1);
	driver.fill(96);
	ASSERT_TRUE(driver.run_batch({{FTL_WRITE_ZEROES, 0, driver.sector_count()}}));
	ASSERT_TRUE(driver.run_batch({{FTL_FLUSH, 0, 0}}));
}

// Queues, one a worker, in turn of two kinds if there are two. `run` runs them until the harts are stopped, in the midst of collections and
// programs as by a power cut; everything was flushed before. Then a boot, and all of it must be there. The rig is booted.
template <typename Even, typename Odd = Even, typename F> void contest(Rig &rig, uint64_t seed, uint32_t steps, F run)
{
	std::atomic<uint32_t> left{rig.cfg.worker_count};
	std::vector<std::unique_ptr<HostQueue>> queues;
	for (uint32_t i = 0; i < rig.cfg.worker_count; i++) {
		if (i % 2)
			queues.push_back(std::make_unique<Odd>());
		else
			queues.push_back(std::make_unique<Even>());
		queues[i]->start(rig, i, rig.cfg.worker_count, seed + i, steps, left);
	}
	run();
	EXPECT_EQ(left, 0u);
	for (uint32_t i = 0; i < queues.size(); i++)
		EXPECT_EQ(queues[i]->wrong, 0u) << "queue " << i;
	ASSERT_TRUE(rig.boot()) << rig.error;
	EXPECT_EQ(rig.check(), "");
	for (const auto &queue : queues)
		ASSERT_NO_FATAL_FAILURE(queue->verify(rig));
}

} // namespace ftl_rig
