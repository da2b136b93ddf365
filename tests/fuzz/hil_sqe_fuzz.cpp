// Fuzz target: any submission queue entry and any host memory. A request that is let through names only the host's heap.
// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

extern "C" {
#include "hil/queue/command.h"
}

namespace {

constexpr uint64_t region_bytes = HZ_SHM_HEAP_OFFSET + (256 << 10), namespace_sectors = 1 << 16;

uint8_t *region()
{
	static auto *base = static_cast<uint8_t *>(mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	return base;
}

void require(bool holds)
{
	if (!holds)
		std::abort();
}

void check(const ftl_request &req, uint16_t status)
{
	if (status)
		return;
	require(req.op <= FTL_PLACEMENT_UPDATE && req.lba < namespace_sectors);
	if (req.op == FTL_READ || req.op == FTL_COMPARE || req.op == FTL_WRITE || req.op == FTL_UPDATE || req.op == FTL_APPEND)
		require(req.sgl.bytes == req.sectors * HZ_SECTOR_BYTES && req.sectors <= HZ_MAX_TRANSFER_SECTORS);
	if (req.op == FTL_WRITE_ZEROES || req.op == FTL_WRITE_UNCORRECTABLE)
		require(req.sgl.bytes == 0 && req.sectors <= namespace_sectors - req.lba);
	if (req.op == FTL_VERIFY)
		require(req.sgl.bytes == 0 && req.sectors <= HZ_MAX_TRANSFER_SECTORS);
	if (req.protect & FTL_HOST_TUPLES && req.op != FTL_WRITE_ZEROES && req.op != FTL_COPY) {
		const auto offset = static_cast<uint64_t>(req.tuples - region());
		require(req.op < FTL_WRITE_ZEROES && req.op != FTL_VERIFY && offset % 4 == 0);
		require(offset >= HZ_SHM_HEAP_OFFSET && offset + req.sectors * HZ_TUPLE_BYTES <= region_bytes);
	}
	if (req.op == FTL_COPY || req.op == FTL_COPY_APPEND)
		require(req.sgl.bytes == req.sectors * sizeof(nvme_copy_range) && req.sectors <= HZ_COPY_RANGES);
	require(req.op != FTL_PLACEMENT_UPDATE || (req.sgl.bytes == req.sectors * 2 && req.sectors <= 4));
	if (req.op == FTL_DEALLOCATE)
		require(req.sgl.bytes == req.sectors * sizeof(nvme_dsm_range) && req.sectors <= NVME_DSM_RANGES);
	for (uint32_t at = 0; at < req.sgl.bytes; at += HZ_SECTOR_BYTES) {
		auto offset = static_cast<uint64_t>(req.sgl.memory[(req.sgl.offset + at) / HZ_SECTOR_BYTES] - region());
		require(offset >= HZ_SHM_HEAP_OFFSET && offset + HZ_SECTOR_BYTES <= region_bytes && offset % HZ_SECTOR_BYTES == 0);
	}
}

// PRPs are drawn towards the heap, else almost none would be legal.
uint64_t aim(uint64_t address) { return address & 1 << 20 ? address : HZ_SHM_HEAP_OFFSET + (address & 0x3fffc); }

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t opcodes[] = {0x00, 0x01, 0x02, 0x04, 0x05, 0x08, 0x09, 0x0c, 0x12, 0x19, 0x1d, 0x79, 0x7a, 0x7d};
	io_limits limits{{region(), region_bytes},
			 namespace_sectors,
			 true,
			 true,
			 HZ_PLP_NONE,
			 HZ_PROTECTION_NONE,
			 true,
			 true,
			 false,
			 4,
			 false,
			 false,
			 0};
	uint8_t *pages[PRP_MAX_PAGES];
	ftl_request req{};
	nvme_sqe sqe;

	if (size < sizeof(sqe))
		return 0;
	std::memcpy(&sqe, data, sizeof(sqe));
	data += sizeof(sqe);
	size -= sizeof(sqe);
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t entry;
		std::memcpy(&entry, data + i, 8);
		entry = aim(entry);
		std::memcpy(region() + HZ_SHM_HEAP_OFFSET + (i * 5 & 0x3fff8), &entry, 8);
	}
	limits.zoned = limits.in_place = limits.zrwa = !(sqe.flags & 0x20); // the configuration refuses a budget without sequential zones
	limits.handles = limits.zoned ? 0 : limits.handles;
	const bool tuples = sqe.flags & 0x08;
	if (sqe.flags & 0x10) {
		sqe.opcode = opcodes[sqe.opcode % sizeof(opcodes)];
		sqe.flags = 0;
		sqe.nsid = 1;
		sqe.cdw11 = 0;
		sqe.prp1 = aim(sqe.prp1);
		sqe.prp2 = aim(sqe.prp2);
		sqe.mptr = aim(sqe.mptr);
		if (sqe.cdw15 & 1)
			sqe.cdw14 = sqe.cdw10;
	}
	uint16_t status = io_decode(&limits, &sqe, pages, &req);
	if (tuples && !status)
		status = io_protect(&limits.bus, &sqe, &req);
	require(limits.zoned || status || req.op <= FTL_WRITE || req.op == FTL_WRITE_ZEROES || req.op == FTL_WRITE_UNCORRECTABLE ||
		req.op == FTL_DEALLOCATE || req.op == FTL_COPY || req.op == FTL_FLUSH || req.op == FTL_PLACEMENT_STATUS ||
		req.op == FTL_PLACEMENT_UPDATE);
	require(limits.handles || status || (req.op < FTL_PLACEMENT_STATUS && !req.placement));
	check(req, status);
	return 0;
}
