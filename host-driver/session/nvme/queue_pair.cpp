// QueuePair: submission, completion and the time promises of one queue.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/nvme/queue_pair.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>
#include <time.h>

#include "session/machine/error.hpp"
#include "session/machine/shared_word.hpp"
#include "session/machine/futex.hpp"
#include "session/machine/machine.hpp"

namespace hz {

using namespace std::chrono_literals;

namespace {

constexpr auto longest_sleep = 100ms;                    // then look whether the machine lives
constexpr std::chrono::microseconds longest_nap = 500us; // between two looks under the real clock

constexpr uint64_t most_data = uint64_t(HZ_MAX_TRANSFER_SECTORS) * HZ_SECTOR_BYTES;

uint64_t rounded(uint64_t bytes) { return (bytes + host_page_bytes - 1) & ~(host_page_bytes - 1); }

nvme_sqe io(uint8_t opcode, uint64_t lba, uint32_t sectors)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.nsid = QueuePair::own_namespace;
	sqe.cdw10 = static_cast<uint32_t>(lba);
	sqe.cdw11 = static_cast<uint32_t>(lba >> 32);
	sqe.cdw12 = sectors ? (sectors - 1) & 0xffff : 0;
	return sqe;
}

} // namespace

QueueLayout layout_of(const QueueOptions &o)
{
	if (o.depth < 2 || o.depth > HZ_MAX_QUEUE_DEPTH)
		throw Error("a queue has 2 to " + std::to_string(HZ_MAX_QUEUE_DEPTH) + " slots, not " + std::to_string(o.depth));
	if (!o.data_bytes || o.data_bytes % host_page_bytes || o.data_bytes > most_data)
		throw Error("a queue's data buffers have 1 to " + std::to_string(HZ_MAX_TRANSFER_SECTORS) + " blocks of 4 KiB, not " +
			    std::to_string(o.data_bytes) + " bytes");
	QueueLayout l{};
	l.list_stride = rounded(o.data_bytes / host_page_bytes * sizeof(uint64_t));
	l.cq = rounded(o.depth * sizeof(nvme_sqe));
	l.lists = l.cq + rounded(o.depth * sizeof(nvme_cqe));
	l.tuples = l.lists + o.depth * l.list_stride;
	l.data = l.tuples + rounded(o.depth * QueueTuples::bytes_per_id(o.data_bytes / HZ_SECTOR_BYTES));
	l.bytes = l.data + o.depth * o.data_bytes;
	return l;
}

QueuePair::QueuePair(Machine &machine, const QueueGrant &grant, const QueueOptions &options)
	: machine_(machine), region_(machine.region()), promises_(machine), qid_(grant.qid), options_(options), layout_(layout_of(options)),
	  virtual_clock_(region_.virtual_clock()), clock_(region_.queue_clock(grant.qid)), memory_(grant.memory), free_(options.depth),
	  id_(options.depth), arrival_(options.depth)
{
	auto *bells = reinterpret_cast<uint32_t *>(region_.at(grant.doorbells, 4096));
	sq_doorbell_ = bells + 2 * qid_;
	cq_doorbell_ = bells + 2 * qid_ + 1;
	clock_.turnaround_ns = options.turnaround_ns;
	std::iota(free_.begin(), free_.end(), uint16_t(0)); // the last one is room
	free_tail_ = free_count_ = options.depth - 1;
	batch_.reserve(options.depth);
	if (region_.config().protection != HZ_PROTECTION_NONE)
		tuples_.emplace(region_, memory_ + layout_.tuples, options.depth, options.data_bytes / HZ_SECTOR_BYTES);
}

std::optional<uint16_t> QueuePair::acquire()
{
	if (!free_count_)
		return std::nullopt;
	uint16_t cid = free_[free_head_];
	free_head_ = (free_head_ + 1) % free_.size();
	free_count_--;
	id_[cid] = IdState::acquired;
	return cid;
}

void QueuePair::release(uint16_t cid)
{
	if (cid >= id_.size() || id_[cid] != IdState::acquired)
		throw Error("command id " + std::to_string(cid) + " was released twice, never acquired, or is under way");
	id_[cid] = IdState::free;
	free_[free_tail_] = cid;
	free_tail_ = (free_tail_ + 1) % free_.size();
	free_count_++;
}

BusAddress QueuePair::data_bus(uint16_t cid) const { return memory_ + layout_.data + cid * options_.data_bytes; }
BusAddress QueuePair::list_bus(uint16_t cid) const { return memory_ + layout_.lists + cid * layout_.list_stride; }

std::span<std::byte> QueuePair::data(uint16_t cid) const { return {region_.at(data_bus(cid), options_.data_bytes), options_.data_bytes}; }

nvme_sqe QueuePair::read(uint64_t lba, uint32_t sectors) { return io(NVME_IO_READ, lba, sectors); }
nvme_sqe QueuePair::append(uint64_t start, uint32_t sectors) { return io(NVME_IO_ZONE_APPEND, start, sectors); }
nvme_sqe QueuePair::flush() { return io(NVME_IO_FLUSH, 0, 0); }
nvme_sqe QueuePair::write_zeroes(uint64_t lba, uint32_t sectors) { return io(NVME_IO_WRITE_ZEROES, lba, sectors); }
nvme_sqe QueuePair::write_uncorrectable(uint64_t lba, uint32_t sectors) { return io(NVME_IO_WRITE_UNCORRECTABLE, lba, sectors); }
nvme_sqe QueuePair::compare(uint64_t lba, uint32_t sectors) { return io(NVME_IO_COMPARE, lba, sectors); }
nvme_sqe QueuePair::verify(uint64_t lba, uint32_t sectors) { return io(NVME_IO_VERIFY, lba, sectors); }

nvme_sqe QueuePair::deallocate(uint32_t ranges)
{
	nvme_sqe sqe = io(NVME_IO_DATASET_MANAGEMENT, ranges - 1, 0);
	sqe.cdw11 = NVME_DSM_DEALLOCATE;
	sqe.cdw12 = 0;
	return sqe;
}

nvme_sqe QueuePair::no_operation()
{
	nvme_sqe sqe = deallocate(1);
	sqe.cdw11 = 0;
	return sqe;
}

nvme_sqe QueuePair::copy(uint64_t to_lba, uint32_t ranges, bool append)
{
	nvme_sqe sqe = io(NVME_IO_COPY, to_lba, ranges);
	sqe.cdw3 = append ? NVME_COPY_APPEND : 0;
	return sqe;
}

nvme_sqe QueuePair::write(uint64_t lba, uint32_t sectors, bool fua)
{
	nvme_sqe sqe = io(NVME_IO_WRITE, lba, sectors);
	sqe.cdw12 |= fua ? 1u << 30 : 0;
	return sqe;
}

nvme_sqe QueuePair::zone_send(uint64_t start, nvme_zone_send_action action, bool all)
{
	nvme_sqe sqe = io(NVME_IO_ZONE_MGMT_SEND, start, 0);
	sqe.cdw13 = static_cast<uint32_t>(action) | (all ? 1u << 8 : 0);
	return sqe;
}

nvme_sqe QueuePair::zone_report(uint64_t start, uint32_t bytes, bool partial)
{
	nvme_sqe sqe = io(NVME_IO_ZONE_MGMT_RECV, start, 0);
	sqe.cdw12 = bytes / 4 - 1;
	sqe.cdw13 = partial ? 1u << 16 : 0;
	return sqe;
}

void QueuePair::check_bytes(uint64_t bytes) const
{
	if (bytes > options_.data_bytes)
		throw Error("a command of " + std::to_string(bytes) + " bytes does not fit the queue's buffers of " +
			    std::to_string(options_.data_bytes));
}

// A completion can be followed only while the ring still has its time (protocol/shm.h).
void QueuePair::check_rule(uint64_t rule) const
{
	const uint64_t back = hz_arrival_back(rule), think_ns = hz_arrival_think_ns(rule);
	if (!virtual_clock_)
		throw Error("under the real clock no command follows a completion by itself");
	if (!back || back > submitted_ || back >= options_.depth)
		throw Error("a command cannot follow a completion " + std::to_string(back) + " before its own: " +
			    std::to_string(submitted_) + " commands were placed in a queue of " + std::to_string(options_.depth));
	if (think_ns > HZ_ARRIVAL_MOST_NS)
		throw Error("a pause of " + std::to_string(think_ns) + " ns is longer than device time (26 days)");
}

void QueuePair::check_arrival(uint64_t arrival_ns) const
{
	if (arrival_ns & HZ_ARRIVAL_FOLLOWS) {
		check_rule(arrival_ns);
		return;
	}
	if (!virtual_clock_)
		return;
	if (!following_.empty())
		throw Error("a command that follows none is placed behind one that follows a completion");
	if (arrival_ns > HZ_ARRIVAL_MOST_NS)
		throw Error("a command arrives at " + std::to_string(arrival_ns) + " ns, behind the end of device time at " +
			    std::to_string(HZ_ARRIVAL_MOST_NS) + " ns (26 days)");
	if (open_ && horizon_ns_ != UINT64_MAX && arrival_ns < horizon_ns_ && consumed_ == published_)
		throw Error("a command arrives at " + std::to_string(arrival_ns) + " ns, before the promised " +
			    std::to_string(horizon_ns_));
}

void QueuePair::check_horizon(uint64_t horizon_ns) const
{
	if (virtual_clock_ && horizon_ns > HZ_ARRIVAL_MOST_NS && horizon_ns != UINT64_MAX)
		throw Error("a promise until " + std::to_string(horizon_ns) + " ns is behind the end of device time at " +
			    std::to_string(HZ_ARRIVAL_MOST_NS) + " ns (26 days): promise nothing more instead");
}

void QueuePair::check_submit(uint16_t cid, uint64_t arrival_ns) const
{
	if (cid >= id_.size() || id_[cid] != IdState::acquired)
		throw Error("command id " + std::to_string(cid) + " is not acquired, or under way already");
	check_arrival(arrival_ns);
}

uint16_t QueuePair::buffer_of(uint16_t cid, const nvme_sqe &sqe) const
{
	const bool writes = sqe.opcode == NVME_IO_WRITE || sqe.opcode == NVME_IO_ZONE_APPEND;
	return options_.writes_zeros && writes ? static_cast<uint16_t>(options_.depth - 1) : cid;
}

uint32_t QueuePair::namespace_of(const nvme_sqe &sqe) const { return sqe.nsid == own_namespace ? options_.nsid : sqe.nsid; }

uint64_t QueuePair::submit(uint16_t cid, nvme_sqe sqe, uint64_t arrival_ns, uint64_t bytes)
{
	if (bytes == ~0ull)
		bytes = bytes_of(sqe);
	check_bytes(bytes);
	check_submit(cid, arrival_ns);
	sqe.nsid = namespace_of(sqe);
	const uint16_t buffer = buffer_of(cid, sqe);
	PrpPair pair = build_prps(region_, data_bus(buffer), bytes, list_bus(cid));
	sqe.prp1 = pair.prp1;
	sqe.prp2 = pair.prp2;
	if (tuples_)
		tuples_->protect(cid, sqe, data(buffer));
	promises_.before(sqe, data(buffer));
	return place(cid, sqe, arrival_ns);
}

uint64_t QueuePair::submit_raw(uint16_t cid, nvme_sqe sqe, uint64_t arrival_ns)
{
	check_submit(cid, arrival_ns);
	sqe.nsid = namespace_of(sqe);
	promises_.before(sqe, {});
	return place(cid, sqe, arrival_ns);
}

// Encodes a command's arrival in the record: its time, or the rule for it.
uint64_t QueuePair::arrival_word(uint64_t arrival_ns)
{
	if (arrival_ns & HZ_ARRIVAL_FOLLOWS)
		return arrival_ns;
	return last_arrival_ns_ = virtual_clock_ ? std::max(arrival_ns, last_arrival_ns_) : host_ns();
}

uint64_t QueuePair::place(uint16_t cid, nvme_sqe sqe, uint64_t arrival_ns)
{
	arrival_ns = arrival_word(arrival_ns);
	size_t slot = submitted_ % options_.depth;
	sqe.cid = cid;
	std::memcpy(region_.at(sq_base() + slot * sizeof(sqe), sizeof(sqe)), &sqe, sizeof(sqe));
	store(clock_.arrival_ns[slot], arrival_ns);
	arrival_[cid] = arrival_ns;
	if (arrival_ns & HZ_ARRIVAL_FOLLOWS)
		following_.push_back({cid, submitted_ - hz_arrival_back(arrival_ns), hz_arrival_think_ns(arrival_ns)});
	date_followers();
	id_[cid] = IdState::under_way;
	submitted_++;
	outstanding_++;
	return arrival_ns;
}

Completion QueuePair::completion_of(const nvme_cqe &cqe, uint16_t status, size_t slot) const
{
	Completion c{};
	c.cid = cqe.cid;
	c.status = status >> 1 & 0x7ff;
	c.do_not_retry = status >> 15;
	c.result = cqe.dw0 | static_cast<uint64_t>(cqe.dw1) << 32;
	c.arrival_ns = virtual_clock_ ? std::max(arrival_[c.cid], load(clock_.opened_ns)) : arrival_[c.cid];
	c.completed_ns = virtual_clock_ ? load(clock_.completed_ns[slot]) : host_ns();
	return c;
}

// Those that follow a completion arrive as the HIL finds it, too (protocol/shm.h).
void QueuePair::date_followers()
{
	for (; !following_.empty() && following_.front().completion < consumed_; following_.pop_front()) {
		const Following &next = following_.front();
		const uint64_t after_ns = load(clock_.completed_ns[next.completion % options_.depth]) + options_.turnaround_ns;
		last_arrival_ns_ = std::max(last_arrival_ns_, after_ns) + next.think_ns;
		arrival_[next.cid] = last_arrival_ns_;
	}
}

void QueuePair::note_completed(const Completion &c)
{
	last_completion_ns_ = std::max(last_completion_ns_, c.completed_ns);
	id_[c.cid] = IdState::acquired;
	consumed_++;
	outstanding_--;
	date_followers();
}

// The data may have changed between the controller's check and here.
void QueuePair::check_tuples(Completion &c) const
{
	if (tuples_ && !c.status)
		c.status = tuples_->check(c.cid, data(c.cid));
}

bool QueuePair::ready() const
{
	const size_t slot = consumed_ % options_.depth;
	const auto *cqe = reinterpret_cast<const nvme_cqe *>(region_.at(cq_base() + slot * sizeof(nvme_cqe), sizeof(nvme_cqe)));
	return (load(cqe->status) & 1) == (consumed_ / options_.depth % 2 == 0);
}

std::span<const Completion> QueuePair::reap()
{
	batch_.clear();
	while (batch_.size() < options_.depth) {
		size_t slot = consumed_ % options_.depth;
		auto *cqe = reinterpret_cast<nvme_cqe *>(region_.at(cq_base() + slot * sizeof(nvme_cqe), sizeof(nvme_cqe)));
		uint16_t status = load(cqe->status);
		bool phase = consumed_ / options_.depth % 2 == 0;
		if ((status & 1) != phase)
			break;
		if (cqe->cid >= id_.size() || id_[cqe->cid] != IdState::under_way)
			throw Error("the device completed a command that was never submitted (id " + std::to_string(cqe->cid) + ")");
		batch_.push_back(completion_of(*cqe, status, slot));
		check_tuples(batch_.back());
		note_completed(batch_.back());
	}
	return batch_;
}

std::span<const Completion> QueuePair::wait(unsigned wanted)
{
	auto sleep = 20us;
	for (bool long_wait = false; outstanding_;) {
		if (auto done = reap(); !done.empty())
			return done;
		check_device(long_wait);
		if (virtual_clock_) {
			long_wait = !sleep_for_completions(std::min(wanted, outstanding_));
		} else {
			long_wait = sleep == longest_nap;
			std::this_thread::sleep_for(sleep);
			sleep = std::min(sleep * 2, longest_nap);
		}
	}
	batch_.clear();
	return batch_;
}

void QueuePair::check_device(bool long_wait) const
{
	if (long_wait)
		machine_.check_waiting();
	else
		machine_.check();
	if (load(clock_.broken))
		throw Error("the device takes no more commands from queue " + std::to_string(qid_) +
			    ": a doorbell or a time of its was impossible; delete the queue");
}

// Asks to be woken: `wake_at` and then `waiters` are stored before `completed` is read again, the
// HIL does the reverse. A thread that asks for more than one completion and finds one does not
// sleep: the HIL may wait for this thread's next step, and wakes only threads that had asked
// before. No yields before sleeping: on a busy host each yield puts the thread behind computing
// threads for their whole time slices. False if nothing came within the longest sleep.
bool QueuePair::sleep_for_completions(unsigned wanted)
{
	auto *word = reinterpret_cast<uint32_t *>(&clock_.completed);
	store(clock_.wake_at, consumed_ + wanted);
	std::atomic_ref(clock_.waiters).store(1, std::memory_order_seq_cst);
	uint64_t seen = std::atomic_ref(clock_.completed).load(std::memory_order_seq_cst);
	return seen > consumed_ || futex_wait(word, static_cast<uint32_t>(seen), longest_sleep);
}

// Order as protocol/shm.h states it: commands, submitted, doorbells, horizon, seen.
void QueuePair::publish(uint64_t horizon_ns)
{
	auto index = [this](uint64_t count) { return static_cast<uint32_t>(count % options_.depth); };
	store(clock_.submitted, submitted_);
	store(*sq_doorbell_, index(submitted_));
	store(clock_.horizon_ns, horizon_ns);
	store(*cq_doorbell_, index(consumed_));
	store(clock_.seen, consumed_);
	published_ = consumed_;
	horizon_ns_ = horizon_ns;
}

void QueuePair::open(uint64_t first_arrival_ns)
{
	if (open_)
		throw Error("queue " + std::to_string(qid_) + " takes part in device time already");
	check_horizon(first_arrival_ns);
	publish(first_arrival_ns);
	open_ = true;
	store(clock_.open, 1u);
	region_.ring_bell();
}

void QueuePair::promise_quietly(uint64_t horizon_ns)
{
	check_horizon(horizon_ns);
	publish(horizon_ns);
}

void QueuePair::ring() const { region_.ring_bell(); }

void QueuePair::promise_until(uint64_t horizon_ns)
{
	promise_quietly(horizon_ns);
	ring();
}

void QueuePair::close()
{
	if (outstanding_)
		throw Error("queue " + std::to_string(qid_) + " is closed with commands outstanding");
	// The device may already have run up to the last promise: the end of device time must not
	// depend on when it sees this one.
	uint64_t end = consumed_ ? last_completion_ns_ + options_.turnaround_ns : 0;
	publish(horizon_ns_ == UINT64_MAX ? end : std::max(end, horizon_ns_));
	open_ = false;
	store(clock_.open, 0u);
	region_.ring_bell();
}

Completion QueuePair::run(nvme_sqe sqe, std::span<const std::byte> out, std::span<std::byte> in, uint64_t later_ns)
{
	if (!can_acquire() || outstanding_ || open_)
		throw Error("queue " + std::to_string(qid_) + " is busy");
	const uint64_t arrival_ns = next_arrival_ns() + later_ns;
	check_bytes(std::max<uint64_t>(bytes_of(sqe), out.size()));
	check_arrival(arrival_ns);
	const auto cid = acquire();
	auto buffer = data(*cid);
	std::copy(out.begin(), out.end(), buffer.begin());
	submit(*cid, sqe, arrival_ns);
	if (virtual_clock_)
		open(UINT64_MAX);
	else
		promise_nothing_more();
	Completion result = wait().front();
	if (virtual_clock_)
		close();
	else
		promise_nothing_more();
	std::copy_n(buffer.begin(), std::min(in.size(), buffer.size()), in.begin());
	release(*cid);
	return result;
}

uint64_t QueuePair::host_ns() const
{
	timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace hz
