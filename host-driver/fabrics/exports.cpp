// Exports: their list, their blocks' places in the device, and Linux's support for them.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/exports.hpp"

#include <algorithm>
#include <bit>

#include "namespaces.h"
#include "results/digest.hpp"

namespace hz::fabrics {

namespace {

uint64_t block_of(const nvme_sqe &sqe) { return sqe.cdw10 | static_cast<uint64_t>(sqe.cdw11) << 32; }

void set_block(nvme_sqe &sqe, uint64_t block)
{
	sqe.cdw10 = static_cast<uint32_t>(block);
	sqe.cdw11 = static_cast<uint32_t>(block >> 32);
}

uint64_t count_of(const nvme_sqe &sqe) { return (sqe.cdw12 & 0xffff) + 1; }

bool is_zone_command(uint8_t opcode)
{
	return opcode == NVME_IO_ZONE_APPEND || opcode == NVME_IO_ZONE_MGMT_SEND || opcode == NVME_IO_ZONE_MGMT_RECV;
}

// Locally administered, and another for each name and namespace.
uint64_t unique_of(std::string_view name, uint32_t nsid)
{
	res::Digest digest;
	digest.bytes(std::as_bytes(std::span(name)));
	digest.u64(nsid);
	return (digest.value() & ~0xffull) | 0x02; // the first byte on the wire
}

// The export's blocks in runs that are contiguous on the device; the callback gets the device's
// block.
template <class Each> void each_run(const Export &e, uint64_t block, uint64_t count, Each each)
{
	for (uint64_t done = 0; done < count;) {
		const uint64_t run = std::min(count - done, e.run_from(block + done));
		each(e.device_block(block + done), run, done);
		done += run;
	}
}

uint16_t cut_blocks(const Export &e, const nvme_sqe &sqe, std::vector<Portion> &out)
{
	const uint64_t block = block_of(sqe), count = count_of(sqe);
	if (e.zoned && block < e.blocks) { // the device knows where its zones end
		Portion whole{sqe, 0, QueuePair::bytes_of(sqe), {}};
		set_block(whole.sqe, e.device_block(block));
		out.push_back(std::move(whole));
		return 0;
	}
	if (block >= e.blocks || count > e.blocks - block)
		return NVME_LBA_OUT_OF_RANGE;
	const bool moves = QueuePair::bytes_of(sqe) != 0;
	each_run(e, block, count, [&](uint64_t at, uint64_t run, uint64_t done) {
		Portion part{sqe, moves ? done * HZ_SECTOR_BYTES : 0, moves ? run * HZ_SECTOR_BYTES : 0, {}};
		set_block(part.sqe, at);
		part.sqe.cdw12 = (sqe.cdw12 & 0xffff0000) | static_cast<uint32_t>(run - 1);
		if (part.sqe.cdw14)
			part.sqe.cdw14 += static_cast<uint32_t>(done); // the reference tag counts with the blocks
		out.push_back(std::move(part));
	});
	return 0;
}

// Adds to the last command for `ranges`, or begins another if it is full.
void add_range(const nvme_sqe &sqe, const nvme_dsm_range &range, std::vector<Portion> &out)
{
	if (out.empty() || out.back().ranges.size() == NVME_DSM_RANGES * sizeof(range))
		out.push_back({sqe, 0, 0, {}});
	Portion &part = out.back();
	const size_t at = part.ranges.size();
	part.ranges.resize(at + sizeof(range));
	write_record(part.ranges, range, at);
	part.sqe.cdw10 = (sqe.cdw10 & ~0xffu) | static_cast<uint32_t>(part.ranges.size() / sizeof(range) - 1);
	part.bytes = part.ranges.size();
}

uint16_t cut_deallocate(const Export &e, const nvme_sqe &sqe, std::span<const std::byte> data, std::vector<Portion> &out)
{
	for (uint32_t i = 0; i <= (sqe.cdw10 & 0xff); i++) {
		auto range = read_record<nvme_dsm_range>(data, i * sizeof(nvme_dsm_range));
		if (range.slba > e.blocks || range.nlb > e.blocks - range.slba)
			return NVME_LBA_OUT_OF_RANGE;
		each_run(e, range.slba, range.nlb, [&](uint64_t at, uint64_t run, uint64_t) {
			range.slba = at;
			range.nlb = static_cast<uint32_t>(run);
			add_range(sqe, range, out);
		});
	}
	return 0;
}

// Source and destination must each be contiguous: a copy across a hole is refused; the host can
// read and write instead.
uint16_t translate_copy(const Export &e, const nvme_sqe &sqe, std::span<const std::byte> data, std::vector<Portion> &out)
{
	Portion part{sqe, 0, QueuePair::bytes_of(sqe), {}};
	part.ranges.assign(data.begin(), data.begin() + static_cast<ptrdiff_t>(part.bytes));
	uint64_t total = 0;
	for (size_t at = 0; at < part.bytes; at += sizeof(nvme_copy_range)) {
		auto range = read_record<nvme_copy_range>(part.ranges, at);
		const uint64_t count = range.nlb + 1ull;
		if (range.slba >= e.blocks || count > e.blocks - range.slba)
			return NVME_LBA_OUT_OF_RANGE;
		if (e.run_from(range.slba) < count)
			return NVME_INVALID_FIELD;
		range.slba = e.device_block(range.slba);
		write_record(std::span(part.ranges), range, at);
		total += count;
	}
	const uint64_t to = block_of(sqe);
	if (to >= e.blocks || (!e.zoned && total > e.blocks - to))
		return NVME_LBA_OUT_OF_RANGE;
	if (e.run_from(to) < total)
		return NVME_INVALID_FIELD;
	set_block(part.sqe, e.device_block(to));
	out.push_back(std::move(part));
	return 0;
}

constexpr bool is_power_of_two(uint64_t value) { return std::has_single_bit(value); }

std::string mib(uint64_t blocks)
{
	const uint64_t kib = blocks * HZ_SECTOR_BYTES >> 10;
	return kib % 1024 ? std::to_string(kib) + " KiB" : std::to_string(kib >> 10) + " MiB";
}

constexpr uint32_t least_for_btrfs = 8, least_for_f2fs = 6; // active zones: BTRFS_MIN_ACTIVE_ZONES, and F2FS's six logs

void note_file_systems(const Export &e, Verdict &verdict)
{
	if (e.zoned && e.max_active && e.max_active < least_for_btrfs)
		verdict.notes.push_back("btrfs needs at least 8 active zones, it has " + std::to_string(e.max_active));
	if (e.zoned && e.max_open && e.max_open < least_for_f2fs)
		verdict.notes.push_back("F2FS writes six logs at once, and only " + std::to_string(e.max_open) + " zones may be open");
	if (e.zoned && !e.split)
		verdict.notes.push_back("F2FS needs a second, conventional device for its metadata");
}

} // namespace

uint64_t Export::device_block(uint64_t block) const
{
	return first + (packed() ? block / capacity_blocks * zone_blocks + block % capacity_blocks : block);
}

uint64_t Export::run_from(uint64_t block) const { return packed() ? capacity_blocks - block % capacity_blocks : blocks - block; }

uint16_t Export::portions(const nvme_sqe &from, std::span<const std::byte> data, std::vector<Portion> &out) const
{
	nvme_sqe sqe = from;
	sqe.nsid = device_nsid;
	if (is_zone_command(sqe.opcode) && !zoned && split)
		return NVME_INVALID_OPCODE;
	switch (split ? sqe.opcode : uint8_t(NVME_IO_FLUSH)) { // the device checks exports that are not split
	case NVME_IO_WRITE:
	case NVME_IO_READ:
	case NVME_IO_COMPARE:
	case NVME_IO_WRITE_ZEROES:
	case NVME_IO_WRITE_UNCORRECTABLE:
	case NVME_IO_VERIFY:
	case NVME_IO_ZONE_APPEND: return cut_blocks(*this, sqe, out);
	case NVME_IO_DATASET_MANAGEMENT: return cut_deallocate(*this, sqe, data, out);
	case NVME_IO_COPY: return translate_copy(*this, sqe, data, out);
	case NVME_IO_ZONE_MGMT_SEND:
	case NVME_IO_ZONE_MGMT_RECV:
		if (block_of(sqe) >= blocks)
			return NVME_LBA_OUT_OF_RANGE;
		set_block(sqe, device_block(block_of(sqe)));
	}
	out.push_back({sqe, 0, QueuePair::bytes_of(sqe), {}});
	return 0;
}

void Export::translate_report(std::span<std::byte> report) const
{
	const uint64_t count = read_record<uint64_t>(report);
	for (uint64_t i = 0, at = sizeof(nvme_zone_report); i < count && at + sizeof(nvme_zone_descriptor) <= report.size();
	     i++, at += sizeof(nvme_zone_descriptor)) {
		auto zone = read_record<nvme_zone_descriptor>(report, at);
		zone.start -= first;
		zone.write_pointer -= zone.write_pointer == UINT64_MAX ? 0 : first;
		write_record(report, zone, at);
	}
}

Exports::Exports(const hz_device_config &config, std::span<const uint32_t> attached, std::string_view name) : count_(config.namespaces)
{
	bool any_split = false;
	for (const uint32_t nsid : attached) {
		hz_shape shape;
		hz_namespace_shape(&config, nsid - 1, &shape);
		const bool zoned = config.namespace_kind == HZ_NS_ZONED, split = zoned && shape.conventional_zones;
		const uint64_t edge = split ? shape.conventional_zones * shape.zone_size_sectors : 0;
		Export one{nsid,
			   nsid,
			   zoned,
			   split,
			   edge,
			   shape.namespace_sectors - edge,
			   shape.zone_size_sectors,
			   shape.zone_capacity_sectors,
			   shape.zones - (split ? shape.conventional_zones : 0),
			   zoned ? config.max_open : 0,
			   zoned ? config.max_active : 0,
			   unique_of(name, nsid)};
		if (one.blocks)
			all_.push_back(one);
		if (!split)
			continue;
		any_split = true;
		one.nsid = config.namespaces + nsid;
		one.zoned = false;
		one.first = 0;
		one.zones = shape.conventional_zones;
		one.blocks = one.zones * one.capacity_blocks;
		one.max_open = one.max_active = 0;
		one.unique = unique_of(name, one.nsid);
		all_.push_back(one);
	}
	count_ *= any_split ? 2 : 1;
	std::sort(all_.begin(), all_.end(), [](const Export &a, const Export &b) { return a.nsid < b.nsid; });
}

const Export *Exports::find(uint32_t nsid) const
{
	const auto found = std::find_if(all_.begin(), all_.end(), [&](const Export &one) { return one.nsid == nsid; });
	return found == all_.end() ? nullptr : &*found;
}

std::vector<uint32_t> Exports::list(uint32_t after, int csi) const
{
	std::vector<uint32_t> nsids;
	for (const Export &one : all_)
		if (one.nsid > after && (csi < 0 || csi == (one.zoned ? NVME_CSI_ZNS : NVME_CSI_NVM)))
			nsids.push_back(one.nsid);
	return nsids;
}

Verdict linux_verdict(const Export &e, const hz_device_config &config)
{
	Verdict verdict;
	if (e.zoned && !is_power_of_two(e.zone_blocks)) {
		verdict.taken = false;
		verdict.why = "its zones lie " + mib(e.zone_blocks) +
			      " apart, and Linux takes powers of two alone: zones.size: " + mib(hz_power_of_two_from(e.zone_blocks)) +
			      " would do, the capacity may stay";
		return verdict;
	}
	note_file_systems(e, verdict);
	if (config.media_mode != HZ_MEDIA_STORE)
		verdict.notes.push_back(
			"the flash keeps no data (geometry.media), so no file system can live there: media: store keeps them");
	return verdict;
}

std::string linux_text(const Exports &exports, const hz_device_config &config)
{
	std::string text;
	for (const Export &one : exports.all()) {
		const Verdict verdict = linux_verdict(one, config);
		text += "  namespace " + std::to_string(one.nsid) + ", " +
			(one.zoned
				 ? std::to_string(one.zones) + " zones of " + mib(one.zone_blocks) + " that hold " +
					   mib(one.capacity_blocks)
				 : mib(one.blocks) +
					   (one.split ? ", the conventional zones of namespace " + std::to_string(one.device_nsid) : "")) +
			": Linux " + (verdict.taken ? "takes it" : "takes it not, because " + verdict.why) + "\n";
		for (const std::string &note : verdict.notes)
			text += "    " + note + "\n";
	}
	return text;
}

} // namespace hz::fabrics
