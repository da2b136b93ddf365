// Controller: NVMe bring-up and admin commands over a Machine, its owner's or an attached process's. One thread at a time.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "session/nvme/control.hpp"
#include "session/nvme/link.hpp"
#include "logs.h"
#include "session/machine/machine.hpp"
#include "nvme.h"
#include "session/nvme/queue_pair.hpp"

namespace hz {

class LocalControl;
class RemoteControl;
class Service;

struct NamespaceInfo {
	uint64_t size_sectors = 0;
	bool zoned = true;                                         // false: a block namespace, all about zones is 0
	uint64_t zone_size_sectors = 0, zone_capacity_sectors = 0; // capacity: NCAP per zone, unless a zone report was asked
	uint64_t zones = 0;
	uint64_t conventional_zones = 0;       // the first ones; 0 unless from a zone report
	uint32_t max_open = 0, max_active = 0; // 0 = no limit
	uint32_t max_transfer_sectors = 0, max_append_sectors = 0;
	uint32_t zrwa_zones = 0;                         // that may have a random write area at a time; 0: none
	uint32_t zrwa_sectors = 0, zrwa_granularity = 0; // of an area, and by what multiples of sectors it moves
	uint32_t nvm_set = 0;
	uint32_t handles = 0;         // reclaim unit handles: writes may name one by a placement identifier
	bool protection = false;      // every sector has protection information of type 1
	bool durable_writes = false;  // writes may request protection from a power cut
	bool in_place_writes = false; // writes may overwrite blocks before the write pointer of a sequential zone
	bool volatile_cache = true;   // false: every write is durable when it ends
};

class Controller {
public:
	static constexpr uint64_t admin_buffer_bytes = uint64_t(HZ_MAX_TRANSFER_SECTORS) * HZ_SECTOR_BYTES;

	// Our own machine: connects the register link and leaves the controller as it is. An
	// attached one: joins through its owner.
	explicit Controller(Machine &machine, std::chrono::milliseconds timeout = std::chrono::seconds(60));
	Controller(const Controller &) = delete;
	Controller &operator=(const Controller &) = delete;
	// Returns queue pairs and memory of an attached process to the owner.
	~Controller();

	Machine &machine() { return machine_; }

	// For the machine's owner; an attached process gets an Error.
	Link &link();
	// Controller reset: all queue pairs and memory are taken back, so no other process may be attached; then set admin queue, enable,
	// wait for CSTS.RDY, register the shadow doorbells, ask for 64 queues. With weighted round robin the queues' priorities count, and
	// the weights of feature 01h.
	void enable(nvme_cc_ams arbitration = NVME_CC_AMS_ROUND_ROBIN);
	void disable();
	// CC.SHN normal, waits for CSTS.SHST complete: everything is durable. Other processes are thrown out before.
	void shutdown();
	// After shutdown(): closes the link, upon which the firmware powers the machine off.
	void disconnect();
	// Lets other processes attach until disconnect() or the destructor.
	void serve();

	// For an attached process: gives everything back before it returns.
	void leave();

	// Runs one admin command; `in` receives, `out` is sent, through the admin buffer (at most 512 KiB).
	// meanwhile: for the owner; called about every 20 ms until the answer comes, the first time when the device has the doorbell, which
	// it takes where device time stands. Until then the owner's queues promise nothing.
	AdminResult admin(nvme_sqe sqe, std::span<std::byte> in = {}, std::span<const std::byte> out = {},
			  const std::function<void()> &meanwhile = {});
	// The same, throws NvmeError "<what> failed: <status text>".
	uint32_t require(const char *what, nvme_sqe sqe, std::span<std::byte> in = {}, std::span<const std::byte> out = {});

	// For the owner, under the virtual clock: returns when device time stands by all that its queues have promised before. What was posted until
	// then can be reaped. Takes no device time.
	void await_standing();

	std::vector<uint32_t> namespaces();   // NSIDs of the attached ones
	void require_attached(uint32_t nsid); // throws Error else
	std::vector<std::byte> identify(uint8_t cns, uint32_t nsid = 0, uint8_t csi = 0);
	NamespaceInfo namespace_info(uint32_t nsid = 1);
	// The same for the queue's namespace, with the information of its zone report.
	NamespaceInfo namespace_info(QueuePair &queue);
	std::vector<nvme_zone_descriptor> zone_report(QueuePair &queue);
	uint32_t get_feature(uint8_t fid, uint32_t cdw11 = 0);
	uint32_t set_feature(uint8_t fid, uint32_t cdw11);

	std::vector<std::byte> log_page(uint8_t lid, uint32_t bytes, uint64_t offset = 0, uint32_t nsid = 0xffffffff, uint16_t group = 0);
	nvme_smart_log log_smart();
	hz_log_harts log_harts();
	hz_log_flash log_flash();
	hz_log_ftl log_ftl(uint32_t nsid = 0xffffffff); // of an attached one, or the sum over all namespaces
	hz_log_in_place log_in_place();
	hz_log_energy log_energy();
	std::vector<hz_lock_entry> log_locks();
	void reset_stats();

	// Memory of the region besides that of queues; see Control.
	BusAddress allocate(uint64_t bytes);
	void free(BusAddress address);
	// Queues are created and deleted here and live in the region; the returned object belongs to one thread. qid: 1 to 64, or
	// any_queue. A queue pair that is dropped without delete_queue stays taken until enable() or leave().
	std::unique_ptr<QueuePair> create_queue(unsigned qid, const QueueOptions &options);
	void delete_queue(std::unique_ptr<QueuePair> queue);

private:
	Control &control();
	LocalControl &own(const char *what);
	void end_service();

	Machine &machine_;
	std::unique_ptr<LocalControl> local_; // exactly one of the two
	std::unique_ptr<RemoteControl> remote_;
	std::unique_ptr<Service> service_;
	bool thrown_out_ = false; // processes were attached at the shutdown, and may not have noticed yet
	BusAddress buffer_ = 0;   // of admin data, with a PRP list behind it; made at its first use
};

} // namespace hz
