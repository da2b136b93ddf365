// LocalControl: the controller for the machine's owner: register link, admin queue, and the table
// of queue pairs and memory. All leases of other processes come from here (service.hpp).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <set>

#include "session/nvme/admin_queue.hpp"
#include "session/nvme/control.hpp"
#include "session/nvme/link.hpp"
#include "session/machine/machine.hpp"

namespace hz {

// Any thread may call the functions of Control; the rest is for the owner, with no other call under
// way.
class LocalControl final : public Control {
public:
	// Connects the register link. The controller is left as it is.
	LocalControl(Machine &machine, std::chrono::milliseconds timeout);

	Link &link() { return link_; }
	// Throws Error while the controller is not enabled.
	void require_enabled() const;
	// Disable, take back all memory, set admin queue, enable, wait for CSTS.RDY, register the shadow doorbells, ask for 64 queues.
	void enable(nvme_cc_ams arbitration);
	void disable();
	void shutdown();
	void disconnect();

	AdminResult admin(const nvme_sqe &sqe) override { return admin(sqe, {}); }
	AdminResult admin(const nvme_sqe &sqe, const AdminQueue::Meanwhile &meanwhile);
	BusAddress allocate(uint64_t bytes) override;
	void free(BusAddress address) override;
	QueueGrant create_queue(unsigned qid, const QueueOptions &options) override;
	void delete_queue(unsigned qid) override;

	// For the service: while closed, commands of others end with an Error.
	void close(bool closed) { queue_.close(closed); }
	// The same as create_queue, for another process.
	QueueGrant lease_queue(unsigned qid, const QueueOptions &options, std::shared_ptr<const Holder> holder);
	// The same as delete_queue for all queue pairs of a dead user: acts for it on each of them
	// until the commands in the device are done. A deleted one is taken out of the set.
	void reclaim_queues(std::set<unsigned> &qids);

private:
	void create_pair(const QueueGrant &grant, const QueueOptions &options);
	void remove_pair(unsigned qid, std::chrono::seconds limit, const AdminQueue::Meanwhile &meanwhile);
	void register_doorbells(BusAddress events);
	void wait_status(uint32_t mask, uint32_t value, const char *what);

	Link link_;
	AdminQueue queue_;
	QueueTable table_;
	std::atomic<bool> enabled_{false};
};

} // namespace hz
