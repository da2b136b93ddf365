// Every command on every preset: each has the status that the specification asks for, whatever map, buffers and kinds of zones are behind it;
// the device lives on, and its data are as they should be.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <filesystem>
#include <set>

#include "command_case.hpp"
#include "config/device_yaml.hpp"
#include "session/machine/error.hpp"

namespace conform {
namespace every_device_test {

std::vector<std::string> presets()
{
	std::vector<std::string> names;
	for (const auto &entry : std::filesystem::directory_iterator(HZ_DEVICES))
		names.push_back(entry.path().stem());
	std::sort(names.begin(), names.end());
	return names;
}

nvme_sqe io(uint8_t opcode, uint64_t lba = 0, uint32_t sectors = 1)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.nsid = 1;
	sqe.cdw10 = static_cast<uint32_t>(lba);
	sqe.cdw11 = static_cast<uint32_t>(lba >> 32);
	sqe.cdw12 = sectors - 1;
	return sqe;
}

Bytes ranges_of(const std::vector<nvme_dsm_range> &ranges)
{
	Bytes bytes(ranges.size() * sizeof(ranges[0]));
	std::memcpy(bytes.data(), ranges.data(), bytes.size());
	return bytes;
}

class EveryDevice : public ::testing::TestWithParam<std::string> {
protected:
	void SetUp() override
	{
		config_ = hz::conf::load_device(std::string(HZ_DEVICES) + "/" + GetParam() + ".yaml");
		bench_ = std::make_unique<Bench>(config_);
		lba_ = first_sequential() * bench_->zone_size();
	}
	Bench &bench() { return *bench_; }
	const hz::NamespaceInfo &info() { return bench_->info(); }
	bool zoned() { return info().zoned; }
	uint64_t first_sequential() { return zoned() ? info().conventional_zones : 0; }
	bool sequential() { return zoned() && info().zones > info().conventional_zones; }
	bool offers_copy() const { return config_.copies; }
	bool keeps_data() const { return config_.media_mode == HZ_MEDIA_STORE; }
	static uint16_t zones_only(bool zoned, uint16_t status) { return zoned ? status : NVME_INVALID_OPCODE; }

	void expect(uint16_t status, const nvme_sqe &sqe, const std::string &what, const Bytes &out = {}, Bytes *in = nullptr)
	{
		hz::Completion result{};
		ASSERT_NO_THROW(result = bench().run(sqe, out, in)) << what;
		EXPECT_EQ(result.status, status) << what << ": " << hz::status_text(result.status);
		sent_.insert(sqe.opcode);
	}
	void write(uint64_t lba, uint32_t sectors, uint16_t status = 0, bool fua = false)
	{
		expect(status, hz::QueuePair::write(lba, sectors, fua), "write at " + std::to_string(lba), placed_pattern(lba, sectors, 0));
	}
	// Read, Verify and Compare say so.
	void holds(uint64_t lba, const Bytes &data, const std::string &what)
	{
		const auto sectors = static_cast<uint32_t>(data.size() / 4096);
		Bytes in(data.size(), std::byte(0xee));
		expect(0, hz::QueuePair::read(lba, sectors), "read " + what, {}, &in);
		expect(0, hz::QueuePair::verify(lba, sectors), "verify " + what);
		if (!keeps_data())
			return;
		EXPECT_EQ(in, data) << what;
		expect(0, hz::QueuePair::compare(lba, sectors), "compare " + what, data);
		in[0] ^= std::byte(1);
		expect(NVME_COMPARE_FAILURE, hz::QueuePair::compare(lba, sectors), "compare with other data " + what, in);
	}
	// They do, for a read, and not for one beside it; whatever the device keeps.
	void marked(uint64_t lba, uint32_t sectors, const std::string &what)
	{
		Bytes in(sectors * 4096);
		expect(NVME_UNRECOVERED_READ, hz::QueuePair::read(lba, sectors), "read " + what, {}, &in);
		expect(NVME_UNRECOVERED_READ, hz::QueuePair::verify(lba + sectors - 1, 1), "verify " + what);
	}
	void deallocate(uint16_t status, const std::vector<nvme_dsm_range> &ranges, const std::string &what)
	{
		expect(status, hz::QueuePair::deallocate(static_cast<uint32_t>(ranges.size())), "deallocate " + what, ranges_of(ranges));
	}
	void copy(uint16_t status, uint64_t to, uint64_t from, uint32_t sectors, bool append = false)
	{
		nvme_copy_range range{};
		range.slba = from;
		range.nlb = static_cast<uint16_t>(sectors - 1);
		Bytes list(sizeof(range));
		std::memcpy(list.data(), &range, sizeof(range));
		expect(offers_copy() ? status : NVME_INVALID_OPCODE, hz::QueuePair::copy(to, 1, append), append ? "copy by append" : "copy",
		       list);
	}
	void send(uint16_t status, uint64_t lba, uint32_t action, bool all = false)
	{
		expect(zones_only(zoned(), status), hz::QueuePair::zone_send(lba, static_cast<nvme_zone_send_action>(action), all),
		       "zone action " + std::to_string(action) + (all ? " of all at " : " at ") + std::to_string(lba));
	}

	void sectors_anywhere(uint64_t lba);
	void zone_in_order(uint64_t lba);
	void ranges_of_every_kind();
	void zone_actions();
	void reports();
	void other_opcodes();
	void admin();

	hz_device_config config_{};
	std::unique_ptr<Bench> bench_;
	uint64_t lba_ = 0; // of the first sequential zone
	std::set<unsigned> sent_;
};

// A block namespace or a conventional zone.
void EveryDevice::sectors_anywhere(uint64_t lba)
{
	Bytes data = placed_pattern(lba + 8, 8, 0), zeros(4 * 4096);
	write(lba + 8, 8);
	write(lba + 8, 8);
	write(lba + 20, 4, 0, true);
	expect(0, hz::QueuePair::write_zeroes(lba + 8, 4), "write zeroes");
	std::memset(data.data(), 0, 4 * 4096);
	holds(lba + 8, data, "after write zeroes");
	nvme_sqe free = hz::QueuePair::write_zeroes(lba + 12, 4);
	free.cdw12 |= NVME_RW_DEAC;
	expect(0, free, "write zeroes that deallocates");
	holds(lba + 12, zeros, "after it");
	write(lba + 28, 6);
	expect(0, hz::QueuePair::write_uncorrectable(lba + 28, 4), "write uncorrectable");
	marked(lba + 28, 4, "what is marked");
	holds(lba + 32, placed_pattern(lba + 32, 2, 0), "behind the mark");
	expect(0, hz::QueuePair::flush(), "flush of a mark");
	marked(lba + 28, 4, "what is marked on flash");
	write(lba + 28, 1);
	deallocate(0, {{0, 3, lba + 29}}, "what is marked");
	holds(lba + 28, placed_pattern(lba + 28, 1, 0), "a mark that was overwritten");
	holds(lba + 29, Bytes(3 * 4096), "a mark that was deallocated");
	copy(0, lba + 8, lba + 20, 4);
	holds(lba + 8, offers_copy() ? placed_pattern(lba + 20, 4, 0) : zeros, "copied");
	deallocate(0, {{0, 4, lba + 8}, {0, 0, lba}, {0, 2, lba + 9}}, "sectors that can be");
	holds(lba + 8, zeros, "deallocated");
	holds(lba + 20, placed_pattern(lba + 20, 4, 0), "beside it");
	expect(0, hz::QueuePair::flush(), "flush");
	expect(zones_only(zoned(), NVME_INVALID_FIELD), hz::QueuePair::append(lba, 1), "append", placed_pattern(lba, 1, 0));
	if (!zoned())
		return;
	for (uint32_t action : {NVME_ZSA_CLOSE, NVME_ZSA_FINISH, NVME_ZSA_OPEN, NVME_ZSA_RESET, NVME_ZSA_OFFLINE})
		send(NVME_INVALID_FIELD, lba, action);
}

// Everything that may lie in a sequential zone, at its write pointer; and that it does not change by Deallocate.
void EveryDevice::zone_in_order(uint64_t lba)
{
	Bytes data = placed_pattern(lba, 5, 0), tail = placed_pattern(lba + 8, 4, 0), copied = placed_pattern(lba, 4, 0);
	write(lba, 5);
	nvme_sqe zeroes = hz::QueuePair::write_zeroes(lba + 5, 3);
	zeroes.cdw12 |= NVME_RW_DEAC;
	expect(0, zeroes, "write zeroes that deallocates, if that can be done");
	expect(0, hz::QueuePair::append(lba, 4), "append", tail);
	copy(0, lba + 12, lba, 4);
	copy(0, lba, lba + 8, 4, true);
	copied.insert(copied.end(), tail.begin(), tail.end());
	if (!offers_copy())
		expect(0, hz::QueuePair::append(lba, 8), "append of what a copy would have brought", copied);
	data.resize(8 * 4096);
	data.insert(data.end(), tail.begin(), tail.end());
	data.insert(data.end(), copied.begin(), copied.end());
	for (bool flushed : {false, true}) {
		holds(lba, data, flushed ? "flushed" : "written");
		deallocate(0, {{0, 8, lba}, {0, 0, lba + 3}, {0, 30, lba + 10}}, "of a sequential zone");
		expect(0, hz::QueuePair::flush(), "flush");
	}
	write(lba + 19, 1, NVME_ZONE_INVALID_WRITE);
	expect(NVME_ZONE_INVALID_WRITE, hz::QueuePair::write_uncorrectable(lba + 19, 1), "write uncorrectable before the write pointer");
	copy(NVME_ZONE_INVALID_WRITE, lba + 25, lba, 4);
	nvme_sqe update = hz::QueuePair::write(lba + 1, 1);
	update.cdw3 |= NVME_RW_IN_PLACE;
	expect(info().in_place_writes ? NVME_SUCCESS : NVME_INVALID_FIELD, update, "write in place", placed_pattern(lba + 1, 1, 0));
	write(lba + 20, 3, 0, true);
	nvme_sqe durable = hz::QueuePair::write(lba + 23, 1);
	durable.cdw3 |= NVME_RW_DURABLE;
	expect(info().durable_writes ? NVME_SUCCESS : NVME_INVALID_FIELD, durable, "durable write", placed_pattern(lba + 23, 1, 0));
	holds(lba, data, "in the end");
	EXPECT_EQ(bench().zone(static_cast<uint32_t>(lba / bench().zone_size())).write_pointer, lba + 23 + info().durable_writes);
}

// Dataset Management wherever there are LBAs, and where there are none.
void EveryDevice::ranges_of_every_kind()
{
	const uint64_t end = info().size_sectors;
	nvme_sqe hints = hz::QueuePair::deallocate(1);
	hints.cdw11 = 3;
	expect(0, hints, "hints", ranges_of({{0, 1, end - 1}}));
	deallocate(NVME_LBA_OUT_OF_RANGE, {{0, 1, lba_}, {0, 2, end - 1}}, "over the end");
	deallocate(NVME_LBA_OUT_OF_RANGE, {{0, 1, UINT64_MAX}}, "at the last LBA of 64 bits");
	deallocate(0, {{0, 0, end}, {0, 1, end - 1}}, "the last LBA, and none at the end");
	expect(0, hz::QueuePair::compare(end - 1, 1), "compare what was never written with zeros", Bytes(4096));
	if (sequential())
		deallocate(0, std::vector<nvme_dsm_range>(NVME_DSM_RANGES, nvme_dsm_range{0, 8, lba_}), "many times");
	if (sequential() && first_sequential())
		deallocate(0, {{0, 16, lba_ - 8}}, "from conventional zones into sequential ones");
}

void EveryDevice::zone_actions()
{
	const uint64_t next = lba_ + bench().zone_size();
	send(NVME_SUCCESS, next, NVME_ZSA_OPEN);
	send(NVME_SUCCESS, next, NVME_ZSA_OPEN);
	send(NVME_SUCCESS, next, NVME_ZSA_CLOSE);
	send(NVME_SUCCESS, next, NVME_ZSA_CLOSE);
	send(NVME_SUCCESS, next, NVME_ZSA_FINISH);
	send(NVME_SUCCESS, next, NVME_ZSA_FINISH);
	send(zoned() ? NVME_ZONE_INVALID_TRANSITION : 0, next, NVME_ZSA_OPEN);
	send(NVME_ZONE_INVALID_TRANSITION, next, NVME_ZSA_CLOSE);
	send(NVME_ZONE_INVALID_TRANSITION, next, NVME_ZSA_OFFLINE);
	if (zoned())
		write(next, 1, NVME_ZONE_FULL);
	send(NVME_SUCCESS, next, NVME_ZSA_RESET);
	send(NVME_SUCCESS, next, NVME_ZSA_RESET);
	send(NVME_ZONE_INVALID_TRANSITION, next, NVME_ZSA_CLOSE);
	send(NVME_INVALID_FIELD, next + 1, NVME_ZSA_RESET);
	send(NVME_INVALID_FIELD, next, NVME_ZSA_SET_EXTENSION);
	send(NVME_INVALID_FIELD, next, 0);
	send(NVME_LBA_OUT_OF_RANGE, info().size_sectors, NVME_ZSA_RESET);
	for (uint32_t action : {NVME_ZSA_OPEN, NVME_ZSA_CLOSE, NVME_ZSA_FINISH, NVME_ZSA_OFFLINE, NVME_ZSA_RESET})
		send(NVME_SUCCESS, 0, action, true);
}

void EveryDevice::reports()
{
	for (uint32_t action : {0u, 1u, 2u})
		for (uint32_t filter : {0u, 1u, 5u, 7u}) {
			Bytes report(4096);
			nvme_sqe sqe = hz::QueuePair::zone_report(0, 4096);
			sqe.cdw13 = (sqe.cdw13 & ~0xffffu) | action | filter << 8;
			expect(zones_only(zoned(), action ? NVME_INVALID_FIELD : NVME_SUCCESS), sqe,
			       "zone receive, action " + std::to_string(action), {}, &report);
		}
}

// Those that the device does not have.
void EveryDevice::other_opcodes()
{
	static const std::set<unsigned> offered = {NVME_IO_FLUSH,
						   NVME_IO_WRITE,
						   NVME_IO_READ,
						   NVME_IO_COMPARE,
						   NVME_IO_WRITE_UNCORRECTABLE,
						   NVME_IO_WRITE_ZEROES,
						   NVME_IO_VERIFY,
						   NVME_IO_COPY,
						   NVME_IO_DATASET_MANAGEMENT,
						   NVME_IO_ZONE_MGMT_SEND,
						   NVME_IO_ZONE_MGMT_RECV,
						   NVME_IO_ZONE_APPEND};
	for (unsigned opcode : {0x03u, 0x0au, 0x0du, 0x0eu, 0x11u, 0x15u, 0x18u, 0x7eu, 0x7fu, 0x80u, 0xffu})
		expect(NVME_INVALID_OPCODE, io(static_cast<uint8_t>(opcode)), "opcode " + std::to_string(opcode));
	EXPECT_TRUE(std::includes(sent_.begin(), sent_.end(), offered.begin(), offered.end())) << "a command was left out";
}

// Every query of the controller: answered, or refused as unsupported.
void EveryDevice::admin()
{
	auto ask = [&](uint8_t opcode, uint32_t nsid, uint32_t cdw10, const std::set<uint16_t> &statuses) {
		nvme_sqe sqe{};
		sqe.opcode = opcode;
		sqe.nsid = nsid;
		sqe.cdw10 = cdw10;
		Bytes in(4096);
		const uint16_t status = bench().controller().admin(sqe, in).status;
		EXPECT_TRUE(statuses.count(status))
			<< "admin opcode " << unsigned(opcode) << " CDW10 " << cdw10 << ": " << hz::status_text(status);
	};
	for (uint32_t cns = 0; cns < 0x20; cns++)
		ask(NVME_ADMIN_IDENTIFY, 1, cns, {NVME_SUCCESS, NVME_INVALID_FIELD, NVME_INVALID_IOCS, NVME_INVALID_NAMESPACE});
	for (uint32_t log = 0; log < 256; log += log == 0x23 ? 0x9b : 1) // 00h … 23h, and from BEh on those of command sets and vendors
		ask(NVME_ADMIN_GET_LOG_PAGE, NVME_NSID_ALL, log | 255u << 16, {NVME_SUCCESS, NVME_LOG_PAGE_INVALID, NVME_INVALID_FIELD});
	for (uint32_t feature = 0; feature < 0x88; feature += feature == 0x1f ? 0x59 : 1) {
		const uint16_t none = feature == NVME_FEAT_FDP_EVENTS ? NVME_INVALID_NAMESPACE : NVME_SUCCESS; // it is a namespace's
		ask(NVME_ADMIN_GET_FEATURES, 0, feature, {none, NVME_SUCCESS, NVME_INVALID_FIELD});
		ask(NVME_ADMIN_GET_FEATURES, 1, feature, {NVME_SUCCESS, NVME_INVALID_FIELD, NVME_FEATURE_NOT_PER_NAMESPACE});
	}
	ask(NVME_ADMIN_HZ_RESET_STATS, 0, 0, {NVME_SUCCESS});
	ask(NVME_ADMIN_ABORT, 0, 0xffff, {NVME_SUCCESS});
}

TEST_P(EveryDevice, AnswersEveryCommand)
{
	if (!zoned() || info().conventional_zones)
		sectors_anywhere(0);
	if (sequential())
		zone_in_order(lba_);
	ranges_of_every_kind();
	if (sequential() || !zoned())
		zone_actions();
	reports();
	other_opcodes();
	admin();
	if (sequential()) {
		EXPECT_EQ(bench().state(static_cast<uint32_t>(first_sequential())), NVME_ZS_EMPTY) << "all were reset";
		zone_in_order(lba_);
	}
	if (!zoned() || info().conventional_zones)
		holds(20, placed_pattern(20, 4, 0), "what nothing else touched");
	EXPECT_TRUE(bench().machine().alive());
}
INSTANTIATE_TEST_SUITE_P(Presets, EveryDevice, ::testing::ValuesIn(presets()), [](const auto &i) {
	std::string name = i.param;
	for (char &c : name)
		c = std::isalnum(c) ? c : '_';
	return name;
});

} // namespace every_device_test
} // namespace conform
