// AdminRing: base spec 3.5.1 by hand.
// SPDX-License-Identifier: BSD-3-Clause
#include "admin_ring.hpp"

#include <atomic>
#include <chrono>
#include <cstring>

#include "session/machine/error.hpp"

namespace conform {

using namespace std::chrono_literals;

AdminRing::AdminRing(Bench &bench, unsigned sq_depth, unsigned cq_depth) : bench_(bench), sq_depth_(sq_depth), cq_depth_(cq_depth)
{
	bench.disturb();
	bench.controller().disable();
	sq_ = bench.controller().allocate(sq_depth * sizeof(nvme_sqe));
	cq_ = bench.controller().allocate(cq_depth * sizeof(nvme_cqe));
	auto &link = bench.link();
	link.write32(NVME_REG_AQA, (sq_depth - 1) | (cq_depth - 1) << NVME_AQA_ACQS_SHIFT);
	link.write64(NVME_REG_ASQ, sq_);
	link.write64(NVME_REG_ACQ, cq_);
	link.write32(NVME_REG_CC,
		     NVME_CC_EN | NVME_CC_CSS_CSI << NVME_CC_CSS_SHIFT | 6u << NVME_CC_IOSQES_SHIFT | 4u << NVME_CC_IOCQES_SHIFT);
	if (!(link.read32(NVME_REG_CSTS) & NVME_CSTS_RDY))
		throw hz::Error("the controller did not become ready");
}

uint16_t AdminRing::submit(nvme_sqe sqe)
{
	sqe.cid = next_cid_++;
	std::memcpy(bench_.at(sq_ + tail_ * sizeof(sqe), sizeof(sqe)), &sqe, sizeof(sqe));
	tail_ = (tail_ + 1) % sq_depth_;
	return sqe.cid;
}

bool AdminRing::next(nvme_cqe &cqe)
{
	auto *entry = reinterpret_cast<nvme_cqe *>(bench_.at(cq_ + head_ * sizeof(nvme_cqe), sizeof(nvme_cqe)));
	if ((std::atomic_ref(entry->status).load(std::memory_order_acquire) & 1) != phase_)
		return false;
	cqe = *entry;
	head_ = (head_ + 1) % cq_depth_;
	phase_ ^= head_ == 0;
	return true;
}

std::vector<nvme_cqe> AdminRing::reap(unsigned count, bool keep)
{
	std::vector<nvme_cqe> found;
	for (nvme_cqe cqe; found.size() < count;) {
		if (next(cqe))
			found.push_back(cqe);
		else
			bench_.link().wait_irq(0, 20ms);
	}
	if (!keep)
		bench_.link().write32(NVME_REG_DOORBELLS + 4, head_);
	return found;
}

// Register reads are answered in order with the device's work, so a few of them are enough of a while.
bool AdminRing::quiet()
{
	nvme_cqe cqe;
	for (int i = 0; i < 20; i++)
		bench_.link().read32(NVME_REG_CSTS);
	return !next(cqe);
}

} // namespace conform
