// Damage to an image, sector by sector. After an orderly shutdown: an unreadable sector is an error of exactly that sector, and no write
// pointer or state changes. After a kill the same holds, or mount reports a loss; a sector torn by a cut is no damage.
// SPDX-License-Identifier: BSD-3-Clause
#include <set>
#include <utility>

#include "l2p_rig.hpp"
#include "conventional_model.hpp"

using namespace ftl_rig;

namespace {

using Places = std::set<std::pair<uint32_t, uint32_t>>; // zone, offset

// Zones in every state that holds data; sector o of zone z has the tag 1000 * z + o + 1.
struct Written {
	explicit Written(const hz_device_config &cfg) : rig(cfg)
	{
		EXPECT_TRUE(rig.boot());
		capacity = static_cast<uint32_t>(rig.shape.zone_capacity_sectors);
		fill(0, capacity); // FULL
		fill(1, 40);       // 36 in their place, 4 staged
		fill(2, 15);       // finished
		fill(3, 3);        // staged only
		fill(4, 24);       // a superpage
		fill(5, capacity - 2);
		Request flush(FTL_FLUSH, 0, 0);
		EXPECT_EQ(rig.run(flush), 0);
		EXPECT_EQ(rig.run_op(FTL_ZONE_FINISH, 2), 0);
		EXPECT_EQ(rig.check(), "");
		wps = write_pointers();
	}
	void fill(uint32_t zone, uint32_t to)
	{
		for (uint32_t at = sectors[zone], n; at < to; at += n) {
			n = std::min(40u, to - at);
			ASSERT_EQ(rig.write(zone, at, n, tag(zone, at)), 0);
		}
		sectors[zone] = to;
	}
	static uint64_t tag(uint32_t zone, uint32_t offset) { return 1000 * zone + offset + 1; }
	std::vector<std::pair<uint8_t, uint64_t>> write_pointers()
	{
		std::vector<std::pair<uint8_t, uint64_t>> all;
		for (const nvme_zone_descriptor &zone : rig.report_zones()) {
			uint8_t state = zone.state >> 4;
			bool open = state == NVME_ZS_IMPLICIT_OPEN || state == NVME_ZS_EXPLICIT_OPEN;
			all.push_back({open ? uint8_t(NVME_ZS_CLOSED) : state, zone.write_pointer}); // as a restart leaves it
		}
		return all;
	}
	// Every sector reads as written, except those in `lost`: they end with an error.
	std::string compare(const Places &lost)
	{
		for (uint32_t zone = 0; zone < rig.shape.zones; zone++)
			for (uint32_t from = 0; from < capacity && !forgotten.count(zone); from += piece) {
				if (piece_reads(zone, from, lost))
					continue;
				for (uint32_t at = from; at < std::min(from + piece, capacity); at++)
					if (std::string wrong = compare_sector(zone, at, lost.count({zone, at})); !wrong.empty())
						return "zone " + std::to_string(zone) + " sector " + std::to_string(at) + " " + wrong;
			}
		return rig.check();
	}
	// No zone of these is looked at from now on.
	void forget(const std::set<uint32_t> &zones) { forgotten = zones; }
	// Write pointers and states are unchanged.
	std::string standing()
	{
		auto now = write_pointers();
		for (uint32_t z = 0; z < now.size(); z++)
			if (now[z] != wps[z] && !forgotten.count(z))
				return "zone " + std::to_string(z) + " has state " + std::to_string(now[z].first) + ", write pointer " +
				       std::to_string(now[z].second - rig.lba_of(z));
		return "";
	}
	void save()
	{
		saved.assign(rig.bytes(), rig.bytes() + rig.image_bytes());
		for (auto [zone, count] : sectors)
			for (uint32_t at = 0; at < count; at++)
				record[{zone, at}] = rig.record_at(zone, at);
	}
	void restore() { std::memcpy(rig.bytes(), saved.data(), saved.size()); }

	Rig rig;
	uint32_t capacity = 0;
	std::map<uint32_t, uint32_t> sectors; // by zone
	std::vector<std::pair<uint8_t, uint64_t>> wps;
	std::vector<uint8_t> saved;
	std::map<std::pair<uint32_t, uint32_t>, uint64_t> record; // of zone and offset, when saved

private:
	static constexpr uint32_t piece = 24;
	std::set<uint32_t> forgotten;

	// Nothing of it is lost, and all is right; else its sectors are to be looked at one by one.
	bool piece_reads(uint32_t zone, uint32_t from, const Places &lost)
	{
		auto first = lost.lower_bound({zone, from});
		Request read(FTL_READ, rig.lba_of(zone, from), std::min(piece, capacity - from));
		if ((first != lost.end() && *first < std::make_pair(zone, from + piece)) || rig.run(read))
			return false;
		for (uint32_t i = 0; i < read.pages.size(); i++)
			if (!sector_is(read.pages[i], from + i < sectors[zone] ? tag(zone, from + i) : 0))
				return false;
		return true;
	}
	std::string compare_sector(uint32_t zone, uint32_t at, bool lost)
	{
		Request read(FTL_READ, rig.lba_of(zone, at), 1);
		uint16_t status = rig.run(read);
		if (lost)
			return status == NVME_UNRECOVERED_READ ? "" : "is lost, but reads with status " + std::to_string(status);
		if (status)
			return "reads with status " + std::to_string(status);
		return sector_is(read.pages[0], at < sectors[zone] ? tag(zone, at) : 0) ? "" : "reads wrong";
	}
};

struct Kind {
	const char *name;
	hz_device_config (*config)();
};
const Kind kinds[] = {
	{"Plain", [] { return ftl_config(); }},
	{"TwoPlanesSlcPages",
	 [] {
		 hz_device_config cfg = ftl_config();
		 cfg.flush_unit_planes = cfg.slc_program_sectors = 2;
		 cfg.slc_blocks_per_plane++;
		 cfg.blocks_per_plane++;
		 return cfg;
	 }},
	{"Patched", patched_config},
	{"MapInFlash", [] { return map_config(); }},
	{"OnePlane",
	 [] {
		 hz_device_config cfg = ftl_config();
		 use_planes(cfg, 1);
		 return cfg;
	 }},
};

class Damage : public testing::TestWithParam<int> {
protected:
	hz_device_config kind_config() const { return kinds[GetParam()].config(); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, Damage, testing::Range(0, int(std::size(kinds))), [](const auto &i) { return kinds[i.param].name; });

} // namespace

// The data, or the whole record, of any one sector of a device after a shutdown.
TEST_P(Damage, AtRestOneLostSectorIsAnErrorOfThatSector)
{
	Written w(kind_config());
	ASSERT_EQ(w.rig.shut_down_cleanly(), 0);
	ASSERT_TRUE(w.rig.is_clean());
	w.save();
	for (auto [place, number] : w.record)
		for (bool record : {false, true}) {
			auto [zone, at] = place;
			SCOPED_TRACE(testing::Message() << "zone " << zone << " sector " << at << (record ? " record" : " data"));
			record ? rig::lose_record(w.rig.media, number) : rig::flip_data(w.rig.media, number);
			ASSERT_TRUE(w.rig.boot()) << w.rig.error;
			bool nowhere = w.rig.record_at(zone, at) ==
				       UINT64_MAX; // a staged sector with nothing known: no sector can follow it
			EXPECT_EQ(nowhere, record && w.rig.zone_state(zone) == NVME_ZS_READ_ONLY);
			EXPECT_EQ(w.rig.found_damage().lost_sectors, nowhere);
			EXPECT_EQ(w.rig.found_damage().read_only_zones, nowhere);
			EXPECT_EQ(w.rig.changed_zones().size(), nowhere);
			EXPECT_EQ(w.standing().empty(), !nowhere) << w.standing();
			EXPECT_EQ(w.rig.found_damage().first_lba, nowhere ? w.rig.lba_of(zone, at) : 0);
			EXPECT_EQ(w.compare({{zone, at}}), "");
			ASSERT_FALSE(HasFailure());
			w.restore();
		}
}

// Everything of a zone at once; and the device goes on with the others, also after it was shut down again.
TEST_P(Damage, AtRestAWholeLostZoneIsErrorsFromEndToEnd)
{
	Written w(kind_config());
	ASSERT_EQ(w.rig.shut_down_cleanly(), 0);
	w.save();
	for (auto [zone, count] : std::map<uint32_t, uint32_t>(w.sectors)) {
		SCOPED_TRACE(testing::Message() << "zone " << zone);
		Places lost;
		for (uint32_t at = 0; at < count; at++) {
			rig::lose_record(w.rig.media, w.record.at({zone, at}));
			lost.insert({zone, at});
		}
		for (int start = 0; start < 3; start++) {
			ASSERT_TRUE(w.rig.boot()) << w.rig.error;
			ASSERT_EQ(w.compare(lost), "") << "start " << start;
			uint8_t state = w.rig.zone_state(zone);
			EXPECT_TRUE(state == w.wps[zone].first || state == NVME_ZS_READ_ONLY) << int(state);
			ASSERT_EQ(w.rig.write(7, static_cast<uint32_t>(start), 1, Written::tag(7, static_cast<uint32_t>(start)), FTL_FUA),
				  0);
			w.sectors[7] = static_cast<uint32_t>(start) + 1;
			ASSERT_EQ(start < 2 ? w.rig.shut_down_cleanly() : 0, 0);
		}
		ASSERT_TRUE(w.rig.boot()) << "after a cut: " << w.rig.error;
		ASSERT_EQ(w.compare(lost), "");
		w.restore();
		w.sectors.erase(7);
	}
}

// After a kill, without torn programs. The data of any one sector: an error of that sector, since its record is known. Its record: the
// same, or mount reports an unknown loss.
TEST_P(Damage, AfterAKillNothingVanishesInSilence)
{
	Written w(kind_config());
	w.save();
	uint32_t vanished = 0, kept = 0;
	for (auto [place, number] : w.record)
		for (bool record : {false, true}) {
			auto [zone, at] = place;
			SCOPED_TRACE(testing::Message() << "zone " << zone << " sector " << at << (record ? " record" : " data"));
			record ? rig::lose_record(w.rig.media, number) : rig::flip_data(w.rig.media, number);
			ASSERT_TRUE(w.rig.boot()) << w.rig.error;
			const uint64_t wp = w.write_pointers()[zone].second - w.rig.lba_of(zone);
			const uint8_t state = w.write_pointers()[zone].first;
			const bool empty = state == NVME_ZS_EMPTY;
			if (empty || (state == NVME_ZS_CLOSED && wp < w.sectors[zone])) {
				vanished++;
				EXPECT_TRUE(record);
				EXPECT_GT(w.rig.found_damage().unknown_sectors, 0u) << "nothing reports it";
				EXPECT_EQ(empty ? 0 : wp, at) << "only the end of what is staged cannot be known";
				EXPECT_EQ(at + 1, w.sectors[zone]);
				const uint32_t before = std::exchange(w.sectors[zone], at);
				EXPECT_EQ(w.compare({}), "");
				w.sectors[zone] = before;
			} else {
				kept++;
				EXPECT_TRUE(w.standing().empty() || (state == NVME_ZS_READ_ONLY && w.rig.found_damage().lost_sectors == 1))
					<< w.standing();
				EXPECT_EQ(w.compare({{zone, at}}), "");
			}
			ASSERT_FALSE(HasFailure());
			w.restore();
		}
	EXPECT_LT(vanished, 5u);
	EXPECT_GT(kept, 400u);
}

// Sectors recorded at a shutdown do not become tearable by later programs elsewhere.
TEST_P(Damage, WhatWasRecordedDoesNotVanishAfterALaterCut)
{
	Written w(kind_config());
	ASSERT_EQ(w.rig.shut_down_cleanly(), 0);
	ASSERT_TRUE(w.rig.boot());
	ASSERT_EQ(w.rig.write(7, 0, 30, Written::tag(7, 0), FTL_FUA), 0);
	EXPECT_FALSE(w.rig.is_clean());
	w.sectors[7] = 30;
	w.save();
	for (auto [zone, count] : std::map<uint32_t, uint32_t>(w.sectors)) {
		if (zone == 7)
			continue;
		SCOPED_TRACE(testing::Message() << "zone " << zone);
		rig::lose_record(w.rig.media, w.record.at({zone, count - 1}));
		ASSERT_TRUE(w.rig.boot()) << w.rig.error;
		EXPECT_EQ(w.compare({{zone, count - 1}}), "");
		w.restore();
	}
}

// Either copy of any record of the image, flipped: only the counter of repairs shows it.
TEST_P(Damage, OneCopyOfAllRecordsIsEnough)
{
	for (bool clean : {true, false})
		for (bool second : {false, true}) {
			Written w(kind_config());
			ASSERT_EQ(clean ? w.rig.shut_down_cleanly() : 0, 0);
			for (uint64_t i = 0; i < rig::count_records(w.rig.media); i++)
				(second ? w.rig.media.oob_copy : w.rig.media.oob)[i].lpa ^= 1u << i % 32;
			ASSERT_TRUE(w.rig.boot()) << w.rig.error;
			EXPECT_EQ(w.standing(), "");
			EXPECT_EQ(w.compare({}), "");
			EXPECT_EQ(lt_load(&w.rig.media.repaired) > 0, !second);
		}
}

// --- the zone table ---

namespace {

std::vector<uint64_t> table_copies(const Rig &device) { return rig::zone_table_copies(device.media); }

} // namespace

TEST(DamagedTable, OneCopyIsEnoughAndIsWrittenTwiceAgain)
{
	for (bool clean : {true, false})
		for (bool record : {false, true})
			for (size_t copy : {0u, 1u}) {
				Written w(ftl_config());
				ASSERT_EQ(clean ? w.rig.shut_down_cleanly() : 0, 0);
				auto copies = table_copies(w.rig);
				ASSERT_EQ(copies.size(), 2u);
				record ? rig::lose_record(w.rig.media, copies[copy]) : rig::flip_data(w.rig.media, copies[copy]);
				ASSERT_TRUE(w.rig.boot()) << w.rig.error;
				EXPECT_EQ(w.standing(), "");
				auto mended = table_copies(w.rig);
				ASSERT_EQ(mended.size(), 2u);
				for (uint64_t old : copies)
					EXPECT_NE(std::make_pair(mended[0], mended[1]), std::make_pair(old, old));
				EXPECT_GT(w.rig.media.oob[mended[0]].sequence, w.rig.media.oob_copy[copies[1 - copy]].sequence);
				rig::flip_data(w.rig.media, mended[1]);
				ASSERT_TRUE(w.rig.boot()) << w.rig.error;
				EXPECT_EQ(w.standing(), "");
				EXPECT_EQ(w.compare({}), "");
			}
}

// The page before is still there, and must not be taken for the newest: zones would come back from before their reset.
TEST(DamagedTable, BothCopiesLostAreReportedInASentence)
{
	for (bool clean : {true, false})
		for (bool record : {false, true}) {
			Written w(ftl_config());
			ASSERT_EQ(w.rig.run_op(FTL_ZONE_RESET, 5), 0);
			ASSERT_EQ(clean ? w.rig.shut_down_cleanly() : 0, 0);
			for (uint64_t copy : table_copies(w.rig))
				record ? rig::lose_record(w.rig.media, copy) : rig::flip_data(w.rig.media, copy);
			if (!clean && record) { // no trace of a newer one is left
				ASSERT_TRUE(w.rig.boot()) << w.rig.error;
				EXPECT_EQ(w.rig.found_damage().unknown_sectors, 2u);
				continue;
			}
			ASSERT_FALSE(w.rig.boot());
			std::string said = w.rig.error;
			EXPECT_NE(said.find("The NAND image is damaged: zone table, page 0: "), std::string::npos) << said;
			EXPECT_NE(said.find(clean && record ? "cannot be found" : "neither of its two copies"), std::string::npos) << said;
		}
}

// Once all zones were recorded there is a table, after any later cut.
TEST(DamagedTable, AllTablePagesGoneIsNoNewDevice)
{
	Written w(ftl_config());
	ASSERT_EQ(w.rig.shut_down_cleanly(), 0);
	ASSERT_TRUE(w.rig.boot());
	ASSERT_EQ(w.rig.write(7, 0, 1, 1, FTL_FUA), 0);
	for (uint64_t i = 0; i < rig::count_records(w.rig.media); i++)
		if (w.rig.media.oob[i].kind == HZ_OOB_ZONE_TABLE)
			rig::lose_record(w.rig.media, i);
	ASSERT_FALSE(w.rig.boot());
	EXPECT_NE(std::string(w.rig.error).find("it cannot be found"), std::string::npos) << w.rig.error;
}

// --- one impossible record of it ---

namespace {

using rig::ZoneRecord;

constexpr uint64_t too_late = 1ull << 62;

struct Forgery {
	const char *name;
	bool placed_wrong; // it contradicts the block table or another record: true only with a clean mark
	void (*change)(ZoneRecord &, const ZoneRecord &other);
};
const Forgery forgeries[] = {
	{"NoState", false, [](ZoneRecord &r, const ZoneRecord &) { r.state = 4; }},
	{"MorePlacedThanWritten", false, [](ZoneRecord &r, const ZoneRecord &) { r.placed = r.written + 1; }},
	{"BeyondTheCapacity", false, [](ZoneRecord &r, const ZoneRecord &) { r.written = 100000; }},
	{"FinishedBeyondTheCapacity", false, [](ZoneRecord &r, const ZoneRecord &) { r.finish = 100000; }},
	{"FencedTooLate", false, [](ZoneRecord &r, const ZoneRecord &) { r.fence_sequence = too_late; }},
	{"ResetTooLate", false, [](ZoneRecord &r, const ZoneRecord &) { r.reset_sequence = too_late; }},
	{"FoldedTooLate", false, [](ZoneRecord &r, const ZoneRecord &) { r.folded = too_late; }},
	{"AllOnes", false, [](ZoneRecord &r, const ZoneRecord &) { std::memset(&r, 0xff, sizeof(r)); }},
	{"InsideAUnit", true, [](ZoneRecord &r, const ZoneRecord &) { r.placed--; }},
	{"NoSuperblock", true, [](ZoneRecord &r, const ZoneRecord &) { r.superblock = UINT32_MAX - 1; }},
	{"SuperblockOfTheSlcLog", true, [](ZoneRecord &r, const ZoneRecord &) { r.superblock = 0; }},
	{"SuperblockOfAnother", true, [](ZoneRecord &r, const ZoneRecord &other) { r.superblock = other.superblock; }},
	{"MoreThanIsProgrammed", true, [](ZoneRecord &r, const ZoneRecord &) { r.placed = r.written = 96; }},
};

class DamagedRecord : public testing::TestWithParam<std::tuple<int, int>> {
protected:
	Forgery forgery() const { return forgeries[std::get<1>(GetParam())]; }
	hz_device_config kind_config() const { return kinds[std::get<0>(GetParam())].config(); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, DamagedRecord,
			 testing::Combine(testing::Range(0, int(std::size(kinds))), testing::Range(0, int(std::size(forgeries)))),
			 [](const auto &i) {
				 return std::string(kinds[std::get<0>(i.param)].name) + "_" + forgeries[std::get<1>(i.param)].name;
			 });

// Of the map: in RAM, in flash.
class DamagedBackingRecord : public DamagedRecord {};
INSTANTIATE_TEST_SUITE_P(Maps, DamagedBackingRecord, testing::Combine(testing::Range(0, 2), testing::Range(0, int(std::size(forgeries)))),
			 [](const auto &i) {
				 return std::string(std::get<0>(i.param) ? "Mapped_" : "Flat_") + forgeries[std::get<1>(i.param)].name;
			 });

} // namespace

// It costs its zone, never the device: OFFLINE if no part of the record can be trusted; READ ONLY if only its places are wrong; sectors
// found without it can then be read. All other zones are unchanged, now, after a shutdown and after a power cut.
TEST_P(DamagedRecord, CostsItsZone)
{
	constexpr uint32_t hit = 1, other = 4;
	Written w(kind_config());
	const bool shared = std::string(forgery().name) == "SuperblockOfAnother";
	ASSERT_EQ(w.rig.shut_down_cleanly(), 0);
	rig::forge_zone_record(w.rig.media, hit, [&](ZoneRecord &r) {
		forgery().change(r, *rig::zone_record_in(w.rig.media, table_copies(w.rig)[0], other));
	});
	Places lost;
	for (uint32_t at = w.sectors[hit]; at < 96 && std::string(forgery().name) == "MoreThanIsProgrammed"; at++)
		lost.insert({hit, at});
	w.wps[hit] = {forgery().placed_wrong ? NVME_ZS_READ_ONLY : NVME_ZS_OFFLINE, UINT64_MAX};
	if (shared)
		w.wps[other] = {NVME_ZS_READ_ONLY, UINT64_MAX};
	if (!forgery().placed_wrong)
		w.forget({hit});
	for (uint32_t start = 0; start < 4; start++) {
		SCOPED_TRACE(testing::Message() << "start " << start);
		ASSERT_TRUE(w.rig.boot()) << w.rig.error;
		if (start == 0) {
			EXPECT_EQ(w.rig.found_damage().records, shared ? 2u : 1u);
			EXPECT_EQ(w.rig.found_damage().first_lba, w.rig.lba_of(hit));
			EXPECT_EQ(w.rig.found_damage().lost_sectors, lost.size());
			EXPECT_EQ(w.rig.changed_zones().size(), shared ? 2u : 1u);
		}
		EXPECT_EQ(w.rig.zone_state(hit), w.wps[hit].first);
		Request read(FTL_READ, w.rig.lba_of(hit), 1);
		EXPECT_EQ(w.rig.run(read), forgery().placed_wrong ? 0 : NVME_ZONE_OFFLINE);
		EXPECT_EQ(w.standing(), "");
		ASSERT_EQ(w.compare(lost), "");
		ASSERT_EQ(w.rig.write(7, start, 1, Written::tag(7, start), FTL_FUA), 0);
		w.sectors[7] = start + 1;
		w.wps[7] = {NVME_ZS_CLOSED, w.rig.lba_of(7, start + 1)};
		ASSERT_EQ(start < 2 ? w.rig.shut_down_cleanly() : 0, 0);
	}
}

// The device has no time to write a record of its own before power goes.
TEST_P(DamagedRecord, CostsNoMoreAfterAPowerCut)
{
	Written w(kind_config());
	ASSERT_EQ(w.rig.shut_down_cleanly(), 0);
	rig::forge_zone_record(w.rig.media, 1,
			       [&](ZoneRecord &r) { forgery().change(r, *rig::zone_record_in(w.rig.media, table_copies(w.rig)[0], 4)); });
	w.forget({1});
	if (std::string(forgery().name) == "SuperblockOfAnother")
		w.wps[4] = {NVME_ZS_READ_ONLY, UINT64_MAX};
	for (uint32_t start = 0; start < 3; start++) {
		ASSERT_TRUE(w.rig.boot()) << w.rig.error;
		if (start == 0)
			w.forget(w.rig.zone_state(4) == NVME_ZS_READ_ONLY ? std::set<uint32_t>{1, 4} : std::set<uint32_t>{1});
		EXPECT_EQ(w.standing(), "");
		ASSERT_EQ(w.compare({}), "");
		ASSERT_EQ(w.rig.write(7, start, 1, Written::tag(7, start), FTL_FUA), 0);
		w.sectors[7] = start + 1;
		w.wps[7] = {NVME_ZS_CLOSED, w.rig.lba_of(7, start + 1)};
		uint8_t state = w.rig.zone_state(1);
		EXPECT_EQ(state == NVME_ZS_OFFLINE, !forgery().placed_wrong) << int(state);
	}
}

// Conventional sectors find their places without the records of backing zones.
TEST_P(DamagedBackingRecord, CostsNoSector)
{
	for (uint32_t number : {0u, 1u, 2u}) {
		SCOPED_TRACE(testing::Message() << "backing zone " << number);
		Rig device(std::get<0>(GetParam()) ? mapped_conventional_config(true) : conventional_config(true));
		ASSERT_TRUE(device.boot()) << device.error;
		ConventionalDriver driver(device, 1);
		driver.fill(30);
		ASSERT_TRUE(driver.run_batch({{FTL_WRITE, 3, 50}, {FTL_DEALLOCATE, 100, 20}}));
		ASSERT_EQ(device.shut_down_cleanly(), 0);
		driver.all_durable();
		const uint32_t hit = device.shape.zones + number;
		const ZoneRecord other = *rig::zone_record_in(device.media, table_copies(device)[0], device.shape.zones + 3);
		bool changed = false;
		rig::forge_zone_record(device.media, hit, [&](ZoneRecord &r) {
			const ZoneRecord before = r;
			forgery().change(r, other);
			changed = std::memcmp(&before, &r, sizeof(r)) != 0;
		});
		if (!changed)
			continue; // it is full: more cannot be programmed
		for (int start = 0; start < 3; start++) {
			SCOPED_TRACE(testing::Message() << "start " << start);
			ASSERT_TRUE(device.boot()) << device.error;
			if (start == 0) {
				EXPECT_GE(device.found_damage().records, 1u);
			}
			driver.check_recovered();
			ASSERT_FALSE(HasFailure());
			ASSERT_TRUE(driver.run_batch({{FTL_WRITE, 40, 9}}));
			ASSERT_EQ(start < 1 ? device.shut_down_cleanly() : 0, 0);
			if (start < 1)
				driver.all_durable();
		}
	}
}

// --- clean marks ---

// The power is cut at each operation of a shutdown: nothing acknowledged is lost, and either it was complete or it is not believed to be.
TEST(Rest, ACutInTheShutdownLosesNothing)
{
	for (uint32_t before = 0; before < 2; before++)
		for (uint64_t cut = 1, alive = 0; !alive; cut++) {
			SCOPED_TRACE(testing::Message() << "cut " << cut << (before ? " before" : " inside"));
			Written w(map_config());
			w.rig.media.policy.power_cut_op = nand_media_operations(&w.rig.media) + cut;
			w.rig.media.policy.cut_before = before;
			Request shutdown(FTL_FLUSH, 0, 0, FTL_CLEAN);
			w.rig.submit(shutdown);
			lt_host_run_until_idle();
			alive = shutdown.done;
			EXPECT_EQ(w.rig.is_clean(), shutdown.done);
			ASSERT_TRUE(w.rig.boot()) << w.rig.error;
			EXPECT_EQ(w.rig.found_damage().lost_sectors + w.rig.found_damage().unknown_sectors, 0u)
				<< "what is torn is no damage";
			EXPECT_EQ(w.standing(), "");
			EXPECT_EQ(w.compare({}), "");
			ASSERT_FALSE(HasFailure());
			EXPECT_LT(cut, 40u);
		}
}

// Nothing is programmed for a shutdown without a change before or after it.
TEST(Rest, AnIdleDeviceIsNotWrittenTo)
{
	Written w(map_config());
	ASSERT_EQ(w.rig.shut_down_cleanly(), 0);
	for (int start = 0; start < 3; start++) {
		ASSERT_TRUE(w.rig.boot());
		EXPECT_EQ(w.compare({}), "");
		ASSERT_EQ(w.rig.shut_down_cleanly(), 0);
		EXPECT_EQ(nand_media_operations(&w.rig.media), 0u);
		EXPECT_TRUE(w.rig.is_clean());
	}
}

// It waits for running collectors and erases.
TEST(Rest, WaitsForWhatGoesOnInTheBackground)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		SCOPED_TRACE(testing::Message() << "seed " << seed);
		Rig rig(mapped_conventional_config(true));
		ASSERT_TRUE(rig.boot());
		ConventionalDriver driver(rig, seed);
		driver.fill(48);
		for (int i = 0; i < 20; i++)
			ASSERT_TRUE(driver.run_batch(driver.random_batch()));
		Request write(FTL_WRITE, 0, 90), shutdown(FTL_FLUSH, 0, 0, FTL_CLEAN);
		rig.submit(write);
		lt_host_run_until_idle();
		ASSERT_EQ(rig.run(shutdown), 0);
		EXPECT_TRUE(rig.is_clean());
		ASSERT_EQ(rig.check(), "");
		uint64_t operations = nand_media_operations(&rig.media);
		lt_host_run_until_idle();
		EXPECT_EQ(nand_media_operations(&rig.media), operations) << "nothing goes on after a shutdown";
	}
}
