// TargetRig: a target on a device in memory, in a thread of its own, and hosts for it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <thread>

#include "config/device_yaml.hpp"
#include "fabrics/server.hpp"
#include "initiator.hpp"
#include "ram_backend.hpp"

namespace hz::test {

class TargetRig {
protected:
	static constexpr const char *subsystem_name = "nqn.2026-11.org.hartzone:test";
	static constexpr uint64_t blocks = 4096;

	explicit TargetRig(fabrics::SubsystemOptions options = {}) : config(device()), backend(blocks), server({"127.0.0.1", 0})
	{
		options.name = subsystem_name;
		options.address = server.address().host;
		options.service = std::to_string(server.address().port);
		options.device = &config;
		subsystem = std::make_shared<fabrics::Subsystem>(options, backend, backend.attached);
		thread = std::thread([this] { server.run(backend, subsystem, [] { return false; }); });
	}
	~TargetRig()
	{
		server.stop();
		thread.join();
	}

	uint16_t port() const { return server.address().port; }
	Initiator host(InitiatorOptions options = {}) const
	{
		if (options.subsystem.empty())
			options.subsystem = subsystem_name;
		return Initiator(port(), std::move(options));
	}

	static hz_device_config device()
	{
		hz_device_config config = conf::device_defaults();
		config.namespace_kind = HZ_NS_BLOCK;
		return config;
	}

	hz_device_config config;
	RamBackend backend;
	fabrics::Server server;
	std::shared_ptr<fabrics::Subsystem> subsystem;
	std::thread thread;
};

} // namespace hz::test
