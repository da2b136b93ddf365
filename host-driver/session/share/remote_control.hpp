// RemoteControl: the controller as an attached process uses it: it asks the owner for everything (lease_messages.hpp).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

#include "session/nvme/control.hpp"
#include "session/machine/lease_messages.hpp"
#include "session/machine/machine.hpp"

namespace hz {

// Any thread may call; one request at a time is under way.
class RemoteControl final : public Control {
public:
	// The machine is an attached one and outlives this.
	explicit RemoteControl(Machine &machine);
	// Hangs up: the owner takes everything back in its own time.
	~RemoteControl() override;

	AdminResult admin(const nvme_sqe &sqe) override;
	BusAddress allocate(uint64_t bytes) override;
	void free(BusAddress address) override;
	QueueGrant create_queue(unsigned qid, const QueueOptions &options) override;
	void delete_queue(unsigned qid) override;
	// Returns when the owner has taken everything back.
	void leave();

private:
	lease::Reply ask(lease::Request request);
	lease::Reply receive();
	[[noreturn]] void lost() const;

	Machine &machine_;
	std::mutex lock_; // the request that is under way
	uint32_t tag_ = 0;
};

} // namespace hz
