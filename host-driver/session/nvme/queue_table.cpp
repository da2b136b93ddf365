// QueueTable: a slot for each id.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/nvme/queue_table.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "session/machine/error.hpp"
#include "session/machine/shared_word.hpp"

namespace hz {

using namespace std::chrono_literals;

namespace {

constexpr auto look = 100ms; // at a holder that is gone

} // namespace

QueueTable::QueueTable(Region &region, std::function<void()> check) : region_(region), check_(std::move(check)), heap_(region) {}

void QueueTable::reset()
{
	std::lock_guard hold(lock_);
	region_.clear(HZ_SHM_QUEUES_OFFSET, (HZ_MAX_IO_QUEUES + 1) * sizeof(hz_queue_clock));
	heap_.clear();
	slots_.fill({});
	doorbells_ = heap_.allocate(4096);
	given_.notify_all();
}

BusAddress QueueTable::allocate(uint64_t bytes)
{
	std::lock_guard hold(lock_);
	return heap_.allocate(bytes);
}

void QueueTable::free(BusAddress address)
{
	std::lock_guard hold(lock_);
	heap_.free(address);
}

unsigned QueueTable::choose(unsigned qid, std::unique_lock<std::mutex> &hold)
{
	if (qid > HZ_MAX_IO_QUEUES)
		throw Error("queue id " + std::to_string(qid) + " is too large: take one of 1 to " + std::to_string(HZ_MAX_IO_QUEUES) +
			    ", or 0 for the lowest that is free");
	if (qid == any_queue) {
		const auto free = std::find_if(slots_.begin() + 1, slots_.end(), [](const Slot &slot) { return !slot.taken; });
		if (free == slots_.end())
			throw Error("all " + std::to_string(HZ_MAX_IO_QUEUES) + " queues are open: close one first");
		return static_cast<unsigned>(free - slots_.begin());
	}
	const Slot &slot = slots_[qid];
	while (slot.taken && slot.holder && slot.holder->gone()) {
		given_.wait_for(hold, look);
		check_();
	}
	if (slot.taken)
		throw Error("queue " + std::to_string(qid) + " is open already, in " +
			    (slot.holder ? slot.holder->name() : "the device's owner") +
			    ": take another id, or 0 for the lowest that is free");
	return qid;
}

QueueGrant QueueTable::take(unsigned qid, const QueueOptions &options, std::shared_ptr<const Holder> holder)
{
	const QueueLayout layout = layout_of(options);
	std::unique_lock hold(lock_);
	qid = choose(qid, hold);
	slots_[qid] = {true, std::move(holder), heap_.allocate(layout.bytes), options.depth};
	return {qid, slots_[qid].memory, doorbells_};
}

void QueueTable::give(unsigned qid)
{
	std::lock_guard hold(lock_);
	if (qid >= slots_.size() || !slots_[qid].taken)
		return;
	wipe(qid);
	heap_.free(slots_[qid].memory);
	slots_[qid] = {};
	given_.notify_all();
}

void QueueTable::play_user(unsigned qid) const
{
	std::lock_guard hold(lock_);
	hz_queue_clock &clock = region_.queue_clock(qid);
	const uint64_t completed = load(clock.completed);
	store(bells(qid)[1], static_cast<uint32_t>(completed % slots_[qid].depth));
	store(clock.seen, completed);
	store(clock.open, 0u);
	region_.ring_bell();
}

// Tail and head.
uint32_t *QueueTable::bells(unsigned qid) const { return reinterpret_cast<uint32_t *>(region_.at(doorbells_, 4096)) + 2 * qid; }

void QueueTable::wipe(unsigned qid) const
{
	std::memset(static_cast<void *>(&region_.queue_clock(qid)), 0, sizeof(hz_queue_clock)); // small, and soon used again
	store(bells(qid)[0], 0u);
	store(bells(qid)[1], 0u);
}

} // namespace hz
