// Fuzz target: a hostile host under either clock. Commands with any PRPs, arrival times, promises, doorbells and counts on three queues of
// a whole HIL; at the end a controller reset must bring back a device that serves an honest host.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "rig.hpp"

using namespace hil_test;

namespace {

constexpr unsigned queue_count = 3;
constexpr uint32_t queue_depth = 8, page_count = 16;
uint64_t commands, answered, taken; // of all inputs: placed in queues; of these answered; of these come to the FTL

void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	std::abort();
}

// The rest of the input; zeroes after its end.
struct Input {
	const uint8_t *data;
	size_t size;
	uint64_t take(size_t bytes)
	{
		uint64_t value = 0;
		size_t n = std::min(bytes, size);
		std::memcpy(&value, data, n);
		data += n;
		size -= n;
		return value;
	}
};

class Host {
public:
	Host(Input in, bool virtual_clock) : in_(in), virtual_clock_(virtual_clock), rig_({.virtual_clock = virtual_clock, .inflight = 16})
	{
		rig_.fake->script = [this](const ftl_request &req) { return serve(req); };
		for (uint32_t i = 0; i < page_count * 512; i++)
			rig_.at<uint64_t>(rig_.buffer())[i] = rig_.buffer() + i % page_count * 4096;
	}
	void run()
	{
		start();
		while (in_.size)
			act();
		serve_an_honest_host();
	}

private:
	// Legal pages only, whatever the PRPs were; some requests take long, some fail.
	Answer serve(const ftl_request &req)
	{
		for (uint32_t at = 0; at < req.sgl.bytes; at += HZ_SECTOR_BYTES) {
			auto offset = static_cast<uint64_t>(req.sgl.memory[(req.sgl.offset + at) / HZ_SECTOR_BYTES] - rig_.at(0));
			require(offset >= HZ_SHM_HEAP_OFFSET && offset + HZ_SECTOR_BYTES <= region_bytes,
				"a request names memory that is not the host's");
		}
		if (req.op == FTL_CANCEL)
			return {};
		taken++;
		return {.service_ns = served_++ % 7 * 3000,
			.ready_ns = served_ % 3 * 1000,
			.status = uint16_t(served_ % 5 ? 0 : NVME_WRITE_FAULT)};
	}
	void publish(Rig::Queue &queue, uint64_t horizon_ns)
	{
		rig_.publish(queue, horizon_ns);
		if (virtual_clock_)
			return;
		rig_.post(NVME_REG_DOORBELLS + queue.id * 8, queue.submitted % queue_depth);
		rig_.post(NVME_REG_DOORBELLS + queue.id * 8 + 4, queue.consumed % queue_depth);
	}
	void start()
	{
		rig_.enable();
		queues_.clear();
		admin_tail_ = 2 * queue_count;
		rings_ = rings_ ? rings_ : rig_.allocate(queue_count * 8192);
		for (unsigned id = 1; id <= queue_count; id++) {
			Rig::Queue queue{id, queue_depth, rings_ + (id - 1) * 8192, rings_ + (id - 1) * 8192 + 4096};
			std::memset(rig_.at(queue.cq), 0, 4096);
			std::memset(static_cast<void *>(&rig_.clock(id)), 0, sizeof(hz_queue_clock));
			rig_.clock(id).turnaround_ns = 4000;
			require(rig_.create_cq(id, queue_depth, queue.cq) == 0 && rig_.create_sq(id, queue_depth, queue.sq, id) == 0,
				"an honest queue is refused");
			queues_.push_back(queue);
		}
		for (auto &queue : queues_)
			rig_.open(queue);
	}
	uint64_t time()
	{
		uint64_t kind = in_.take(1), near = in_.take(2);
		switch (kind) {
		case 1: return 0;
		case 2: return near;
		case 3: return UINT64_MAX - near;
		case 4: return near << 48 | near;
		case 5: return rig_.now() + (near << 16);
		case 6: return HZ_ARRIVAL_MOST_NS + near;
		case 7:
		case 8: return hz_arrival_following(near % (queue_depth + 2), near >> 8);
		default: return kind & 32 ? UINT64_MAX : kind & 16 ? rig_.now() - near : rig_.now() + near;
		}
	}
	// Mostly whole pages, which may serve as PRP lists.
	uint64_t address() { return rig_.buffer() + in_.take(1) % page_count * 4096 - (in_.take(1) & 15 ? 0 : in_.take(2) << 8); }
	void place(Rig::Queue &queue)
	{
		static const uint8_t opcodes[] = {0x00, 0x01, 0x02, 0x08, 0x79, 0x7a, 0x7d, 0x02};
		uint64_t kind = in_.take(1);
		nvme_sqe sqe = io_sqe(opcodes[kind % 8], in_.take(2) % 1024, 1 + in_.take(1) % 40, address(), address());
		sqe.cdw13 = static_cast<uint32_t>(in_.take(1));
		sqe.nsid = (kind & 192) == 64 ? static_cast<uint32_t>(in_.take(1)) : 1;
		if ((kind & 192) == 192)
			sqe.opcode = static_cast<uint8_t>(in_.take(1));
		rig_.place(queue, sqe, kind & 8 ? time() : rig_.now());
		commands++;
		if (kind & 48)
			publish(queue, kind & 16 ? UINT64_MAX : time());
		if (kind & 16)
			rig_.run_for(2000);
	}
	void act()
	{
		uint64_t kind = in_.take(1);
		Rig::Queue &queue = queues_[kind / 16 % queue_count];
		hz_queue_clock &clock = rig_.clock(queue.id);
		switch (kind % 16) {
		default: place(queue); break;
		case 6:
		case 7: publish(queue, time()); break;
		case 8: rig_.open(queue, time()); break;
		case 9: clock.open = static_cast<uint32_t>(in_.take(1) & 1); break;
		case 10:
			while (rig_.peek(queue)) {}
			publish(queue, time());
			break;
		case 11: rig_.run_for(in_.take(2)); break;
		case 12: in_.take(1) & 8 ? again() : lie(clock); break;
		case 13: rig_.post(NVME_REG_DOORBELLS + queue.id * 8 + (in_.take(1) & 4), in_.take(1)); break;
		case 14: rig_.at<uint64_t>(rig_.buffer())[in_.take(2) % (page_count * 512)] = address(); break;
		case 15: admin(); break;
		}
	}
	void lie(hz_queue_clock &clock)
	{
		uint64_t which = in_.take(1), value = in_.take(1);
		uint64_t *const words[] = {&clock.submitted, &clock.seen, &clock.horizon_ns, &clock.arrival_ns[value % queue_depth],
					   &clock.completed_ns[value % queue_depth]};
		if (which % 6 == 5)
			clock.turnaround_ns = which & 64 ? UINT32_MAX : static_cast<uint32_t>(value);
		else
			*words[which % 6] = which & 64 ? *words[which % 6] + value : time();
	}
	void admin()
	{
		static const uint8_t opcodes[] = {0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x7c, 0xc0};
		nvme_sqe sqe = admin_sqe(opcodes[in_.take(1) % sizeof(opcodes)], static_cast<uint32_t>(in_.take(1) | in_.take(1) << 16),
					 static_cast<uint32_t>(in_.take(1) | in_.take(1) << 16), address(),
					 static_cast<uint32_t>(in_.take(1) % 3));
		rig_.place_admin(sqe);
		rig_.post(NVME_REG_DOORBELLS, ++admin_tail_ % 32);
		commands++;
	}
	// A controller reset, whatever the queues hold and promise.
	void again()
	{
		for (auto &queue : queues_) {
			rig_.clock(queue.id).open = 0;
			answered += std::min(rig_.clock(queue.id).completed, queue.submitted);
		}
		rig_.post(NVME_REG_CC, 0);
		csts_ = NVME_CSTS_RDY;
		for (uint64_t ns = 10000; ready() && ns <= 4 * HZ_ARRIVAL_MOST_NS; ns *= 2) /* time stands where a promise ends */
			rig_.run_for(ns);
		require(!(csts_ & NVME_CSTS_RDY), "the controller does not reset");
		start();
	}
	void serve_an_honest_host()
	{
		Rig::Queue &queue = queues_[0];
		again();
		rig_.fake->script = [](const ftl_request &) { return Answer{}; };
		rig_.place(queue, io_sqe(NVME_IO_READ, 0, 1, rig_.buffer()), rig_.now());
		for (auto &other : queues_)
			publish(other, UINT64_MAX);
		rig_.run_for(1000000);
		auto cqe = rig_.peek(queue);
		if (rig_.now() > HZ_ARRIVAL_MOST_NS) // the hostile one promised nothing before the end of device time, and left
			require(rig_.clock(queue.id).broken, "nobody says that device time has ended");
		else
			require(cqe && cqe->status == 0, "an honest command fails");
	}
	bool ready()
	{
		hz_link_message message{HZ_LINK_READ, 4, 78, NVME_REG_CSTS, 0};
		rig_.send(&message, sizeof(message));
		rig_.run_for(10000);
		for (const auto &reply : rig_.received())
			if (reply.tag == 78 && reply.type == HZ_LINK_VALUE)
				csts_ = reply.value;
		return csts_ & NVME_CSTS_RDY;
	}

	Input in_;
	bool virtual_clock_;
	Rig rig_;
	std::vector<Rig::Queue> queues_;
	uint64_t rings_ = 0, served_ = 0, csts_ = NVME_CSTS_RDY;
	uint32_t admin_tail_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
	return std::atexit([] {
		fprintf(stderr, "%llu commands, %llu answered, %llu came to the FTL\n", static_cast<unsigned long long>(commands),
			static_cast<unsigned long long>(answered), static_cast<unsigned long long>(taken));
	});
}
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
// Long inputs of any bytes are what this target needs most: every byte means something.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	if (seed % 4 == 0)
		return LLVMFuzzerMutate(data, size, most);
	std::mt19937 random(seed);
	std::generate_n(data, most, [&] { return static_cast<uint8_t>(random()); });
	return most;
}
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	Host host({data + 1, size - 1}, (data[0] & 3) != 0);
	host.run();
	return 0;
}
