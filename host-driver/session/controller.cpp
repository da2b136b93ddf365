// Controller: the NVMe initialisation sequence (base spec 3.5.1) and admin commands, one at a time.
#include "session/controller.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "session/error.hpp"

namespace hz {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr unsigned admin_depth = 32;
constexpr uint64_t admin_buffer_bytes = HZ_MAX_TRANSFER_SECTORS * HZ_SECTOR_BYTES;
constexpr auto ready_limit = 60s;
constexpr auto admin_limit = 60s;

Link connect(Machine &machine, std::chrono::milliseconds timeout)
{
	auto check = [&machine] { machine.check_waiting(); };
	if (machine.vsock_path().empty())
		return Link::connect_kernel(machine.cid(), HZ_CONTROL_PORT, timeout, check);
	return Link::connect_daemon(machine.vsock_path(), HZ_CONTROL_PORT, timeout, check);
}

} // namespace

Controller::Controller(Machine &machine, std::chrono::milliseconds timeout) : machine_(machine), link_(connect(machine, timeout)) {}

void Controller::wait_status(uint32_t mask, uint32_t value, const char *what)
{
	auto until = Clock::now() + ready_limit;
	for (uint32_t csts; ((csts = link_.read32(NVME_REG_CSTS)) & mask) != value;) {
		if (csts & NVME_CSTS_CFS)
			throw Error(std::string("the controller reports a fatal error while it should ") + what);
		if (Clock::now() > until)
			throw Error(std::string("the controller did not ") + what + " within 60 s");
	}
}

void Controller::disable()
{
	link_.write32(NVME_REG_CC, link_.read32(NVME_REG_CC) & ~static_cast<uint32_t>(NVME_CC_EN));
	wait_status(NVME_CSTS_RDY, 0, "become disabled");
	enabled_ = false;
}

void Controller::enable()
{
	disable();
	Region &region = machine_.region();
	region.reset_heap();
	sq_ = region.allocate(admin_depth * sizeof(nvme_sqe));
	cq_ = region.allocate(admin_depth * sizeof(nvme_cqe));
	list_ = region.allocate(8192);
	shadow_ = region.allocate(4096);
	events_ = region.allocate(4096);
	buffer_ = region.allocate(admin_buffer_bytes);
	tail_ = head_ = 0;
	phase_ = true;
	link_.write32(NVME_REG_AQA, (admin_depth - 1) | (admin_depth - 1) << NVME_AQA_ACQS_SHIFT);
	link_.write64(NVME_REG_ASQ, sq_);
	link_.write64(NVME_REG_ACQ, cq_);
	link_.write32(NVME_REG_CC, NVME_CC_EN | NVME_CC_CSS_CSI << NVME_CC_CSS_SHIFT | 6u << NVME_CC_IOSQES_SHIFT |
					   4u << NVME_CC_IOCQES_SHIFT);
	wait_status(NVME_CSTS_RDY, NVME_CSTS_RDY, "become ready");
	enabled_ = true;
	set_feature(NVME_FEAT_NUMBER_OF_QUEUES, (HZ_MAX_IO_QUEUES - 1) << 16 | (HZ_MAX_IO_QUEUES - 1));
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_DBBUF;
	sqe.prp1 = shadow_;
	sqe.prp2 = events_;
	require("Doorbell Buffer Config", sqe);
}

void Controller::shutdown()
{
	uint32_t cc = link_.read32(NVME_REG_CC) & ~(3u << NVME_CC_SHN_SHIFT);
	link_.write32(NVME_REG_CC, cc | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	wait_status(NVME_CSTS_SHST_MASK, NVME_CSTS_SHST_COMPLETE, "shut down");
	enabled_ = false;
}

void Controller::disconnect() { link_ = Link(-1); }

AdminResult Controller::await(uint16_t cid)
{
	auto until = Clock::now() + admin_limit;
	auto *cqe = reinterpret_cast<nvme_cqe *>(machine_.region().at(cq_ + head_ * sizeof(nvme_cqe), sizeof(nvme_cqe)));
	uint16_t status;
	while (((status = std::atomic_ref(cqe->status).load(std::memory_order_acquire)) & 1) != phase_) {
		link_.wait_irq(0, 20ms);
		if (Clock::now() > until)
			throw Error("the controller did not answer an admin command within 60 s");
	}
	if (cqe->cid != cid)
		throw Error("the controller answered admin command " + std::to_string(cqe->cid) + " instead of " + std::to_string(cid));
	AdminResult result{static_cast<uint16_t>(status >> 1 & 0x7ff), status >> 15 != 0, cqe->dw0};
	head_ = (head_ + 1) % admin_depth;
	phase_ ^= head_ == 0;
	link_.write32(NVME_REG_DOORBELLS + 4, head_);
	return result;
}

AdminResult Controller::admin(nvme_sqe sqe, std::span<std::byte> in, std::span<const std::byte> out)
{
	uint64_t bytes = std::max(in.size(), out.size());
	if (!enabled_)
		throw Error("the controller is not enabled");
	if (bytes > admin_buffer_bytes)
		throw Error("an admin command moves at most 512 KiB");
	Region &region = machine_.region();
	std::byte *buffer = region.at(buffer_, admin_buffer_bytes);
	if (bytes) {
		std::copy(out.begin(), out.end(), buffer);
		PrpPair pair = build_prps(region, buffer_, bytes, list_);
		sqe.prp1 = pair.prp1;
		sqe.prp2 = pair.prp2;
	}
	sqe.cid = next_cid_++;
	std::memcpy(region.at(sq_ + tail_ * sizeof(sqe), sizeof(sqe)), &sqe, sizeof(sqe));
	tail_ = (tail_ + 1) % admin_depth;
	link_.write32(NVME_REG_DOORBELLS, tail_);
	AdminResult result = await(sqe.cid);
	std::copy_n(buffer, in.size(), in.begin());
	return result;
}

uint32_t Controller::require(const char *what, nvme_sqe sqe, std::span<std::byte> in, std::span<const std::byte> out)
{
	AdminResult result = admin(sqe, in, out);
	if (result.status)
		throw NvmeError(std::string(what) + " failed: " + status_text(result.status), result.status);
	return result.dw0;
}

std::vector<std::byte> Controller::identify(uint8_t cns, uint32_t nsid, uint8_t csi)
{
	std::vector<std::byte> data(4096);
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_IDENTIFY;
	sqe.nsid = nsid;
	sqe.cdw10 = cns;
	sqe.cdw11 = static_cast<uint32_t>(csi) << 24;
	require("Identify", sqe, data);
	return data;
}

uint32_t Controller::get_feature(uint8_t fid, uint32_t cdw11)
{
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_GET_FEATURES;
	sqe.cdw10 = fid;
	sqe.cdw11 = cdw11;
	return require("Get Features", sqe);
}

uint32_t Controller::set_feature(uint8_t fid, uint32_t cdw11)
{
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_SET_FEATURES;
	sqe.cdw10 = fid;
	sqe.cdw11 = cdw11;
	return require("Set Features", sqe);
}

std::unique_ptr<QueuePair> Controller::create_queue(unsigned qid, const QueueOptions &options)
{
	auto queue = std::make_unique<QueuePair>(machine_, qid, options, shadow_);
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_CREATE_CQ;
	sqe.prp1 = queue->cq_base();
	sqe.cdw10 = qid | (options.depth - 1) << 16;
	sqe.cdw11 = NVME_QUEUE_CONTIGUOUS;
	require("Create I/O Completion Queue", sqe);
	sqe.opcode = NVME_ADMIN_CREATE_SQ;
	sqe.prp1 = queue->sq_base();
	sqe.cdw11 = NVME_QUEUE_CONTIGUOUS | qid << 16;
	require("Create I/O Submission Queue", sqe);
	return queue;
}

void Controller::delete_queue(std::unique_ptr<QueuePair> queue)
{
	nvme_sqe sqe{};
	sqe.cdw10 = queue->qid();
	sqe.opcode = NVME_ADMIN_DELETE_SQ;
	require("Delete I/O Submission Queue", sqe);
	sqe.opcode = NVME_ADMIN_DELETE_CQ;
	require("Delete I/O Completion Queue", sqe);
}

} // namespace hz
