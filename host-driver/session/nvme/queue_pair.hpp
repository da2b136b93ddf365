// QueuePair: one I/O submission and completion queue, used by one thread.
//
// Life of a command:  acquire() → fill data() → submit() → reap() → look at data() → release().
// A command id owns a fixed data buffer and PRP list; ids are handed out in the order in which they were released, so that
// with a deterministic device nothing depends on how host threads were scheduled.
//
// Virtual clock: commands carry their arrival time; after each round of reap() and submit() the thread must promise how long
// the device may go on alone, with promise_until() or promise_nothing_more(). Only a promise publishes what was submitted and
// reaped (the doorbells), so one round costs one wake-up. Under the real clock a promise just rings the doorbells.
//
//	qp.open(first_arrival_ns);
//	while (work) {
//		for (auto &c : qp.wait()) { … qp.release(c.cid); }
//		while (auto cid = qp.acquire()) qp.submit(*cid, qp.write(lba, sectors), arrival_ns);
//		qp.promise_nothing_more();
//	}
//	qp.close();
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "nvme.h"
#include "promise_file.hpp"
#include "prp.hpp"
#include "queue_tuples.hpp"
#include "session/machine/region.hpp"

namespace hz {

class Machine;

struct Completion {
	uint16_t cid;
	uint16_t status; // SCT << 8 | SC; 0 is success
	bool do_not_retry;
	uint64_t result;       // DW1:DW0; zone append: the assigned LBA
	uint64_t arrival_ns;   // as submitted; if the device first saw the queue open later than that, then
	uint64_t completed_ns; // visible to the host, interrupt included; host clock when the clock is real
	uint64_t latency_ns() const { return completed_ns - arrival_ns; }
};

struct QueueOptions {
	unsigned depth = 64;             // slots; at most depth - 1 commands are outstanding
	uint64_t data_bytes = 128 << 10; // buffer per command id: whole 4 KiB, at most 512 KiB
	uint32_t turnaround_ns = 4000;   // a command caused by a completion arrives at least this much later
	uint32_t nsid = 1;               // namespace that the queue's commands are for
	// Writes and appends send zeros from one shared buffer instead of their own: the device
	// reads every page of a buffer, and the kernel allocates each page on a read, even if it
	// was never filled.
	bool writes_zeros = false;
	nvme_queue_priority priority = NVME_QPRIO_URGENT; // counts with weighted round robin (Controller::enable)
};

// Offsets of the parts of a queue pair in its memory; the submission queue is at 0.
struct QueueLayout {
	uint64_t cq, lists, list_stride, tuples, data, bytes;
};
// Throws Error for options that no queue can have.
QueueLayout layout_of(const QueueOptions &options);

// A queue pair of the device: its id, its memory, and the page of the shadow doorbells.
struct QueueGrant {
	unsigned qid = 0;
	BusAddress memory = 0, doorbells = 0;
};

// A call that throws Error has changed nothing, unless the machine died.
class QueuePair {
public:
	// Made by Controller::create_queue, for a queue pair that has just been created: its memory and its record are zero.
	QueuePair(Machine &machine, const QueueGrant &grant, const QueueOptions &options);
	QueuePair(const QueuePair &) = delete;
	QueuePair &operator=(const QueuePair &) = delete;

	unsigned qid() const { return qid_; }
	unsigned depth() const { return options_.depth; }
	uint32_t nsid() const { return options_.nsid; }
	uint32_t turnaround_ns() const { return options_.turnaround_ns; }
	BusAddress sq_base() const { return memory_; }
	BusAddress cq_base() const { return memory_ + layout_.cq; }
	unsigned outstanding() const { return outstanding_; }
	bool is_open() const { return open_; }
	// When a command arrives that the last completion causes.
	uint64_t next_arrival_ns() const { return last_completion_ns_ + options_.turnaround_ns; }
	// Is there a completion to reap?
	bool ready() const;
	// Throws Error when the machine has died or the device takes no more commands.
	void check() const { check_device(false); }
	bool can_acquire() const { return free_count_ != 0; }

	// A free command id, or nothing when depth - 1 are taken.
	std::optional<uint16_t> acquire();
	void release(uint16_t cid);
	std::span<std::byte> data(uint16_t cid) const;
	BusAddress data_bus(uint16_t cid) const;
	BusAddress list_bus(uint16_t cid) const;

	// Builders of commands for the queue's namespace; submit() and submit_raw() replace
	// own_namespace. submit() adds the id, protection information if the device has it
	// (queue_tuples.hpp), and, for data_bytes != 0, the PRPs of its buffer.
	static constexpr uint32_t own_namespace = NVME_NSID_ALL - 1; // no device has so many
	static nvme_sqe read(uint64_t lba, uint32_t sectors);
	static nvme_sqe write(uint64_t lba, uint32_t sectors, bool fua = false);
	static nvme_sqe append(uint64_t zone_start_lba, uint32_t sectors);
	static nvme_sqe flush();
	static nvme_sqe write_zeroes(uint64_t lba, uint32_t sectors);
	static nvme_sqe write_uncorrectable(uint64_t lba, uint32_t sectors);
	static nvme_sqe compare(uint64_t lba, uint32_t sectors);
	static nvme_sqe verify(uint64_t lba, uint32_t sectors);
	static nvme_sqe deallocate(uint32_t ranges);
	static nvme_sqe no_operation(); // Dataset Management without an attribute
	static nvme_sqe copy(uint64_t to_lba, uint32_t ranges, bool append);
	static nvme_sqe zone_send(uint64_t zone_start_lba, nvme_zone_send_action action, bool all = false);
	static nvme_sqe zone_report(uint64_t start_lba, uint32_t bytes, bool partial = true);
	// Bytes that a command moves by its opcode and fields.
	static constexpr uint64_t bytes_of(const nvme_sqe &sqe);

	// Places a command. arrival_ns: device time of its doorbell, at most HZ_ARRIVAL_MOST_NS;
	// raised to the latest arrival so far if earlier (a queue is in order). A time before the
	// promised horizon is a bug in the caller and throws. Returns the arrival time used. Under
	// the virtual clock arrival_ns may also be hz_arrival_following(), for a command that
	// follows a future completion; until that has completed, only such commands may be placed
	// after it. data_bytes: of the id's buffer; ~0: taken from the opcode (sectors × 4096, or
	// none).
	uint64_t submit(uint16_t cid, nvme_sqe sqe, uint64_t arrival_ns, uint64_t data_bytes = ~0ull);
	// The same, PRPs and everything else as the caller made them, but the id and own_namespace.
	uint64_t submit_raw(uint16_t cid, nvme_sqe sqe, uint64_t arrival_ns);

	// Completions that are there now, in device order; the span lives until the next reap() or wait().
	std::span<const Completion> reap();
	// At least one completion; throws Error when the machine dies, Interrupted after Ctrl-C.
	// Empty if nothing is outstanding. Under the virtual clock promise first: unpublished
	// commands are not waited for. Preferably sleeps until there are `wanted`, or all.
	std::span<const Completion> wait(unsigned wanted = 1);

	// Horizon (virtual clock), at most HZ_ARRIVAL_MOST_NS or UINT64_MAX. open(): this queue
	// takes part in time from now on; nothing arrives before first_arrival_ns. A run with
	// several queues opens all of them with 0 before the first promise: until then device time
	// stands.
	void open(uint64_t first_arrival_ns = 0);
	void promise_until(uint64_t horizon_ns);
	void promise_nothing_more() { promise_until(UINT64_MAX); }
	// promise_until() of several queues: the device looks at them after ring().
	void promise_quietly(uint64_t horizon_ns);
	void ring() const;
	// No command will come any more; requires that nothing is outstanding.
	void close();

	// One command from acquire to release, for set-up code: opens nothing, waits for the answer. Under the virtual clock the
	// queue must not be open; it opens itself for this one command, arriving when the device is ready, and `later_ns` after that.
	Completion run(nvme_sqe sqe, std::span<const std::byte> out = {}, std::span<std::byte> in = {}, uint64_t later_ns = 0);

private:
	enum class IdState : uint8_t { free, acquired, under_way };
	// A command whose arrival is determined by the completion with this number, counted from
	// the queue's creation.
	struct Following {
		uint16_t cid;
		uint64_t completion, think_ns;
	};

	uint32_t namespace_of(const nvme_sqe &sqe) const;
	void check_submit(uint16_t cid, uint64_t arrival_ns) const;
	void check_bytes(uint64_t bytes) const;
	void check_arrival(uint64_t arrival_ns) const;
	void check_rule(uint64_t rule) const;
	void check_horizon(uint64_t horizon_ns) const;
	// The data buffer of a command: the id's own, or that of an id that is never acquired and
	// so stays zero.
	uint16_t buffer_of(uint16_t cid, const nvme_sqe &sqe) const;
	uint64_t arrival_word(uint64_t arrival_ns);
	uint64_t place(uint16_t cid, nvme_sqe sqe, uint64_t arrival_ns);
	Completion completion_of(const nvme_cqe &cqe, uint16_t status, size_t slot) const;
	void note_completed(const Completion &c);
	void date_followers();
	void check_tuples(Completion &c) const;
	void publish(uint64_t horizon_ns);
	bool sleep_for_completions(unsigned wanted);
	void check_device(bool long_wait) const;
	uint64_t host_ns() const;

	Machine &machine_;
	Region &region_;
	PromiseFile promises_;
	unsigned qid_;
	QueueOptions options_;
	QueueLayout layout_;
	bool virtual_clock_;
	hz_queue_clock &clock_;
	BusAddress memory_;
	uint32_t *sq_doorbell_, *cq_doorbell_;
	uint64_t submitted_ = 0, consumed_ = 0, published_ = 0;
	uint64_t last_arrival_ns_ = 0, last_completion_ns_ = 0, horizon_ns_ = 0;
	unsigned outstanding_ = 0, free_count_ = 0;
	size_t free_head_ = 0, free_tail_ = 0;
	bool open_ = false;
	std::vector<uint16_t> free_;
	std::vector<IdState> id_;
	std::vector<uint64_t> arrival_;   // by command id
	std::deque<Following> following_; // in the order of submission
	std::vector<Completion> batch_;
	std::optional<QueueTuples> tuples_; // of a device with protection information
};

constexpr uint64_t QueuePair::bytes_of(const nvme_sqe &sqe)
{
	switch (sqe.opcode) {
	case NVME_IO_READ:
	case NVME_IO_COMPARE:
	case NVME_IO_WRITE:
	case NVME_IO_ZONE_APPEND: return ((sqe.cdw12 & 0xffff) + 1ull) * HZ_SECTOR_BYTES;
	case NVME_IO_ZONE_MGMT_RECV: return (sqe.cdw12 + 1ull) * 4;
	case NVME_IO_MGMT_RECEIVE: return sqe.cdw10 & 0xff ? (sqe.cdw11 + 1ull) * 4 : 0;
	case NVME_IO_MGMT_SEND: return sqe.cdw10 & 0xff ? ((sqe.cdw10 >> NVME_IO_MGMT_FIELD_SHIFT) + 1) * sizeof(uint16_t) : 0;
	case NVME_IO_COPY: return ((sqe.cdw12 & 0xff) + 1) * sizeof(nvme_copy_range);
	case NVME_IO_DATASET_MANAGEMENT: return ((sqe.cdw10 & 0xff) + 1) * sizeof(nvme_dsm_range);
	default: return 0;
	}
}

} // namespace hz
