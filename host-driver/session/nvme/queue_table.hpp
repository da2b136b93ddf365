// QueueTable: which queue ids are taken, by whom, and the region's memory that goes with them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "queue_pair.hpp"
#include "session/machine/region_heap.hpp"

namespace hz {

constexpr unsigned any_queue = 0; // as an id: the lowest that is free

// Whoever holds queue pairs beside the owner.
class Holder {
public:
	virtual ~Holder() = default;
	virtual std::string name() const = 0; // "process 17"
	// It has left, and what it holds is about to be given back. False again if that has failed.
	virtual bool gone() const = 0;
};

// Any thread may call. What belongs to an id that is not taken is zero: its clock record, its doorbells, and all free memory.
class QueueTable {
public:
	// check: called at least every 100 ms while a call waits; throws to give up.
	QueueTable(Region &region, std::function<void()> check);

	// Everything is free again; doorbells: the page of the shadow doorbells, which is made here and is the table's first memory.
	void reset();
	BusAddress doorbells() const { return doorbells_; }

	// Page aligned and zero.
	BusAddress allocate(uint64_t bytes);
	void free(BusAddress address);

	// An id, or any, and memory for a queue pair of this shape; the device does not know of it yet. holder: none for the owner.
	// Waits for a holder of the id that is gone already. Throws Error, and changes nothing, when the id is taken or there is no room.
	QueueGrant take(unsigned qid, const QueueOptions &options, std::shared_ptr<const Holder> holder = nullptr);
	// The device has no such queue pair any more. Of an id that is not taken: nothing happens.
	void give(unsigned qid);
	// In place of a user who has left: reads what was completed, so that no completion waits for room, and leaves device time.
	void play_user(unsigned qid) const;

private:
	struct Slot {
		bool taken = false;
		std::shared_ptr<const Holder> holder;
		BusAddress memory = 0;
		unsigned depth = 0;
	};
	unsigned choose(unsigned qid, std::unique_lock<std::mutex> &hold);
	uint32_t *bells(unsigned qid) const;
	void wipe(unsigned qid) const;

	Region &region_;
	std::function<void()> check_;
	mutable std::mutex lock_; // everything below
	std::condition_variable given_;
	RegionHeap heap_;
	BusAddress doorbells_ = 0;
	std::array<Slot, HZ_MAX_IO_QUEUES + 1> slots_;
};

} // namespace hz
