// Acknowledgements of FUA writes in a kept image's record; a device that claims FUA without
// honouring it breaks them.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <random>

#include "keep/kept_port.hpp"

namespace {

using namespace hz;
using wl::Op;

constexpr uint64_t kept_conventional = 64, kept_zone = 64, kept_sectors = 256;

// Executes submitted commands on a wait, oldest first. Power cuts keep data on flash only.
class Cached : public replay::Port {
public:
	explicit Cached(bool honours_fua) : honours_fua_(honours_fua) {}
	unsigned qid() const override { return 1; }
	uint32_t turnaround_ns() const override { return 0; }
	std::optional<uint16_t> acquire() override { return uint16_t(next_++ % 8); }
	void release(uint16_t) override {}
	std::span<std::byte> data(uint16_t) override { return {}; }
	void open(uint64_t) override {}
	void promise() override {}
	void close() override {}
	uint64_t submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns) override
	{
		submitted_.push_back({cid, request});
		return arrival_ns;
	}
	std::span<const Completion> wait(unsigned) override
	{
		const auto [cid, r] = submitted_.front();
		submitted_.erase(submitted_.begin());
		done_ = Completion{};
		done_.cid = cid;
		done_.result = r.op == Op::append ? pointer_ : 0;
		if (r.op == Op::write || r.op == Op::append)
			write(r, r.op == Op::append ? pointer_ : r.lba);
		if (r.op == Op::flush)
			flash = cache_;
		return {&done_, 1};
	}

	std::map<uint64_t, wl::Stamp> flash; // by LBA

private:
	// A sequential zone is written in order, so preceding data go to flash too.
	void write(const wl::Request &r, uint64_t lba)
	{
		for (uint32_t i = 0; i < r.sectors; i++)
			cache_[lba + i] = r.stamps[i];
		pointer_ += r.op == Op::append ? r.sectors : 0;
		const uint64_t zone = lba < kept_conventional ? lba : lba / kept_zone * kept_zone;
		for (uint64_t at = zone; r.fua && honours_fua_ && at < lba + r.sectors; at++)
			if (cache_.count(at))
				flash[at] = cache_[at];
	}

	bool honours_fua_;
	unsigned next_ = 0;
	uint64_t pointer_ = 2 * kept_zone; // of the zone that is appended to
	std::map<uint64_t, wl::Stamp> cache_;
	std::vector<std::pair<uint16_t, wl::Request>> submitted_;
	Completion done_{};
};

ZoneView view_of_zones()
{
	NamespaceInfo device{};
	device.zoned = true;
	device.size_sectors = kept_sectors;
	device.zone_size_sectors = kept_zone;
	device.zones = kept_sectors / kept_zone;
	device.conventional_zones = kept_conventional / kept_zone;
	std::vector<nvme_zone_descriptor> zones(device.zones);
	for (size_t z = 0; z < zones.size(); z++) {
		zones[z].type = z * kept_zone < kept_conventional ? NVME_ZT_CONVENTIONAL : 2;
		zones[z].state = NVME_ZS_EMPTY << 4;
	}
	return {device, zones};
}

TEST(ZoneView, AreasOfEarlierRunsAreNotThisRuns)
{
	NamespaceInfo device{};
	device.zoned = true;
	device.zone_size_sectors = kept_zone;
	device.zones = 4;
	device.zrwa_zones = 3;
	std::vector<nvme_zone_descriptor> zones(device.zones);
	for (nvme_zone_descriptor &zone : zones)
		zone.state = NVME_ZS_EMPTY << 4;
	EXPECT_EQ(ZoneView(device, zones).seen(device, "").zrwa_zones, 3u);
	for (unsigned written = 0; written < 2; written++)
		zones[written].state = NVME_ZS_CLOSED << 4;
	zones[0].attributes = NVME_ZA_ZRWA_VALID;
	EXPECT_EQ(ZoneView(device, zones).seen(device, "").zrwa_zones, 2u);
	device.zrwa_zones = 0; // another device file
	EXPECT_EQ(ZoneView(device, zones).seen(device, "").zrwa_zones, 0u);
}

class Kept : public testing::TestWithParam<bool> {
protected:
	Kept() : folder_(testing::TempDir() + "/kept-" + std::to_string(getpid())), device_(GetParam())
	{
		std::filesystem::create_directories(folder_);
		record_ = std::make_unique<AckRecord>(folder_ / "acked", kept_sectors);
		port_ = std::make_unique<KeptPort>(device_, view_, record_.get(), 7, true);
	}
	~Kept() override { std::filesystem::remove_all(folder_); }

	void submit(Op op, uint64_t lba, uint32_t count, bool fua, bool again = false)
	{
		wl::Request r;
		r.op = op;
		r.lba = lba;
		r.sectors = count;
		r.fua = fua;
		r.again = again;
		for (uint32_t i = 0; i < count; i++)
			r.stamps.push_back({lba + i, ++version_});
		port_->submit(*port_->acquire(), r, 0);
	}
	void run(Op op, uint64_t lba, uint32_t count, bool fua)
	{
		submit(op, lba, count, fua);
		port_->wait(1);
	}
	// Sectors that are promised, and those of them that the flash does not hold.
	std::pair<uint64_t, uint64_t> promised_and_broken() const
	{
		std::pair<uint64_t, uint64_t> counts;
		record_->each(0, kept_sectors, [&](uint64_t lba, const Promise &promise) {
			const auto found = device_.flash.find(lba);
			counts.first++;
			counts.second += found == device_.flash.end() || found->second.version < promise.stamp.version;
			return true;
		});
		return counts;
	}
	void expect(uint64_t promised, uint64_t broken_without_fua) const
	{
		EXPECT_EQ(promised_and_broken(), std::pair(promised, GetParam() ? uint64_t(0) : broken_without_fua));
	}

	std::filesystem::path folder_;
	ZoneView view_ = view_of_zones();
	Cached device_;
	std::unique_ptr<AckRecord> record_;
	std::unique_ptr<KeptPort> port_;
	uint64_t version_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Fua, Kept, testing::Bool(), [](const auto &honoured) { return honoured.param ? "IsHonoured" : "IsIgnored"; });

TEST_P(Kept, OfZonesFuaPromisesAllUpToItsEnd)
{
	run(Op::write, kept_zone, 4, false);
	expect(0, 0);
	run(Op::write, kept_zone + 4, 2, true);
	expect(6, 6);
	run(Op::append, 2 * kept_zone, 3, true);
	expect(9, 9);
	run(Op::write, kept_zone + 6, 1, false);
	expect(9, 9);
	run(Op::flush, 0, 0, false);
	expect(10, 0);
}

// A power cut leaves such a sector with the one content or the other.
TEST_P(Kept, WhatIsWrittenAgainIsPromisedWhenThatHasEnded)
{
	run(Op::write, kept_zone, 2, true);
	expect(2, 2);
	submit(Op::write, kept_zone + 1, 2, true, true);
	expect(1, 1);
	port_->wait(1);
	expect(3, 3);
}

TEST_P(Kept, OfWhatCanBeOverwrittenFuaPromisesItself)
{
	run(Op::write, 0, 4, false);
	run(Op::write, 2, 4, true);
	expect(4, 4);
	submit(Op::flush, 0, 0, false); // before the later commands have completed: it covers the first write, and only its older data
	run(Op::write, 8, 1, true);
	EXPECT_EQ(promised_and_broken().first, 6u);
	port_->wait(1);
	expect(7, 1);
}

TEST_P(Kept, AFlushOfOlderWritesLeavesTheNewerPromise)
{
	run(Op::write, 0, 1, false);
	submit(Op::write, 0, 1, true);
	submit(Op::flush, 0, 0, false); // when the write with FUA has not ended
	port_->wait(1);
	port_->wait(1);
	run(Op::flush, 0, 0, false);
	record_->each(0, 1, [](uint64_t, const Promise &promise) {
		EXPECT_EQ(promise.stamp.version, 2u);
		return true;
	});
}

TEST_P(Kept, AResetTakesPromisesBack)
{
	run(Op::write, kept_zone, 4, true);
	run(Op::write, 3, 1, true);
	run(Op::reset, kept_zone, 0, false);
	expect(1, 1);
}

} // namespace
