// LocalControl: the NVMe initialisation sequence (base spec 3.5.1), and the life of queue pairs.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/share/local_control.hpp"

#include "session/machine/error.hpp"

namespace hz {

using namespace std::chrono_literals;

namespace {

constexpr auto ready_limit = 60s;
constexpr auto admin_limit = 60s;
constexpr auto reclaim_limit = 24h; // the device may stand still for as long as another process likes; its death is detected separately

Link connect(Machine &machine, std::chrono::milliseconds timeout)
{
	const auto check = [&machine] { machine.check_waiting(); };
	const auto time = [&machine] { return machine.fair_now(); };
	if (machine.vsock_path().empty())
		return Link::connect_kernel(machine.cid(), HZ_CONTROL_PORT, timeout, check, time);
	return Link::connect_daemon(machine.vsock_path(), HZ_CONTROL_PORT, timeout, check, time);
}

nvme_sqe queue_command(nvme_admin_opcode opcode, uint32_t cdw10, BusAddress base = 0, uint32_t cdw11 = 0)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.prp1 = base;
	sqe.cdw10 = cdw10;
	sqe.cdw11 = cdw11;
	return sqe;
}

} // namespace

LocalControl::LocalControl(Machine &machine, std::chrono::milliseconds timeout)
	: link_(connect(machine, timeout)), queue_(machine.region(), link_), table_(machine.region(), [this, &machine] {
		  machine.check_waiting();
		  queue_.check_open();
	  })
{
}

void LocalControl::wait_status(uint32_t mask, uint32_t value, const char *what)
{
	const auto until = link_.now() + ready_limit;
	for (uint32_t csts; ((csts = link_.read32(NVME_REG_CSTS)) & mask) != value;) {
		if (csts & NVME_CSTS_CFS)
			throw Error(std::string("the controller reports a fatal error while it should ") + what);
		if (link_.now() > until)
			throw Error(std::string("the controller did not ") + what + " within 60 s");
	}
}

void LocalControl::disable()
{
	enabled_ = false;
	link_.write32(NVME_REG_CC, link_.read32(NVME_REG_CC) & ~static_cast<uint32_t>(NVME_CC_EN));
	wait_status(NVME_CSTS_RDY, 0, "become disabled");
}

void LocalControl::enable(nvme_cc_ams arbitration)
{
	disable();
	table_.reset();
	const BusAddress sq = allocate(AdminQueue::sq_bytes), cq = allocate(AdminQueue::cq_bytes), events = allocate(4096);
	queue_.place(sq, cq);
	link_.write32(NVME_REG_AQA, (AdminQueue::depth - 1) | (AdminQueue::depth - 1) << NVME_AQA_ACQS_SHIFT);
	link_.write64(NVME_REG_ASQ, sq);
	link_.write64(NVME_REG_ACQ, cq);
	link_.write32(NVME_REG_CC, NVME_CC_EN | NVME_CC_CSS_CSI << NVME_CC_CSS_SHIFT | arbitration << NVME_CC_AMS_SHIFT |
					   6u << NVME_CC_IOSQES_SHIFT | 4u << NVME_CC_IOCQES_SHIFT);
	wait_status(NVME_CSTS_RDY, NVME_CSTS_RDY, "become ready");
	enabled_ = true;
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_SET_FEATURES;
	sqe.cdw10 = NVME_FEAT_NUMBER_OF_QUEUES;
	sqe.cdw11 = (HZ_MAX_IO_QUEUES - 1) << 16 | (HZ_MAX_IO_QUEUES - 1);
	require_success("Set Features", admin(sqe));
	register_doorbells(events);
}

// A device that sanitizes takes no doorbells before that has ended. In failure mode it takes none at all: admin commands end that.
void LocalControl::register_doorbells(BusAddress events)
{
	const auto until = link_.now() + ready_limit;
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_DBBUF;
	sqe.prp1 = table_.doorbells();
	sqe.prp2 = events;
	AdminResult result = admin(sqe);
	while ((result.status & ~NVME_DNR) == NVME_SANITIZE_IN_PROGRESS && link_.now() < until)
		result = admin(sqe);
	if ((result.status & ~NVME_DNR) != NVME_SANITIZE_FAILED)
		require_success("Doorbell Buffer Config", result);
}

void LocalControl::shutdown()
{
	uint32_t cc = link_.read32(NVME_REG_CC) & ~(3u << NVME_CC_SHN_SHIFT);
	link_.write32(NVME_REG_CC, cc | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	wait_status(NVME_CSTS_SHST_MASK, NVME_CSTS_SHST_COMPLETE, "shut down");
	enabled_ = false;
}

void LocalControl::disconnect() { link_.hang_up(); }

void LocalControl::require_enabled() const
{
	if (!enabled_)
		throw Error("the controller is not enabled");
}

// A completion queue that is gone takes its slot with it, also where a caller deletes by hand.
AdminResult LocalControl::admin(const nvme_sqe &sqe, const AdminQueue::Meanwhile &meanwhile)
{
	require_enabled();
	const AdminResult result = queue_.run(sqe, admin_limit, meanwhile);
	if (sqe.opcode == NVME_ADMIN_DELETE_CQ && !result.status)
		table_.give(sqe.cdw10 & 0xffff);
	return result;
}

BusAddress LocalControl::allocate(uint64_t bytes) { return table_.allocate(bytes); }
void LocalControl::free(BusAddress address) { table_.free(address); }

QueueGrant LocalControl::create_queue(unsigned qid, const QueueOptions &options) { return lease_queue(qid, options, nullptr); }

QueueGrant LocalControl::lease_queue(unsigned qid, const QueueOptions &options, std::shared_ptr<const Holder> holder)
{
	require_enabled();
	const QueueGrant grant = table_.take(qid, options, std::move(holder));
	try {
		create_pair(grant, options);
	} catch (const NvmeError &) { // refused; after any other failure the device's state is unknown
		table_.give(grant.qid);
		throw;
	}
	return grant;
}

void LocalControl::create_pair(const QueueGrant &grant, const QueueOptions &options)
{
	const uint32_t cdw10 = grant.qid | (options.depth - 1) << 16;
	require_success("Create I/O Completion Queue",
			admin(queue_command(NVME_ADMIN_CREATE_CQ, cdw10, grant.memory + layout_of(options).cq, NVME_QUEUE_CONTIGUOUS)));
	try {
		require_success("Create I/O Submission Queue",
				admin(queue_command(NVME_ADMIN_CREATE_SQ, cdw10, grant.memory,
						    NVME_QUEUE_CONTIGUOUS | options.priority << NVME_QPRIO_SHIFT | grant.qid << 16)));
	} catch (const NvmeError &) {
		require_success("Delete I/O Completion Queue", queue_.run(queue_command(NVME_ADMIN_DELETE_CQ, grant.qid), admin_limit));
		throw;
	}
}

void LocalControl::delete_queue(unsigned qid) { remove_pair(qid, admin_limit, {}); }

// All at once: one queue may hold the device time that another one's commands need.
void LocalControl::reclaim_queues(std::set<unsigned> &qids)
{
	const auto play = [&] {
		for (unsigned qid : qids)
			table_.play_user(qid);
	};
	while (!qids.empty()) {
		remove_pair(*qids.begin(), reclaim_limit, play);
		qids.erase(qids.begin());
	}
}

void LocalControl::remove_pair(unsigned qid, std::chrono::seconds limit, const AdminQueue::Meanwhile &meanwhile)
{
	require_enabled();
	require_success("Delete I/O Submission Queue", queue_.run(queue_command(NVME_ADMIN_DELETE_SQ, qid), limit, meanwhile));
	require_success("Delete I/O Completion Queue", queue_.run(queue_command(NVME_ADMIN_DELETE_CQ, qid), limit));
	table_.give(qid);
}

} // namespace hz
