// Service: lets other processes of this user attach to the device, through the socket `control` in its run directory.
//
// Each gets its own queue pairs and memory, and runs admin commands through the service; when it
// leaves or dies, all leases return. The service uses no CPU while idle.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "session/machine/descriptor.hpp"
#include "local_control.hpp"
#include "tenant.hpp"

namespace hz {

class Service {
public:
	static constexpr size_t most_tenants = 64;

	// The controller is enabled, and stays so as long as this lives.
	Service(const std::filesystem::path &run_directory, LocalControl &control);
	Service(const Service &) = delete;
	Service &operator=(const Service &) = delete;
	// Disconnects all processes. Their memory is not reused: they may still be writing into it.
	~Service();

	// How many are attached.
	size_t tenants();

private:
	void listen();
	void forget_finished();
	void admit(int connection);

	LocalControl &control_;
	std::filesystem::path socket_;
	Descriptor listener_, stop_;
	std::mutex lock_; // the list
	std::vector<std::shared_ptr<Tenant>> tenants_;
	std::thread thread_;
};

} // namespace hz
