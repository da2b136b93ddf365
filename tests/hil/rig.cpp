// Rig: see rig.hpp.
// SPDX-License-Identifier: BSD-3-Clause
#include "rig.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "base_config.hpp"
#include "config_check.h"
#include "namespaces.h"

namespace hil_test {

uint32_t usual_hils()
{
	const char *said = std::getenv("HZ_TEST_HILS");
	return said ? static_cast<uint32_t>(std::atoi(said)) : 1;
}

hz_device_config small_config(const Options &options)
{
	hz_device_config cfg = support::base_config(std::max(2u, options.namespaces), 1, 2);
	cfg.namespaces = options.namespaces;
	for (uint32_t i = 0; options.namespaces > 1 && i < options.namespaces; i++)
		cfg.namespace_channels[i] = hz_range_word(i, i);
	support::use_tlc(cfg);
	cfg.blocks_per_plane = 20;
	cfg.slc_blocks_per_plane = 4;
	cfg.spare_superblocks = 4;
	cfg.max_open = 6;
	cfg.max_active = 8;
	cfg.hil_count = std::min(options.hils, options.inflight);
	cfg.harts = std::max(options.harts, cfg.hil_count);
	for (unsigned i = 0; i < cfg.hil_count; i++)
		cfg.hil_hart[i] = static_cast<uint8_t>(i);
	cfg.tsu_hart[0] = 0;
	cfg.worker_count = options.workers;
	for (unsigned i = 0; i < options.workers; i++)
		cfg.worker_hart[i] = static_cast<uint8_t>(options.harts > 1 ? 1 + i % (options.harts - 1) : 0);
	cfg.inflight_requests = options.inflight;
	cfg.plp_mode = options.plp_mode;
	cfg.in_place_sectors = options.in_place_sectors;
	cfg.doorbell_ns = 100;
	cfg.fetch_ns = 300;
	cfg.completion_ns = 200;
	cfg.interrupt_ns = 500;
	if (options.block) {
		cfg.namespace_kind = HZ_NS_BLOCK;
		cfg.conventional_spare = 6;
		cfg.conventional_streams = cfg.conventional_buffers = 1;
		cfg.conventional_gc_low = 2;
		cfg.fdp_handles = options.handles;
	}
	return cfg;
}

constexpr size_t arena_bytes = 8 << 20;
constexpr uint16_t posted_tag = UINT16_MAX; // no tag of ask()'s

Rig::Memory Rig::map(size_t bytes)
{
	void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		throw std::bad_alloc();
	return Memory(static_cast<uint8_t *>(at), Unmap{bytes});
}

void Unmap::operator()(uint8_t *p) const
{
	lt_guard(p, bytes, 0);
	munmap(p, bytes);
}

Rig::Rig(const Options &o) : options(o), cfg(small_config(o)), fake(std::make_unique<ScriptedFtl>())
{
	fake->damage = o.damage;
	char text[256];
	if (const char *error = hz_flash_config_check(&cfg, text, sizeof(text)))
		throw std::logic_error(error);
	lt_host_clock_test(o.start_ns);
	memory_ = map(arena_bytes);
	arena_ = arena_of(memory_.get(), arena_bytes, LT_CACHE_LINE);
	lt_harts_init(&arena_, cfg.harts, hil_timers(&cfg) + cfg.inflight_requests);
	const lt_lock_class classes[] = {{.name = "test", .kind = LT_LOCK_NONE, .level = 0, .shards = 0}};
	lt_locks_init(&arena_, classes, 1, LT_STATS_ALL, cfg.harts);
	for (unsigned i = 0; i < cfg.worker_count; i++)
		fake->workers.push_back({"worker", cfg.worker_hart[i]});
	base_ = o.region;
	if (!base_) {
		region_ = map(o.bytes);
		base_ = region_.get();
		header().magic = HZ_SHM_MAGIC;
		header().region_bytes = o.bytes;
		header().virtual_clock = o.virtual_clock;
	}
	hil_port port{};
	port.ctx = this;
	port.recv = port_recv;
	port.send = port_send;
	port.close = [](void *ctx) { static_cast<Rig *>(ctx)->closed_ = true; };
	port.host_wait = [](void *ctx, uint32_t) { return static_cast<Rig *>(ctx)->on_host_wait(); };
	port.host_wake = [](void *ctx, unsigned queue) { static_cast<Rig *>(ctx)->on_wake(queue); };
	controller_ops device = scripted_ops(*fake);
	hil_ = hil_init(&arena_, &cfg, base_, o.bytes, &device, &port);
	if (region_)
		buffer_ = allocate(1 << 20);
}

int Rig::port_recv(void *ctx, void *data, size_t bytes)
{
	auto &rig = *static_cast<Rig *>(ctx);
	rig.on_poll();
	size_t n = std::min(bytes, rig.to_device.size());
	if (n == 0 && rig.hung_up_) {
		rig.hung_up_ = false;
		return -1;
	}
	if (n == 0) // as at most looks
		return 0;
	std::copy_n(rig.to_device.begin(), n, static_cast<uint8_t *>(data));
	rig.to_device.erase(rig.to_device.begin(), rig.to_device.begin() + static_cast<long>(n));
	return static_cast<int>(n);
}

int Rig::port_send(void *ctx, const void *data, size_t bytes)
{
	auto &rig = *static_cast<Rig *>(ctx);
	size_t n = std::min(bytes, rig.send_room);
	auto *from = static_cast<const uint8_t *>(data);
	rig.to_host.insert(rig.to_host.end(), from, from + n);
	return static_cast<int>(n);
}

void Rig::send(const void *data, size_t bytes)
{
	auto *from = static_cast<const uint8_t *>(data);
	to_device.insert(to_device.end(), from, from + bytes);
}

std::vector<hz_link_message> Rig::received()
{
	std::vector<hz_link_message> all(to_host.size() / sizeof(hz_link_message));
	for (auto &message : all) {
		std::copy_n(to_host.begin(), sizeof(message), reinterpret_cast<uint8_t *>(&message));
		to_host.erase(to_host.begin(), to_host.begin() + sizeof(message));
	}
	return all;
}

hz_link_message Rig::ask(uint8_t type, uint32_t offset, uint8_t size, uint64_t value)
{
	hz_link_message message{type, size, next_cid_, offset, value};
	send(&message, sizeof(message));
	run();
	for (const auto &reply : received())
		if (reply.type != HZ_LINK_IRQ && reply.tag == message.tag)
			return reply;
	return {};
}

void Rig::post(uint32_t offset, uint64_t value, uint8_t size)
{
	hz_link_message message{HZ_LINK_WRITE, size, posted_tag, offset, value};
	send(&message, sizeof(message));
}

void Rig::run()
{
	if (options.virtual_clock)
		lt_host_run_until_idle();
	else
		lt_host_run_until(clock_now_ns() + 3000000);
}

void Rig::run_for(uint64_t ns) { lt_host_run_until(clock_now_ns() + ns); }

uint64_t Rig::allocate(uint64_t bytes)
{
	uint64_t start = heap_;
	heap_ += (bytes + 4095) & ~4095ull;
	if (heap_ > options.bytes)
		throw std::logic_error("the rig's region is too small");
	return start;
}

void Rig::enable(uint32_t slots, uint32_t cc_extra)
{
	if (!asq_) {
		asq_ = allocate(slots * sizeof(nvme_sqe));
		acq_ = allocate(slots * sizeof(nvme_cqe));
	}
	std::memset(at(acq_), 0, slots * sizeof(nvme_cqe));
	admin_slots_ = slots;
	admin_tail_ = admin_head_ = 0;
	admin_phase_ = 1;
	set(NVME_REG_AQA, (slots - 1) << 16 | (slots - 1));
	set(NVME_REG_ASQ, asq_, 8);
	set(NVME_REG_ACQ, acq_, 8);
	set(NVME_REG_CC, cc_ready | cc_extra);
	if (!(get(NVME_REG_CSTS) & NVME_CSTS_RDY))
		throw std::logic_error("the controller is not ready");
}

void Rig::place_admin(nvme_sqe sqe)
{
	sqe.cid = sqe.cid ? sqe.cid : next_cid_++;
	at<nvme_sqe>(asq_)[admin_tail_] = sqe;
	admin_tail_ = (admin_tail_ + 1) % admin_slots_;
}

void Rig::ring_admin() { set(NVME_REG_DOORBELLS, admin_tail_); }

std::optional<Cqe> Rig::reap_admin(bool free_slot)
{
	const nvme_cqe &raw = at<nvme_cqe>(acq_)[admin_head_];
	if ((raw.status & 1) != admin_phase_)
		return {};
	Cqe cqe{raw.dw0, raw.dw1, raw.sq_head, raw.sq_id, raw.cid, static_cast<uint16_t>(raw.status >> 1), 0};
	if (++admin_head_ == admin_slots_) {
		admin_head_ = 0;
		admin_phase_ ^= 1;
	}
	if (free_slot)
		set(NVME_REG_DOORBELLS + 4, admin_head_);
	return cqe;
}

Cqe Rig::admin(nvme_sqe sqe)
{
	place_admin(sqe);
	ring_admin();
	for (int i = 0; i < 3; i++, run())
		if (auto cqe = reap_admin())
			return *cqe;
	throw std::logic_error("the admin command did not complete");
}

void Rig::await_event(uint16_t cid)
{
	nvme_sqe sqe = admin_sqe(NVME_ADMIN_ASYNC_EVENT);
	sqe.cid = cid;
	place_admin(sqe);
	ring_admin();
}

Cqe Rig::set_feature(uint8_t id, uint32_t value, uint32_t nsid) { return admin(admin_sqe(NVME_ADMIN_SET_FEATURES, id, value, 0, nsid)); }

uint16_t Rig::create_cq(unsigned id, uint32_t depth, uint64_t base, uint32_t flags, uint32_t vector)
{
	return status_of(admin_sqe(NVME_ADMIN_CREATE_CQ, (depth - 1) << 16 | id, vector << 16 | flags, base));
}

uint16_t Rig::create_sq(unsigned id, uint32_t depth, uint64_t base, unsigned cqid, uint32_t flags)
{
	return status_of(admin_sqe(NVME_ADMIN_CREATE_SQ, (depth - 1) << 16 | id, cqid << 16 | flags, base));
}

Rig::Queue Rig::make_queue(unsigned id, uint32_t depth, uint32_t cq_depth, uint32_t sq_flags)
{
	cq_depth = cq_depth ? cq_depth : depth;
	Queue queue{id, depth, allocate(depth * sizeof(nvme_sqe)), allocate(cq_depth * sizeof(nvme_cqe))};
	std::memset(static_cast<void *>(&clock(id)), 0, sizeof(hz_queue_clock));
	clock(id).turnaround_ns = 4000;
	if (create_cq(id, cq_depth, queue.cq) || create_sq(id, depth, queue.sq, id, sq_flags))
		throw std::logic_error("the queue could not be made");
	return queue;
}

void Rig::place(Queue &queue, nvme_sqe sqe, uint64_t arrival_ns)
{
	uint32_t slot = static_cast<uint32_t>(queue.submitted % queue.depth);
	sqe.cid = sqe.cid ? sqe.cid : static_cast<uint16_t>(queue.submitted & 0x7fff);
	at<nvme_sqe>(queue.sq)[slot] = sqe;
	clock(queue.id).arrival_ns[slot] = arrival_ns;
	queue.submitted++;
}

std::optional<Cqe> Rig::peek(Queue &queue, uint32_t cq_depth)
{
	uint32_t depth = cq_depth ? cq_depth : queue.depth;
	const nvme_cqe &raw = at<nvme_cqe>(queue.cq)[queue.consumed % depth];
	if ((raw.status & 1) == (queue.consumed / depth & 1))
		return {};
	Cqe cqe{raw.dw0,
		raw.dw1,
		raw.sq_head,
		raw.sq_id,
		raw.cid,
		static_cast<uint16_t>(raw.status >> 1),
		clock(queue.id).completed_ns[queue.consumed % depth]};
	queue.consumed++;
	return cqe;
}

void Rig::publish(Queue &queue, uint64_t horizon_ns)
{
	hz_queue_clock &c = clock(queue.id);
	c.submitted = queue.submitted;
	if (shadow)
		at<uint32_t>(shadow)[2 * queue.id] = static_cast<uint32_t>(queue.submitted % queue.depth);
	c.horizon_ns = horizon_ns;
	if (shadow)
		at<uint32_t>(shadow)[2 * queue.id + 1] = static_cast<uint32_t>(queue.consumed % queue.depth);
	c.seen = queue.consumed;
	header().host_bell++;
}

void Rig::open(Queue &queue, uint64_t horizon_ns)
{
	publish(queue, horizon_ns);
	clock(queue.id).open = 1;
}

void Rig::close(Queue &queue, uint64_t horizon_ns)
{
	publish(queue, horizon_ns);
	clock(queue.id).open = 0;
}

Cqe Rig::io(Queue &queue, nvme_sqe sqe)
{
	place(queue, sqe, now());
	publish(queue);
	run();
	auto cqe = peek(queue);
	if (!cqe)
		throw std::logic_error("the command did not complete");
	publish(queue);
	return *cqe;
}

nvme_sqe io_sqe(uint8_t opcode, uint64_t lba, uint32_t sectors, uint64_t prp1, uint64_t prp2)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.nsid = 1;
	sqe.prp1 = prp1;
	sqe.prp2 = prp2;
	sqe.cdw10 = static_cast<uint32_t>(lba);
	sqe.cdw11 = static_cast<uint32_t>(lba >> 32);
	sqe.cdw12 = sectors - 1;
	return sqe;
}

nvme_sqe admin_sqe(uint8_t opcode, uint32_t cdw10, uint32_t cdw11, uint64_t prp1, uint32_t nsid)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.nsid = nsid;
	sqe.prp1 = prp1;
	sqe.cdw10 = cdw10;
	sqe.cdw11 = cdw11;
	return sqe;
}

} // namespace hil_test
