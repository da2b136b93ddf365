/* Port: the queue pair as a replay thread sees it; the device behind it may be a test's. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "session/nvme/queue_pair.hpp"
#include "workload/source.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace hz::replay {

/* The contract is that of hz::QueuePair. */
class Port {
public:
	virtual ~Port() = default;
	virtual unsigned qid() const = 0;
	virtual uint32_t turnaround_ns() const = 0;
	virtual std::optional<uint16_t> acquire() = 0;
	virtual void release(uint16_t cid) = 0;
	virtual std::span<std::byte> data(uint16_t cid) = 0;
	virtual uint64_t submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns) = 0;
	virtual std::span<const Completion> wait(unsigned wanted) = 0;
	virtual void open(uint64_t first_arrival_ns) = 0;
	virtual void promise() = 0; /* nothing more until a further completion is seen */
	virtual void close() = 0;
};

/* Wraps another port to observe its commands. */
class PassingPort : public Port {
public:
	explicit PassingPort(Port &behind) : behind_(behind) {}
	unsigned qid() const override { return behind_.qid(); }
	uint32_t turnaround_ns() const override { return behind_.turnaround_ns(); }
	std::optional<uint16_t> acquire() override { return behind_.acquire(); }
	void release(uint16_t cid) override { behind_.release(cid); }
	std::span<std::byte> data(uint16_t cid) override { return behind_.data(cid); }
	void open(uint64_t first_arrival_ns) override { behind_.open(first_arrival_ns); }
	void promise() override { behind_.promise(); }
	void close() override { behind_.close(); }

protected:
	Port &behind_;
};

class QueuePort : public Port {
public:
	explicit QueuePort(QueuePair &queue) : queue_(queue) {}
	unsigned qid() const override { return queue_.qid(); }
	uint32_t turnaround_ns() const override { return queue_.turnaround_ns(); }
	std::optional<uint16_t> acquire() override { return queue_.acquire(); }
	void release(uint16_t cid) override { queue_.release(cid); }
	std::span<std::byte> data(uint16_t cid) override { return queue_.data(cid); }
	uint64_t submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns) override;
	std::span<const Completion> wait(unsigned wanted) override { return queue_.wait(wanted); }
	void open(uint64_t first_arrival_ns) override { queue_.open(first_arrival_ns); }
	void promise() override { queue_.promise_nothing_more(); }
	void close() override { queue_.close(); }

private:
	QueuePair &queue_;
};

} // namespace hz::replay
