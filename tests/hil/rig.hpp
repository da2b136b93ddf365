// Rig: the real HIL over a scripted FTL in the single-threaded runner, and a host that works its registers and queues.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hil/hil.h"
#include "host_clock.h"
#include "lt/hart.h"
#include "lt/lock.h"
#include "nvme.h"
#include "register_link.h"
#include "scripted_ftl.hpp"

namespace hil_test {

constexpr uint64_t region_bytes = 24 << 20, heap = HZ_SHM_HEAP_OFFSET;

// Default number of HIL harts of a rig: HZ_TEST_HILS, so that all tests can be run with several (CMakeLists.txt).
uint32_t usual_hils();

constexpr unsigned test_lock_class = 0; // of the rig's one class of locks

struct Options {
	bool virtual_clock = true;
	uint32_t inflight = 64, workers = 4, harts = 3;
	uint64_t start_ns = 1000;
	uint32_t hils = usual_hils(); // on harts from 0 on
	bool block = false;           // a block namespace instead of a zoned one
	uint32_t plp_mode = HZ_PLP_NONE;
	uint32_t in_place_sectors = 0;
	uint32_t handles = 0;      // reclaim unit handles of a block namespace
	uint32_t namespaces = 1;   // on a channel each
	uint8_t *region = nullptr; // a region of another maker, header included; none: one of the rig's own
	uint64_t bytes = region_bytes;
	ftl_damage damage{}; // found by mount
};

hz_device_config small_config(const Options &options);

// Status without phase, as the HIL's headers use it: SCT << 8 | SC, DNR in bit 14.
struct Cqe {
	uint32_t dw0, dw1;
	uint16_t sq_head, sq_id, cid, status;
	uint64_t completed_ns;
};

struct Unmap {
	size_t bytes = 0;
	void operator()(uint8_t *p) const;
};

class Rig {
public:
	explicit Rig(const Options &options = {});

	// Byte stream
	void send(const void *data, size_t bytes);
	std::vector<hz_link_message> received();
	hz_link_message ask(uint8_t type, uint32_t offset, uint8_t size, uint64_t value = 0);
	uint64_t get(uint32_t offset, uint8_t size = 4) { return ask(HZ_LINK_READ, offset, size).value; }
	hz_link_message set(uint32_t offset, uint64_t value, uint8_t size = 4) { return ask(HZ_LINK_WRITE, offset, size, value); }
	void post(uint32_t offset, uint64_t value, uint8_t size = 4); // the same, not run: its answer comes later
	void hang_up()
	{
		leave();
		run();
	}
	void leave() { hung_up_ = true; } // seen at the next look
	bool closed() const { return closed_; }

	// Runs the device until it can do nothing more without the host.
	void run();
	void run_for(uint64_t ns);
	uint64_t now() const { return clock_now_ns(); }

	// Region
	template <class T = uint8_t> T *at(uint64_t bus) { return reinterpret_cast<T *>(base_ + bus); }
	uint64_t allocate(uint64_t bytes);
	hz_shm_header &header() { return *at<hz_shm_header>(0); }
	hz_queue_clock &clock(unsigned q) { return at<hz_queue_clock>(HZ_SHM_QUEUES_OFFSET)[q]; }

	// Admin
	void enable(uint32_t slots = 32, uint32_t cc_extra = 0);
	void place_admin(nvme_sqe sqe); // into the ring, not rung
	void ring_admin();
	void post_admin() { post(NVME_REG_DOORBELLS, admin_tail_); } // the same, not run
	std::optional<Cqe> reap_admin(bool free_slot = true);
	uint64_t admin_completions() const { return acq_; }
	Cqe admin(nvme_sqe sqe); // one command, waits for its completion
	uint16_t status_of(nvme_sqe sqe) { return admin(sqe).status; }
	void await_event(uint16_t cid = 0); // a request for the next asynchronous event
	Cqe set_feature(uint8_t id, uint32_t value, uint32_t nsid = 0);
	uint64_t buffer() const { return buffer_; } // 1 MiB for admin data, page aligned
	template <class T> const T &page() { return *at<T>(buffer_); }

	// I/O queue pair; the harness plays the host side by hand.
	struct Queue {
		unsigned id;
		uint32_t depth;
		uint64_t sq, cq;
		uint64_t submitted = 0, consumed = 0;
	};
	Queue make_queue(unsigned id, uint32_t depth, uint32_t cq_depth = 0, uint32_t sq_flags = 1);
	uint16_t create_cq(unsigned id, uint32_t depth, uint64_t base, uint32_t flags = 1, uint32_t vector = 0);
	uint16_t create_sq(unsigned id, uint32_t depth, uint64_t base, unsigned cqid, uint32_t flags = 1);
	void place(Queue &queue, nvme_sqe sqe, uint64_t arrival_ns = 0);
	std::optional<Cqe> peek(Queue &queue, uint32_t cq_depth = 0); // takes the entry, without a doorbell
	void open(Queue &queue, uint64_t horizon_ns = UINT64_MAX);
	void publish(Queue &queue, uint64_t horizon_ns = UINT64_MAX); // submitted, horizon, seen and the doorbells
	void close(Queue &queue, uint64_t horizon_ns);
	// One command to its completion on an open queue.
	Cqe io(Queue &queue, nvme_sqe sqe);

	Options options;
	hz_device_config cfg;
	std::unique_ptr<ScriptedFtl> fake;
	std::function<bool()> on_host_wait = [] { return false; };
	std::function<void()> on_poll = [] {};
	std::function<void(unsigned)> on_wake = [this](unsigned queue) { woken.push_back(queue); };
	std::vector<unsigned> woken;
	uint64_t shadow = 0, events = 0; // doorbell buffers, if registered
	std::deque<uint8_t> to_device, to_host;
	size_t send_room = SIZE_MAX; // bytes accepted by the stream in one call

private:
	static int port_recv(void *ctx, void *data, size_t bytes);
	static int port_send(void *ctx, const void *data, size_t bytes);

	using Memory = std::unique_ptr<uint8_t, Unmap>; // zero, and only taken when touched
	static Memory map(size_t bytes);
	Memory region_, memory_;
	uint8_t *base_ = nullptr;
	arena arena_{};
	hil *hil_ = nullptr;
	uint64_t heap_ = HZ_SHM_HEAP_OFFSET, buffer_ = 0, asq_ = 0, acq_ = 0;
	uint32_t admin_slots_ = 0, admin_tail_ = 0, admin_head_ = 0;
	uint16_t admin_phase_ = 1, next_cid_ = 1;
	bool hung_up_ = false, closed_ = false;
};

nvme_sqe io_sqe(uint8_t opcode, uint64_t lba = 0, uint32_t sectors = 1, uint64_t prp1 = 0, uint64_t prp2 = 0);
nvme_sqe admin_sqe(uint8_t opcode, uint32_t cdw10 = 0, uint32_t cdw11 = 0, uint64_t prp1 = 0, uint32_t nsid = 0);
constexpr uint16_t dnr(int status) { return static_cast<uint16_t>(status | NVME_DNR); }
constexpr uint16_t bad_field = dnr(NVME_INVALID_FIELD);
constexpr uint32_t cc_ready = NVME_CC_EN | NVME_CC_CSS_CSI << NVME_CC_CSS_SHIFT | 6 << NVME_CC_IOSQES_SHIFT | 4 << NVME_CC_IOCQES_SHIFT;

} // namespace hil_test
