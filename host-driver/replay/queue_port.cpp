/* Requests as NVMe commands. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/port.hpp"

#include <cstring>

namespace hz::replay {
namespace {

constexpr uint32_t zrwa_allocation = 1 << 9; /* ZRWAA in CDW13 of Zone Management Send */

nvme_sqe open_zrwa(uint64_t start)
{
	nvme_sqe sqe = QueuePair::zone_send(start, NVME_ZSA_OPEN);
	sqe.cdw13 |= zrwa_allocation;
	return sqe;
}

nvme_sqe with_flags(nvme_sqe sqe, const wl::Request &r)
{
	sqe.cdw12 |= r.fua ? NVME_RW_FUA : 0;
	sqe.cdw3 |= r.in_place ? NVME_RW_IN_PLACE : 0;
	if (r.placement) {
		sqe.cdw12 |= uint32_t(NVME_DIRECTIVE_PLACEMENT) << NVME_RW_DTYPE_SHIFT;
		sqe.cdw13 = uint32_t(r.placement) << NVME_RW_DSPEC_SHIFT;
	}
	return sqe;
}

nvme_sqe command_of(const wl::Request &r)
{
	switch (r.op) {
	case wl::Op::read: return QueuePair::read(r.lba, r.sectors);
	case wl::Op::write: return with_flags(QueuePair::write(r.lba, r.sectors), r);
	case wl::Op::append: return with_flags(QueuePair::append(r.lba, r.sectors), r);
	case wl::Op::reset: return QueuePair::zone_send(r.lba, NVME_ZSA_RESET);
	case wl::Op::reset_all: return QueuePair::zone_send(0, NVME_ZSA_RESET, true);
	case wl::Op::finish: return QueuePair::zone_send(r.lba, NVME_ZSA_FINISH);
	case wl::Op::open: return QueuePair::zone_send(r.lba, NVME_ZSA_OPEN);
	case wl::Op::close: return QueuePair::zone_send(r.lba, NVME_ZSA_CLOSE);
	case wl::Op::open_zrwa: return open_zrwa(r.lba);
	case wl::Op::commit: return QueuePair::zone_send(r.lba, NVME_ZSA_COMMIT);
	case wl::Op::deallocate: return QueuePair::deallocate(1);
	case wl::Op::flush: break;
	}
	return QueuePair::flush();
}

} // namespace

uint64_t QueuePort::submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns)
{
	nvme_sqe sqe = command_of(request);
	if (request.op == wl::Op::deallocate) {
		const nvme_dsm_range range = {0, request.sectors, request.lba};
		std::memcpy(queue_.data(cid).data(), &range, sizeof(range));
	}
	sqe.cdw3 |= request.durable ? NVME_RW_DURABLE : 0;
	return queue_.submit(cid, sqe, arrival_ns);
}

} // namespace hz::replay
