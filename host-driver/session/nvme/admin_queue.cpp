// AdminQueue: a waiting thread reaps completions for all.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/nvme/admin_queue.hpp"

#include <cstring>
#include <string>

#include "session/machine/error.hpp"

namespace hz {

using namespace std::chrono_literals;

void AdminQueue::place(BusAddress sq, BusAddress cq)
{
	std::lock_guard hold(lock_);
	sq_ = sq;
	cq_ = cq;
	tail_ = head_ = unanswered_ = 0;
	phase_ = true;
	under_way_.clear();
}

void AdminQueue::check_open() const
{
	if (closed_)
		throw Error("the owner of the device closed it or resets its controller");
}

AdminResult AdminQueue::run(nvme_sqe sqe, std::chrono::seconds limit, const Meanwhile &meanwhile)
{
	const auto until = link_.now() + limit;
	std::optional<uint16_t> cid;
	try {
		for (;;) {
			check_open();
			if (!cid)
				cid = submit(sqe);
			if (const auto answer = cid ? take(*cid) : std::nullopt)
				return *answer;
			if (meanwhile)
				meanwhile();
			link_.wait_irq(0, 20ms);
			if (link_.now() > until)
				throw Error("the controller did not answer an admin command within " + std::to_string(limit.count()) +
					    " s");
		}
	} catch (...) {
		if (cid)
			abandon(*cid);
		throw;
	}
}

// Nothing while the ring is full.
std::optional<uint16_t> AdminQueue::submit(nvme_sqe sqe)
{
	std::lock_guard hold(lock_);
	if (unanswered_ == depth - 1)
		return std::nullopt;
	while (under_way_.count(next_cid_))
		next_cid_++;
	sqe.cid = next_cid_++;
	std::memcpy(region_.at(sq_ + tail_ * sizeof(sqe), sizeof(sqe)), &sqe, sizeof(sqe));
	tail_ = (tail_ + 1) % depth;
	under_way_[sqe.cid] = {};
	unanswered_++;
	link_.write32(NVME_REG_DOORBELLS, tail_);
	return sqe.cid;
}

std::optional<AdminResult> AdminQueue::take(uint16_t cid)
{
	std::lock_guard hold(lock_);
	reap();
	const auto command = under_way_.find(cid);
	if (command == under_way_.end())
		throw Error("the controller was reset while an admin command was under way");
	const std::optional<AdminResult> answer = command->second.answer;
	if (answer)
		under_way_.erase(command);
	return answer;
}

void AdminQueue::reap()
{
	const unsigned before = head_;
	for (;;) {
		auto *cqe = reinterpret_cast<nvme_cqe *>(region_.at(cq_ + head_ * sizeof(nvme_cqe), sizeof(nvme_cqe)));
		if ((std::atomic_ref(cqe->status).load(std::memory_order_acquire) & 1) != phase_)
			break;
		note(*cqe);
		head_ = (head_ + 1) % depth;
		phase_ ^= head_ == 0;
	}
	if (head_ != before)
		link_.write32(NVME_REG_DOORBELLS + 4, head_);
}

void AdminQueue::note(const nvme_cqe &cqe)
{
	const auto command = under_way_.find(cqe.cid);
	if (command == under_way_.end() || command->second.answer)
		throw Error("the controller answered admin command " + std::to_string(cqe.cid) + ", which was not under way");
	unanswered_--;
	if (command->second.abandoned)
		under_way_.erase(command);
	else
		command->second.answer = AdminResult{static_cast<uint16_t>(cqe.status >> 1 & 0x7ff), cqe.status >> 15 != 0, cqe.dw0};
}

void AdminQueue::abandon(uint16_t cid)
{
	std::lock_guard hold(lock_);
	const auto command = under_way_.find(cid);
	if (command == under_way_.end())
		return;
	if (command->second.answer)
		under_way_.erase(command);
	else
		command->second.abandoned = true;
}

} // namespace hz
