// PromiseFile: entries become zeros.
// SPDX-License-Identifier: BSD-3-Clause
#include "namespaces.h"
#include "session/nvme/promise_file.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "session/machine/error.hpp"
#include "session/machine/machine.hpp"

namespace hz {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t revoked_at_once = 4096;

fs::path link_of(const Machine &machine, uint32_t nsid)
{
	return machine.run_directory() / (nsid == 1 ? "promises" : "promises." + std::to_string(nsid));
}

// Voids the file, for the next namespace in its place.
void forget(const fs::path &file)
{
	const Descriptor record(open(file.c_str(), O_RDWR | O_CLOEXEC));
	if (record && (ftruncate(record.get(), 0) || pwrite(record.get(), &promise_void, sizeof(promise_void), 0) < 0))
		throw_errno("cannot write the record of acknowledged sectors");
}

uint64_t lba_of(const nvme_sqe &sqe) { return uint64_t(sqe.cdw11) << 32 | sqe.cdw10; }

} // namespace

fs::path ack_record_of(const fs::path &image, uint32_t nsid)
{
	return image.string() + (nsid == 1 ? ".acked" : ".acked." + std::to_string(nsid));
}

void PromiseFile::show(const Machine &machine)
{
	std::error_code ignored;
	if (machine.kept_image().empty())
		return;
	for (uint32_t nsid = 1; nsid <= machine.config().namespaces; nsid++)
		fs::create_symlink(ack_record_of(machine.kept_image(), nsid), link_of(machine, nsid), ignored);
}

void PromiseFile::before_admin(const Machine &machine, const nvme_sqe &sqe)
{
	constexpr uint32_t remove = 1;
	const bool all = sqe.opcode == NVME_ADMIN_SANITIZE || sqe.nsid == NVME_NSID_ALL;
	if ((sqe.opcode == NVME_ADMIN_NAMESPACE_MANAGEMENT && (sqe.cdw10 & 0xf) == remove) || sqe.opcode == NVME_ADMIN_FORMAT_NVM ||
	    sqe.opcode == NVME_ADMIN_SANITIZE)
		for (uint32_t nsid = 1; nsid <= machine.config().namespaces; nsid++)
			if (all || sqe.nsid == nsid)
				forget(link_of(machine, nsid));
}

PromiseFile::Record::Record(const Machine &machine, uint32_t nsid) : file_(open(link_of(machine, nsid).c_str(), O_RDWR | O_CLOEXEC))
{
	if (!file_)
		return;
	hz_namespace_shape(&machine.config(), nsid - 1, &shape_);
	overwritable_ = machine.config().namespace_kind == HZ_NS_ZONED ? shape_.conventional_zones * shape_.zone_size_sectors
								       : shape_.namespace_sectors;
}

void PromiseFile::Record::revoke(uint64_t lba, uint64_t count)
{
	const std::vector<char> none(std::min(count, revoked_at_once) * promise_entry_bytes);
	for (const uint64_t end = lba + count; lba < end; lba += revoked_at_once) {
		const size_t bytes = std::min(revoked_at_once, end - lba) * promise_entry_bytes;
		if (pwrite(file_.get(), none.data(), bytes, static_cast<off_t>(promise_entries_at + lba * promise_entry_bytes)) < 0)
			throw_errno("cannot write the record of acknowledged sectors");
	}
}

void PromiseFile::Record::overwrite(uint64_t lba, uint64_t count, bool in_place)
{
	const char yes = 1;
	const uint64_t end = in_place ? shape_.namespace_sectors
				      : overwritable_; // else a sequential zone is written once between two resets
	if (lba >= end)
		return;
	if (pwrite(file_.get(), &yes, 1, promise_foreign_at) < 0)
		throw_errno("cannot write the record of acknowledged sectors");
	revoke(lba, std::min(count, end - lba));
}

void PromiseFile::Record::reset(uint64_t lba, bool all)
{
	if (all)
		revoke(overwritable_, shape_.namespace_sectors - overwritable_);
	else if (lba >= overwritable_ && lba < shape_.namespace_sectors)
		revoke(lba, shape_.zone_size_sectors);
}

void PromiseFile::Record::deallocate(std::span<const std::byte> ranges)
{
	for (nvme_dsm_range range; ranges.size() >= sizeof(range); ranges = ranges.subspan(sizeof(range))) {
		std::memcpy(&range, ranges.data(), sizeof(range));
		if (range.nlb)
			overwrite(range.slba, range.nlb, false);
	}
}

// The address of an append is unknown, but nothing is acknowledged there.
void PromiseFile::Record::copy(uint64_t to_lba, std::span<const std::byte> ranges)
{
	uint64_t sectors = 0;
	for (nvme_copy_range range; ranges.size() >= sizeof(range); ranges = ranges.subspan(sizeof(range))) {
		std::memcpy(&range, ranges.data(), sizeof(range));
		sectors += range.nlb + 1u;
	}
	if (sectors)
		overwrite(to_lba, sectors, false);
}

void PromiseFile::Record::before(const nvme_sqe &sqe, std::span<const std::byte> data)
{
	constexpr uint32_t all = 1 << 8;
	if (!file_)
		return;
	if (sqe.opcode == NVME_IO_WRITE || sqe.opcode == NVME_IO_WRITE_ZEROES || sqe.opcode == NVME_IO_WRITE_UNCORRECTABLE)
		overwrite(lba_of(sqe), (sqe.cdw12 & 0xffff) + 1, sqe.opcode == NVME_IO_WRITE && sqe.cdw3 & NVME_RW_IN_PLACE);
	if (sqe.opcode == NVME_IO_DATASET_MANAGEMENT && sqe.cdw11 & NVME_DSM_DEALLOCATE)
		deallocate(data.first(std::min(data.size(), ((sqe.cdw10 & 0xff) + 1) * sizeof(nvme_dsm_range))));
	if (sqe.opcode == NVME_IO_COPY && !(sqe.cdw3 & NVME_COPY_APPEND))
		copy(lba_of(sqe), data.first(std::min(data.size(), ((sqe.cdw12 & 0xff) + 1) * sizeof(nvme_copy_range))));
	if (sqe.opcode == NVME_IO_ZONE_MGMT_SEND && (sqe.cdw13 & 0xff) == NVME_ZSA_RESET)
		reset(lba_of(sqe), sqe.cdw13 & all);
}

void PromiseFile::before(const nvme_sqe &sqe, std::span<const std::byte> data)
{
	if (sqe.nsid - 1 < machine_.config().namespaces)
		records_.try_emplace(sqe.nsid, machine_, sqe.nsid).first->second.before(sqe, data);
}

} // namespace hz
