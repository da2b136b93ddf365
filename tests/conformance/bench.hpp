// Bench: a small device on the real image, enabled, with one I/O queue; shared by all cases of a program run.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "session/controller.hpp"
#include "session/machine/machine.hpp"

namespace conform {

using Bytes = std::vector<std::byte>;

// 12 zones of 96 sectors at a distance of 128; at most 3 open and 5 active, so that every limit is cheap to reach.
hz_device_config small_config();

class Bench {
public:
	explicit Bench(const hz_device_config &config = small_config());

	// Booted at first use, and again after a case that broke it.
	static Bench &shared();
	static void drop_shared();

	// Controller reset, then new admin queue, I/O queue 1 and scratch pages. Zones stay as they
	// are.
	void restart();
	// Joins the machine again after the link has ended; the controller is disabled.
	void reconnect();
	// As restart(), and every zone EMPTY.
	void pristine();
	// Establishes the initial state of a case; cheap if nothing has changed.
	void settle();
	// A case that leaves queues, features or the controller changed says so; settle() then restarts.
	void disturb() { disturbed_ = true; }

	hz::Machine &machine() { return *machine_; }
	hz::Region &region() { return machine_->region(); }
	hz::Controller &controller() { return *controller_; }
	hz::Link &link() { return controller_->link(); }
	hz::QueuePair &queue() { return *queue_; }

	// Scratch pages, consecutive, zeroed at restart: 0 … pages-1.
	static constexpr unsigned pages = 300;
	hz::BusAddress page(unsigned index) const { return scratch_ + index * 4096ull; }
	std::byte *at(hz::BusAddress bus, uint64_t bytes = 4096) { return region().at(bus, bytes); }
	uint64_t read64(hz::BusAddress bus);
	void write64(hz::BusAddress bus, uint64_t value);

	// A command as the case made it, PRPs included.
	hz::Completion raw(const nvme_sqe &sqe);
	// A command with the queue's own buffer.
	hz::Completion run(const nvme_sqe &sqe, const Bytes &out = {}, Bytes *in = nullptr);
	uint16_t status(const nvme_sqe &sqe) { return run(sqe, payload(sqe)).status; }

	// Zones
	uint64_t zone_size() const { return info_.zone_size_sectors; }
	uint32_t capacity() const { return capacity_; }
	uint32_t zones() const { return static_cast<uint32_t>(info_.zones); }
	uint64_t start(uint32_t zone) const { return zone * zone_size(); }
	const hz::NamespaceInfo &info() const { return info_; }
	nvme_zone_descriptor zone(uint32_t zone);
	nvme_zone_state state(uint32_t zone);
	uint64_t filled(uint32_t zone); // write pointer as an offset
	uint16_t send(uint32_t zone, nvme_zone_send_action action, bool all = false);
	uint16_t write(uint64_t lba, uint32_t sectors);
	uint16_t append(uint32_t zone, uint32_t sectors) { return status(hz::QueuePair::append(start(zone), sectors)); }
	// From EMPTY to EMPTY, IMPLICIT_OPEN, EXPLICIT_OPEN, CLOSED or FULL. Written zones hold 4 sectors.
	void put(uint32_t zone, nvme_zone_state state);
	void reset_zones();

private:
	static Bytes payload(const nvme_sqe &sqe);

	std::unique_ptr<hz::Machine> machine_;
	std::unique_ptr<hz::Controller> controller_;
	std::unique_ptr<hz::QueuePair> queue_;
	hz::NamespaceInfo info_;
	uint32_t capacity_ = 0;
	hz::BusAddress scratch_ = 0;
	bool disturbed_ = false;
};

// Opens queues together. Commands that shall meet are submitted after that: those of a queue that
// is seen alone are fetched alone (protocol/shm.h).
void open_all(std::span<hz::QueuePair *const> queues);
// Runs all submitted commands to their end: opens the queues that are not, reads their completions
// in turn, closes them. Time stands at every completion that its host has not read, so none may be
// left behind.
using Seen = std::function<void(hz::QueuePair &, const hz::Completion &)>;
void drain(std::span<hz::QueuePair *const> queues, const Seen &seen);

// Sectors whose every 8 bytes name their LBA and a salt.
Bytes pattern(uint64_t lba, uint32_t sectors, uint64_t salt = 0);
// The same in every command: a sector's bytes do not tell which command it was part of.
Bytes placed_pattern(uint64_t lba, uint32_t sectors, uint64_t salt);

// A fixture over the shared bench.
class Device : public ::testing::Test {
protected:
	void SetUp() override { bench().settle(); }
	static Bench &bench() { return Bench::shared(); }
};
// The same, every zone EMPTY at its start.
class ZonedDevice : public Device {
protected:
	void SetUp() override
	{
		Device::SetUp();
		bench().reset_zones();
	}
};

} // namespace conform
