// QueuePair: submission, completion and the time promises of one queue.
#include "session/queue_pair.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <time.h>

#include "session/error.hpp"
#include "session/futex.hpp"
#include "session/machine.hpp"

namespace hz {

using namespace std::chrono_literals;

namespace {

constexpr int spins_before_sleep = 64;
constexpr auto longest_sleep = 100ms;       // then look whether the machine lives
constexpr std::chrono::microseconds longest_nap = 500us; // between two looks under the real clock
constexpr uint64_t page = 4096;

uint64_t list_bytes(uint64_t data_bytes) { return std::max<uint64_t>(page, (data_bytes / page * 8 + page - 1) & ~(page - 1)); }
uint64_t rounded(uint64_t bytes) { return (bytes + page - 1) & ~(page - 1); }

template <class Word> Word load(const Word &word)
{
	return std::atomic_ref(const_cast<Word &>(word)).load(std::memory_order_acquire);
}
template <class Word> void store(Word &word, Word value) { std::atomic_ref(word).store(value, std::memory_order_release); }

nvme_sqe io(uint8_t opcode, uint64_t lba, uint32_t sectors)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.nsid = 1;
	sqe.cdw10 = static_cast<uint32_t>(lba);
	sqe.cdw11 = static_cast<uint32_t>(lba >> 32);
	sqe.cdw12 = sectors ? (sectors - 1) & 0xffff : 0;
	return sqe;
}

// Bytes that a command moves by its own fields.
uint64_t implied_bytes(const nvme_sqe &sqe)
{
	switch (sqe.opcode) {
	case NVME_IO_READ:
	case NVME_IO_WRITE:
	case NVME_IO_ZONE_APPEND:
		return ((sqe.cdw12 & 0xffff) + 1ull) * HZ_SECTOR_BYTES;
	case NVME_IO_ZONE_MGMT_RECV:
		return (sqe.cdw12 + 1ull) * 4;
	default:
		return 0;
	}
}

} // namespace

uint64_t queue_bytes(const QueueOptions &o)
{
	return rounded(o.depth * sizeof(nvme_sqe)) + rounded(o.depth * sizeof(nvme_cqe)) +
	       o.depth * (rounded(o.data_bytes) + list_bytes(o.data_bytes));
}

QueuePair::QueuePair(Machine &machine, unsigned qid, const QueueOptions &options, BusAddress shadow_doorbells)
	: machine_(machine), region_(machine.region()), qid_(qid), options_(options), virtual_clock_(region_.virtual_clock()),
	  clock_(region_.queue_clock(qid)), list_stride_(list_bytes(options.data_bytes))
{
	if (qid < 1 || options.depth < 2 || options.depth > HZ_MAX_QUEUE_DEPTH || options.data_bytes % page || options.data_bytes == 0)
		throw Error("a queue has an id of 1 to 64, 2 to 1024 slots and data buffers of whole 4 KiB");
	sq_ = region_.allocate(options.depth * sizeof(nvme_sqe));
	cq_ = region_.allocate(options.depth * sizeof(nvme_cqe));
	lists_ = region_.allocate(options.depth * list_stride_);
	data_ = region_.allocate(options.depth * options.data_bytes);
	auto *bells = reinterpret_cast<uint32_t *>(region_.at(shadow_doorbells, 8 * (qid + 1)));
	sq_doorbell_ = bells + 2 * qid;
	cq_doorbell_ = bells + 2 * qid + 1;
	store(*sq_doorbell_, 0u);
	store(*cq_doorbell_, 0u);
	std::memset(static_cast<void *>(&clock_), 0, sizeof(clock_));
	clock_.turnaround_ns = options.turnaround_ns;
	for (unsigned cid = 0; cid + 1 < options.depth; cid++)
		free_.push_back(static_cast<uint16_t>(cid));
	free_.push_back(0);
	free_tail_ = free_count_ = options.depth - 1;
	arrival_.resize(options.depth);
	batch_.reserve(options.depth);
}

std::optional<uint16_t> QueuePair::acquire()
{
	if (!free_count_)
		return std::nullopt;
	uint16_t cid = free_[free_head_];
	free_head_ = (free_head_ + 1) % free_.size();
	free_count_--;
	return cid;
}

void QueuePair::release(uint16_t cid)
{
	if (cid >= options_.depth - 1 || free_count_ >= options_.depth - 1)
		throw Error("command id " + std::to_string(cid) + " was released twice or never acquired");
	free_[free_tail_] = cid;
	free_tail_ = (free_tail_ + 1) % free_.size();
	free_count_++;
}

BusAddress QueuePair::data_bus(uint16_t cid) const { return data_ + cid * options_.data_bytes; }
BusAddress QueuePair::list_bus(uint16_t cid) const { return lists_ + cid * list_stride_; }

std::span<std::byte> QueuePair::data(uint16_t cid) const
{
	return {region_.at(data_bus(cid), options_.data_bytes), options_.data_bytes};
}

nvme_sqe QueuePair::read(uint64_t lba, uint32_t sectors) { return io(NVME_IO_READ, lba, sectors); }
nvme_sqe QueuePair::append(uint64_t start, uint32_t sectors) { return io(NVME_IO_ZONE_APPEND, start, sectors); }
nvme_sqe QueuePair::flush() { return io(NVME_IO_FLUSH, 0, 0); }
nvme_sqe QueuePair::write_zeroes(uint64_t lba, uint32_t sectors) { return io(NVME_IO_WRITE_ZEROES, lba, sectors); }

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

uint64_t QueuePair::submit(uint16_t cid, nvme_sqe sqe, uint64_t arrival_ns, uint64_t bytes)
{
	if (bytes == ~0ull)
		bytes = implied_bytes(sqe);
	if (bytes > options_.data_bytes)
		throw Error("a command of " + std::to_string(bytes) + " bytes does not fit the queue's buffers of " +
			    std::to_string(options_.data_bytes));
	PrpPair pair = build_prps(region_, data_bus(cid), bytes, list_bus(cid));
	sqe.prp1 = pair.prp1;
	sqe.prp2 = pair.prp2;
	return submit_raw(cid, sqe, arrival_ns);
}

uint64_t QueuePair::submit_raw(uint16_t cid, nvme_sqe sqe, uint64_t arrival_ns)
{
	if (outstanding_ + 1 >= options_.depth)
		throw Error("the submission queue " + std::to_string(qid_) + " is full");
	if (virtual_clock_ && open_ && horizon_ns_ != UINT64_MAX && arrival_ns < horizon_ns_ && consumed_ == published_)
		throw Error("a command arrives at " + std::to_string(arrival_ns) + " ns, before the promised " + std::to_string(horizon_ns_));
	arrival_ns = virtual_clock_ ? std::max(arrival_ns, last_arrival_ns_) : host_ns();
	last_arrival_ns_ = arrival_ns;
	size_t slot = submitted_ % options_.depth;
	sqe.cid = cid;
	std::memcpy(region_.at(sq_ + slot * sizeof(sqe), sizeof(sqe)), &sqe, sizeof(sqe));
	store(clock_.arrival_ns[slot], arrival_ns);
	arrival_[cid] = arrival_ns;
	submitted_++;
	outstanding_++;
	return arrival_ns;
}

std::span<const Completion> QueuePair::reap()
{
	batch_.clear();
	while (batch_.size() < options_.depth) {
		size_t slot = consumed_ % options_.depth;
		auto *cqe = reinterpret_cast<nvme_cqe *>(region_.at(cq_ + slot * sizeof(nvme_cqe), sizeof(nvme_cqe)));
		uint16_t status = load(cqe->status);
		bool phase = consumed_ / options_.depth % 2 == 0;
		if ((status & 1) != phase)
			break;
		if (cqe->cid >= options_.depth || !outstanding_)
			throw Error("the device completed a command that was never submitted (id " + std::to_string(cqe->cid) + ")");
		Completion c{};
		c.cid = cqe->cid;
		c.status = status >> 1 & 0x7ff;
		c.do_not_retry = status >> 15;
		c.result = cqe->dw0 | static_cast<uint64_t>(cqe->dw1) << 32;
		c.arrival_ns = arrival_[c.cid];
		c.completed_ns = virtual_clock_ ? load(clock_.completed_ns[slot]) : host_ns();
		last_completion_ns_ = std::max(last_completion_ns_, c.completed_ns);
		batch_.push_back(c);
		consumed_++;
		outstanding_--;
	}
	return batch_;
}

std::span<const Completion> QueuePair::wait()
{
	auto sleep = 20us;
	for (bool long_wait = false; outstanding_;) {
		if (auto done = reap(); !done.empty())
			return done;
		if (long_wait)
			machine_.check_waiting();
		else
			machine_.check();
		if (virtual_clock_) {
			long_wait = !sleep_for_completion();
		} else {
			long_wait = sleep == longest_nap;
			std::this_thread::sleep_for(sleep);
			sleep = std::min(sleep * 2, longest_nap);
		}
	}
	batch_.clear();
	return batch_;
}

// Spins a little, then asks to be woken. `waiters` is stored before `completed` is read again, the HIL does the reverse.
// False if nothing came for as long as a sleep may last.
bool QueuePair::sleep_for_completion()
{
	for (int i = 0; i < spins_before_sleep; i++) {
		if (load(clock_.completed) > consumed_)
			return true;
		std::this_thread::yield();
	}
	auto *word = reinterpret_cast<uint32_t *>(&clock_.completed);
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
	publish(first_arrival_ns);
	open_ = true;
	store(clock_.open, 1u);
	region_.ring_bell();
}

void QueuePair::promise_until(uint64_t horizon_ns)
{
	publish(horizon_ns);
	region_.ring_bell();
}

void QueuePair::close()
{
	if (outstanding_)
		throw Error("queue " + std::to_string(qid_) + " is closed with commands outstanding");
	// The device may have run up to the last promise already: where time stands must not depend on when it sees the end.
	uint64_t end = consumed_ ? last_completion_ns_ + options_.turnaround_ns : 0;
	publish(horizon_ns_ == UINT64_MAX ? end : std::max(end, horizon_ns_));
	open_ = false;
	store(clock_.open, 0u);
	region_.ring_bell();
}

Completion QueuePair::run(nvme_sqe sqe, std::span<const std::byte> out, std::span<std::byte> in)
{
	auto cid = acquire();
	if (!cid || outstanding_ || open_)
		throw Error("queue " + std::to_string(qid_) + " is busy");
	auto buffer = data(*cid);
	std::copy_n(out.begin(), std::min(out.size(), buffer.size()), buffer.begin());
	submit(*cid, sqe, last_completion_ns_ + options_.turnaround_ns);
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
