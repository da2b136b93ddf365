/* Block operations without mapping, and the expected content of every sector. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/direct_blocks.hpp"

#include <algorithm>

namespace hz::replay {

namespace {

constexpr uint64_t most_trimmed = 65536; /* sectors of a command */

} // namespace

using wl::BlockVerb;
using wl::Request;
using wl::Step;

DirectBlocks::DirectBlocks(const FlatSpace &space, std::unique_ptr<wl::BlockSource> blocks)
	: space_(space), blocks_(std::move(blocks)), sectors_(space.sectors())
{
}

void DirectBlocks::begin_measurement()
{
	preparing_ = have_op_ = ended_ = false;
	overlap_waits_ = 0;
}

uint32_t DirectBlocks::progress_ppm() const { return preparing_ ? (ended_ ? 1000000 : 0) : blocks_->progress_ppm(); }

bool DirectBlocks::load_op()
{
	if (!have_op_ && !ended_) {
		have_op_ = preparing_ ? blocks_->prepare(op_) : blocks_->next(op_);
		ended_ = !have_op_;
	}
	if (have_op_ && (op_.lba > space_.sectors() || op_.sectors > space_.sectors() - op_.lba))
		throw wl::WorkloadError("a block operation at sector " + std::to_string(op_.lba) + " ends beyond the address space");
	return have_op_;
}

bool DirectBlocks::being_written(uint32_t sectors)
{
	for (uint32_t i = 0; i < sectors; i++)
		if (sectors_[op_.lba + i].writing)
			return true;
	return false;
}

/* The expected data of a read are known when it arrives. At most one write of a sector is handed
 * out and not complete, so the next one's version is known before. */
void DirectBlocks::fill_stamps(Request &request)
{
	for (uint32_t i = 0; i < request.sectors; i++) {
		Sector &sector = sectors_[op_.lba + i];
		sector.writing |= request.op != wl::Op::read;
		request.stamps.push_back({request.lba + i, sector.issued + 1});
	}
}

void DirectBlocks::arrives(Request &request, bool held)
{
	overlap_waits_ += held && !request.after_flushes;
	for (size_t i = 0; i < request.stamps.size(); i++) {
		Sector &sector = sectors_[request.tag + i];
		uint64_t &version = request.stamps[i].version;
		if (request.op == wl::Op::read) {
			version = sector.acknowledged || space_.fresh ? sector.acknowledged : wl::unknown_version;
			continue;
		}
		sector.issued = version;
		sector.zeros = request.op == wl::Op::deallocate ? version : sector.zeros;
	}
}

/* The operation's next piece: at most a transfer, and within a run. */
Step DirectBlocks::issue(Request &request)
{
	static constexpr wl::Op ops[] = {wl::Op::read, wl::Op::write, wl::Op::deallocate, wl::Op::flush};
	const uint64_t room = space_.run_sectors - op_.lba % space_.run_sectors;
	const uint64_t most = op_.verb == BlockVerb::trim ? most_trimmed : space_.max_transfer; /* a trim moves no data */
	const auto sectors = uint32_t(std::min({op_.sectors, room, most}));
	if ((op_.verb == BlockVerb::write || op_.verb == BlockVerb::trim) && being_written(sectors))
		return Step::blocked;
	if (op_.after_flushes && flushes_)
		return Step::blocked;
	request = {};
	request.op = ops[size_t(op_.verb)];
	request.think_ns = op_.think_ns;
	request.not_before_ns = op_.not_before_ns;
	request.fua = op_.fua;
	request.placement = op_.verb == BlockVerb::write ? op_.placement : 0;
	request.after_flushes = op_.after_flushes;
	flushes_ += op_.verb == BlockVerb::flush;
	op_.think_ns = 0;
	if (op_.verb != BlockVerb::flush) {
		request.lba = space_.lba_of(op_.lba);
		request.sectors = sectors;
		request.tag = op_.lba;
		fill_stamps(request);
	}
	op_.lba += sectors;
	op_.sectors -= sectors;
	have_op_ = request.sectors && op_.sectors;
	return Step::issue;
}

Step DirectBlocks::next(Request &request) { return load_op() ? issue(request) : Step::done; }

uint64_t DirectBlocks::newest_version(const Request &request, uint32_t index) { return sectors_[request.tag + index].issued; }

uint64_t DirectBlocks::newest_zeros(const Request &request, uint32_t index)
{
	const uint64_t zeros = sectors_[request.tag + index].zeros;
	return zeros >= request.stamps[index].version ? zeros : 0;
}

void DirectBlocks::complete(const Request &request, uint16_t status, uint64_t)
{
	flushes_ -= request.op == wl::Op::flush;
	if (request.op != wl::Op::write && request.op != wl::Op::deallocate)
		return;
	for (uint32_t i = 0; i < request.sectors; i++) {
		Sector &sector = sectors_[request.tag + i];
		sector.writing = false;
		if (status == 0)
			sector.acknowledged = request.stamps[i].version;
	}
}

/* Without sectors whose last write failed: their version is ambiguous. */
std::vector<wl::LiveSector> DirectBlocks::live()
{
	std::vector<wl::LiveSector> out;
	for (uint64_t i = sectors_.next_touched(0); i < space_.sectors(); i = sectors_.next_touched(i + 1)) {
		const Sector &sector = sectors_[i];
		const uint64_t lba = space_.lba_of(i);
		if (sector.acknowledged && sector.acknowledged == sector.issued)
			out.push_back({lba, {lba, sector.acknowledged == sector.zeros ? 0 : sector.acknowledged}});
	}
	return out;
}

nlohmann::json DirectBlocks::cost() const
{
	nlohmann::json out = blocks_->cost();
	out.update({{"overlap_waits", overlap_waits_}, {"address_space_bytes", space_.sectors() * 4096}});
	return out;
}

} // namespace hz::replay
