// RamBackend: a device in memory that answers a target's requests; commands may be held back.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <sys/eventfd.h>
#include <vector>

#include "fabrics/backend.hpp"

namespace hz::test {

// A device file's block or zoned namespaces, only their data: without zone state.
class RamBackend final : public fabrics::Backend {
public:
	explicit RamBackend(uint64_t blocks, unsigned lanes = 2)
		: memory_(blocks * HZ_SECTOR_BYTES), waiting_(lanes), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
	{
	}

	unsigned lanes() const override { return static_cast<unsigned>(waiting_.size()); }
	void use(unsigned) override {}
	int event_fd() const override { return event_.get(); }
	void admin(fabrics::JobPtr job) override
	{
		admin_.push_back(std::move(job));
		eventfd_write(event_.get(), 1);
	}
	void io(unsigned lane, fabrics::JobPtr job) override { waiting_[lane].push_back(std::move(job)); }
	bool withdraw(unsigned lane, const fabrics::JobPtr &job) override { return std::erase(waiting_[lane], job) != 0; }
	std::chrono::nanoseconds turn() override
	{
		eventfd_t count;
		eventfd_read(event_.get(), &count);
		for (auto jobs = std::exchange(admin_, {}); const auto &job : jobs) {
			run_admin(*job);
			job->done(*job);
		}
		for (auto &lane : waiting_)
			for (; !holds_ && !lane.empty(); lane.pop_front()) {
				const auto job = lane.front();
				run(*job);
				job->done(*job);
			}
		return holds_ ? std::chrono::milliseconds(1) : fabrics::no_hurry;
	}

	// I/O commands wait from now on, until it is false.
	void hold(bool holds) { holds_ = holds; }
	std::vector<uint32_t> attached{1};
	std::atomic<uint64_t> commands{0};

private:
	void run_admin(fabrics::Job &job)
	{
		job.answer = {};
		if (job.sqe.opcode == NVME_ADMIN_NAMESPACE_ATTACHMENT) {
			const auto list = fabrics::read_record<nvme_controller_list>(job.out);
			if (list.count != 1 || list.id[0] != NVME_HZ_CONTROLLER_ID) {
				job.answer.status = NVME_CONTROLLER_LIST;
				return;
			}
			attached.clear();
			if (!(job.sqe.cdw10 & 0xf))
				attached.push_back(1);
			return;
		}
		if (job.sqe.opcode != NVME_ADMIN_IDENTIFY) {
			job.answer.status = job.sqe.opcode == NVME_ADMIN_GET_LOG_PAGE ? 0 : NVME_INVALID_OPCODE;
			return;
		}
		const std::span<std::byte> page(job.in);
		switch (job.sqe.cdw10 & 0xff) {
		case NVME_CNS_NAMESPACE: {
			nvme_identify_namespace id{};
			id.nsze = id.ncap = memory_.size() / HZ_SECTOR_BYTES;
			id.lbaf[0].lbads = HZ_SECTOR_SHIFT;
			return fabrics::write_record(page, id);
		}
		case NVME_CNS_ACTIVE_NAMESPACES:
			for (size_t i = 0; i < attached.size(); i++)
				fabrics::write_record(page, attached[i], 4 * i);
			return;
		default: return;
		}
	}

	void run(fabrics::Job &job)
	{
		commands++;
		job.answer = {};
		const uint64_t at = (job.sqe.cdw10 | static_cast<uint64_t>(job.sqe.cdw11) << 32) * HZ_SECTOR_BYTES;
		const uint64_t bytes = QueuePair::bytes_of(job.sqe);
		const bool moves = job.sqe.opcode == NVME_IO_READ || job.sqe.opcode == NVME_IO_WRITE;
		if (moves && (at > memory_.size() || bytes > memory_.size() - at)) {
			job.answer = {NVME_LBA_OUT_OF_RANGE, true, 0};
		} else if (job.sqe.opcode == NVME_IO_WRITE) {
			std::copy_n(job.out.begin(), bytes, memory_.begin() + static_cast<ptrdiff_t>(at));
		} else if (job.sqe.opcode == NVME_IO_READ) {
			std::copy_n(memory_.begin() + static_cast<ptrdiff_t>(at), bytes, job.in.begin());
		}
	}

	std::vector<std::byte> memory_;
	std::vector<std::deque<fabrics::JobPtr>> waiting_;
	std::deque<fabrics::JobPtr> admin_;
	Descriptor event_;
	std::atomic<bool> holds_{false};
};

} // namespace hz::test
