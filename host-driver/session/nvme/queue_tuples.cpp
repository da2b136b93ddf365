// Protection information of a queue's commands.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/nvme/queue_tuples.hpp"

#include "tuple.h"

namespace hz {

namespace {

// The application tag stays 0 and unchecked: it is the application's.
constexpr uint32_t checks = HZ_CHECK_GUARD | HZ_CHECK_REFERENCE;
constexpr uint32_t own_fields = NVME_RW_PRACT | uint32_t(HZ_CHECK_ALL) << NVME_RW_PRCHK_SHIFT;

uint16_t guard_of(std::span<const std::byte> data, uint32_t index)
{
	return hz_crc16(0, data.subspan(size_t(index) * HZ_SECTOR_BYTES, HZ_SECTOR_BYTES).data(), HZ_SECTOR_BYTES);
}

// Protection fields of a command besides its LBA as the reference tag; none: no protection
// information.
uint32_t fields_of(uint8_t opcode)
{
	switch (opcode) {
	case NVME_IO_READ:
	case NVME_IO_WRITE:
	case NVME_IO_COMPARE:
	case NVME_IO_VERIFY: return checks << NVME_RW_PRCHK_SHIFT;
	case NVME_IO_ZONE_APPEND: return checks << NVME_RW_PRCHK_SHIFT | NVME_RW_PIREMAP;
	case NVME_IO_WRITE_ZEROES: return NVME_RW_PRACT;
	default: return 0;
	}
}

// The sources' tuples are checked, new ones are made.
void protect_copy(nvme_sqe &sqe)
{
	constexpr uint32_t source_fields = NVME_COPY_SOURCE_PRACT | uint32_t(HZ_CHECK_ALL) << NVME_COPY_SOURCE_PRCHK_SHIFT;
	if (sqe.cdw12 & (own_fields | source_fields))
		return;
	sqe.cdw12 |= NVME_RW_PRACT | NVME_COPY_SOURCE_PRACT | checks << NVME_COPY_SOURCE_PRCHK_SHIFT;
	sqe.cdw14 = sqe.cdw10;
}

bool brings_data(uint8_t opcode) { return opcode == NVME_IO_WRITE || opcode == NVME_IO_ZONE_APPEND || opcode == NVME_IO_COMPARE; }

} // namespace

QueueTuples::QueueTuples(Region &region, BusAddress memory, unsigned depth, uint64_t most_sectors)
	: region_(region), memory_(memory), most_sectors_(most_sectors), expected_(depth)
{
}

uint64_t QueueTuples::bytes_per_id(uint64_t most_sectors) { return most_sectors * HZ_TUPLE_BYTES; }

std::byte *QueueTuples::tuples(uint16_t cid) const
{
	return region_.at(memory_ + cid * bytes_per_id(most_sectors_), bytes_per_id(most_sectors_));
}

void QueueTuples::protect(uint16_t cid, nvme_sqe &sqe, std::span<const std::byte> data)
{
	const uint32_t fields = fields_of(sqe.opcode), sectors = (sqe.cdw12 & 0xffff) + 1;
	expected_[cid] = {};
	if (sqe.opcode == NVME_IO_COPY)
		return protect_copy(sqe);
	if (!fields || sqe.cdw12 & own_fields || sqe.mptr)
		return;
	sqe.cdw12 |= fields;
	sqe.cdw14 = sqe.cdw10;
	if (sqe.opcode == NVME_IO_VERIFY || sqe.opcode == NVME_IO_WRITE_ZEROES || sectors > most_sectors_)
		return;
	sqe.mptr = memory_ + cid * bytes_per_id(most_sectors_);
	if (sqe.opcode == NVME_IO_READ)
		expected_[cid] = {sqe.cdw10, sectors};
	for (uint32_t i = 0; brings_data(sqe.opcode) && i < sectors; i++)
		hz_tuple_store(tuples(cid) + i * HZ_TUPLE_BYTES, {guard_of(data, i), 0, sqe.cdw10 + i});
}

uint16_t QueueTuples::check(uint16_t cid, std::span<const std::byte> data) const
{
	const auto [reference, sectors] = expected_[cid];
	uint16_t status = 0;
	for (uint32_t i = 0; i < sectors && !status; i++)
		status = hz_tuple_check(hz_tuple_load(tuples(cid) + i * HZ_TUPLE_BYTES), {guard_of(data, i), 0, reference + i}, checks, 0);
	return status;
}

} // namespace hz
