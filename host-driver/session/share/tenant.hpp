// Tenant: the owner's side of one attached process: its connection, its leases, and the thread that
// serves it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "session/machine/descriptor.hpp"
#include "session/machine/lease_messages.hpp"
#include "local_control.hpp"

namespace hz {

class Tenant final : public Holder, public std::enable_shared_from_this<Tenant> {
public:
	// Takes over the connected socket. `stop` is readable when the service ends.
	Tenant(Descriptor connection, int stop, LocalControl &control);

	void start();
	// Instead of start(): the answer to hello.
	void refuse(const char *why);
	// Its thread has ended, and its leases have been returned, unless the service or the
	// machine ended first, or the device refused.
	bool finished() const { return finished_; }
	void join();

	std::string name() const override;
	bool gone() const override;

private:
	void serve();
	bool receive(lease::Request &request) const;
	lease::Reply answer(const lease::Request &request);
	void act(const lease::Request &request, lease::Reply &reply);
	void admin(const nvme_sqe &sqe, lease::Reply &reply);
	void create_queue(const lease::Request &request, lease::Reply &reply);
	void give_back();

	Descriptor connection_;
	int stop_, pid_ = 0;
	LocalControl &control_;
	std::set<unsigned> queues_; // its thread only, as the next two
	std::set<BusAddress> memory_;
	bool greeted_ = false;
	std::atomic<bool> finished_{false};
	std::thread thread_;
};

} // namespace hz
