// QueueTable: allocated queue ids, their holders, and their memory in the region.
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

// A holder of queue pairs other than the owner.
class Holder {
public:
	virtual ~Holder() = default;
	virtual std::string name() const = 0; // "process 17"
	// It has left, and its queues are about to be returned. False again if that has failed.
	virtual bool gone() const = 0;
};

// Any thread may call. The memory of a free id is zero: its clock record, its doorbells, and all
// free memory.
class QueueTable {
public:
	// check: called at least every 100 ms while a call waits; throws to give up.
	QueueTable(Region &region, std::function<void()> check);

	// Frees everything; doorbells: the page of the shadow doorbells, the table's first
	// allocation.
	void reset();
	BusAddress doorbells() const { return doorbells_; }

	// Page aligned and zero.
	BusAddress allocate(uint64_t bytes);
	void free(BusAddress address);

	// Allocates an id, or any, and memory for a queue pair of this shape; the device does not
	// know of it yet. holder: none for the owner. Waits for a departing holder of the id.
	// Throws Error, and changes nothing, if the id is taken or there is no room.
	QueueGrant take(unsigned qid, const QueueOptions &options, std::shared_ptr<const Holder> holder = nullptr);
	// The device has deleted this queue pair. No effect for a free id.
	void give(unsigned qid);
	// Acts for a user that has left: reads completions, so that none waits for room, and leaves
	// device time.
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
