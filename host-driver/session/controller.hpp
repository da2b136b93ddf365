// Controller: NVMe bring-up and admin commands over a Machine. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "link.hpp"
#include "logs.h"
#include "machine.hpp"
#include "nvme.h"
#include "queue_pair.hpp"

namespace hz {

struct AdminResult {
	uint16_t status; // SCT << 8 | SC
	bool do_not_retry;
	uint32_t dw0;
};

struct NamespaceInfo {
	uint64_t size_sectors = 0;
	bool zoned = true;                     // false: a block namespace, all about zones is 0
	uint64_t zone_size_sectors = 0, zone_capacity_sectors = 0; // capacity: NCAP per zone, unless a zone report was asked
	uint64_t zones = 0;
	uint64_t conventional_zones = 0;       // the first so many; 0 unless a zone report was asked
	uint32_t max_open = 0, max_active = 0; // 0 = no limit
	uint32_t max_transfer_sectors = 0, max_append_sectors = 0;
};

class Controller {
public:
	// Connects the register link. The controller is left as it is.
	explicit Controller(Machine &machine, std::chrono::milliseconds timeout = std::chrono::milliseconds(10000));

	Machine &machine() { return machine_; }
	Link &link() { return link_; }

	// Disable, set admin queue, enable, wait for CSTS.RDY, register the shadow doorbells, ask for 64 queues.
	void enable();
	void disable();
	// CC.SHN normal, waits for CSTS.SHST complete: everything is durable.
	void shutdown();
	// After shutdown(): hangs up, upon which the firmware powers the machine off.
	void disconnect();

	// Runs one admin command; `in` receives, `out` is sent, through the admin buffer (at most 512 KiB).
	AdminResult admin(nvme_sqe sqe, std::span<std::byte> in = {}, std::span<const std::byte> out = {});
	// The same, throws NvmeError "<what> failed: <status text>".
	uint32_t require(const char *what, nvme_sqe sqe, std::span<std::byte> in = {}, std::span<const std::byte> out = {});

	std::vector<std::byte> identify(uint8_t cns, uint32_t nsid = 0, uint8_t csi = 0);
	NamespaceInfo namespace_info(uint32_t nsid = 1);
	// The same for namespace 1, with what only its zone report tells.
	NamespaceInfo namespace_info(QueuePair &queue);
	std::vector<nvme_zone_descriptor> zone_report(QueuePair &queue);
	uint32_t get_feature(uint8_t fid, uint32_t cdw11 = 0);
	uint32_t set_feature(uint8_t fid, uint32_t cdw11);

	std::vector<std::byte> log_page(uint8_t lid, uint32_t bytes, uint64_t offset = 0, uint32_t nsid = 0xffffffff);
	hz_log_harts log_harts();
	hz_log_flash log_flash();
	hz_log_ftl log_ftl();
	std::vector<hz_lock_entry> log_locks();
	void reset_stats();

	// Queues are created and deleted here and live in the region; the returned object belongs to one thread.
	std::unique_ptr<QueuePair> create_queue(unsigned qid, const QueueOptions &options);
	void delete_queue(std::unique_ptr<QueuePair> queue);

private:
	AdminResult await(uint16_t cid);
	void wait_status(uint32_t mask, uint32_t value, const char *what);

	Machine &machine_;
	Link link_;
	BusAddress sq_ = 0, cq_ = 0, buffer_ = 0, list_ = 0, shadow_ = 0, events_ = 0;
	unsigned tail_ = 0, head_ = 0;
	bool phase_ = true, enabled_ = false;
	uint16_t next_cid_ = 0;
};

} // namespace hz
