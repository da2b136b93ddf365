// A host without a kernel: one queue on a target, for tests and for measuring the target.
//
//	fabrics_load PORT NQN NSID read|write|mixed SECONDS DEPTH
//	fabrics_load PORT NQN zones
//	fabrics_load PORT NQN blocks
//	fabrics_load PORT NQN admin
//	fabrics_load PORT NQN namespaces
//	fabrics_load PORT NQN events
//	fabrics_load PORT NQN format
//
// `zones` writes, appends, reads, resets and finishes in the first zones of namespace 1; `blocks` writes all of namespace 2 in commands that
// lie over the ends of its zones, and zeroes, verifies and deallocates parts of it; `admin` identifies, reads logs and sets features.
// `namespaces` detaches, deletes, makes and attaches namespace 2 of a device that has two of blocks. `events` chooses events of flexible
// data placement; `format` writes to namespace 1 and formats it with user data erase.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "initiator.hpp"

using namespace hz;
using namespace hz::fabrics;
using namespace hz::test;
using std::chrono::steady_clock;

namespace {

constexpr uint32_t block_bytes = 4096;

nvme_sqe io(uint8_t opcode, uint32_t nsid, uint64_t block, uint32_t blocks)
{
	return Initiator::command(opcode, nsid, static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), blocks - 1);
}

struct Pair {
	Pair(uint16_t port, const std::string &name)
		: admin(port, {.subsystem = name}), queue(port, {.subsystem = name, .flow_control = false})
	{
		controller = admin.begin();
		queue.begin(1, controller);
	}
	Initiator admin, queue;
	uint16_t controller;
};

Bytes block_of(uint64_t seed)
{
	Bytes out(block_bytes);
	for (size_t i = 0; i < out.size(); i += 8)
		write_record(std::span(out), seed * 0x9e3779b97f4a7c15 + i, i);
	return out;
}

void must(const HostCompletion &done, uint16_t status, const char *what)
{
	if (done.status == status)
		return;
	std::fprintf(stderr, "%s: status %x instead of %x\n", what, done.status, status);
	std::exit(1);
}

nvme_sqe zone_send(uint64_t zone, nvme_zone_send_action action)
{
	return Initiator::command(NVME_IO_ZONE_MGMT_SEND, 1, static_cast<uint32_t>(zone), 0, 0, action);
}

uint64_t zone_size(Pair &host)
{
	const Bytes report = host.queue.run(Initiator::command(NVME_IO_ZONE_MGMT_RECV, 1, 0, 0, 4096 / 4 - 1, 1 << 16), {}, 4096).data;
	return read_record<nvme_zone_descriptor>(report, 128).start - read_record<nvme_zone_descriptor>(report, 64).start;
}

// Each status as the device gives it, each byte as it was written.
int zones(Pair &host)
{
	Initiator &queue = host.queue;
	const uint64_t size = zone_size(host);
	for (unsigned round = 0; round < 20; round++) {
		for (uint64_t i = 0; i < 16; i++)
			must(queue.run(io(NVME_IO_WRITE, 1, i, 1), block_of(i + round)), 0, "write");
		must(queue.run(io(NVME_IO_WRITE, 1, 3, 1), block_of(0)), NVME_ZONE_INVALID_WRITE, "write beside the write pointer");
		const HostCompletion appended = queue.run(io(NVME_IO_ZONE_APPEND, 1, size, 4), Bytes(4 * block_bytes));
		must(appended, 0, "append");
		if (appended.result != size)
			return std::fprintf(stderr, "appended at %llu\n", static_cast<unsigned long long>(appended.result)), 1;
		for (uint64_t i = 0; i < 16; i++)
			if (queue.run(io(NVME_IO_READ, 1, i, 1), {}, block_bytes).data != block_of(i + round))
				return std::fprintf(stderr, "block %llu is another\n", static_cast<unsigned long long>(i)), 1;
		must(queue.run(io(NVME_IO_FLUSH, 1, 0, 1)), 0, "flush");
		must(queue.run(zone_send(size, NVME_ZSA_FINISH)), 0, "finish");
		must(queue.run(zone_send(0, NVME_ZSA_RESET)), 0, "reset");
		must(queue.run(zone_send(size, NVME_ZSA_RESET)), 0, "reset");
	}
	std::printf("zones of %llu blocks: all as it should be\n", static_cast<unsigned long long>(size));
	return 0;
}

nvme_sqe deallocate(uint32_t nsid) { return Initiator::command(NVME_IO_DATASET_MANAGEMENT, nsid, 0, NVME_DSM_DEALLOCATE); }

Bytes blocks_of(uint64_t first, uint32_t count)
{
	Bytes out;
	for (uint64_t i = 0; i < count; i++) {
		const Bytes one = block_of(first + i);
		out.insert(out.end(), one.begin(), one.end());
	}
	return out;
}

int blocks(Pair &host)
{
	constexpr uint32_t part = 13, nsid = 2; // no zone ends between two
	Initiator &queue = host.queue;
	const auto size = read_record<nvme_identify_namespace>(host.admin.identify(NVME_CNS_NAMESPACE, nsid)).nsze;
	for (uint64_t i = 0; i < size; i += part)
		must(queue.run(io(NVME_IO_WRITE, nsid, i, static_cast<uint32_t>(std::min<uint64_t>(part, size - i))),
			       blocks_of(i, static_cast<uint32_t>(std::min<uint64_t>(part, size - i)))),
		     0, "write");
	must(queue.run(io(NVME_IO_WRITE, nsid, size - 1, 2), blocks_of(0, 2)), NVME_LBA_OUT_OF_RANGE, "write over the end");
	for (uint64_t i = 0; i + part <= size; i += part)
		if (queue.run(io(NVME_IO_READ, nsid, i, part), {}, part * block_bytes).data != blocks_of(i, part))
			return std::fprintf(stderr, "blocks from %llu on are others\n", static_cast<unsigned long long>(i)), 1;
	must(queue.run(io(NVME_IO_WRITE_ZEROES, nsid, 5, 100)), 0, "write zeroes");
	must(queue.run(io(NVME_IO_VERIFY, nsid, 0, 100)), 0, "verify");
	must(queue.run(io(NVME_IO_WRITE_UNCORRECTABLE, nsid, 110, 3)), 0, "write uncorrectable");
	must(queue.run(io(NVME_IO_READ, nsid, 112, 1), {}, block_bytes), NVME_UNRECOVERED_READ, "read of a marked block");
	must(queue.run(io(NVME_IO_WRITE, nsid, 110, 3), blocks_of(110, 3)), 0, "write over marked blocks");
	must(queue.run(io(NVME_IO_VERIFY, nsid, 100, 20)), 0, "verify of blocks that were marked");
	Bytes range(4096);
	write_record(std::span(range), nvme_dsm_range{0, static_cast<uint32_t>(size - 200), 200});
	must(queue.run(deallocate(nsid), range), 0, "deallocate");
	if (queue.run(io(NVME_IO_READ, nsid, 5, 100), {}, 100 * block_bytes).data != Bytes(100 * block_bytes) ||
	    queue.run(io(NVME_IO_READ, nsid, size - 4, 4), {}, 4 * block_bytes).data != Bytes(4 * block_bytes) ||
	    queue.run(io(NVME_IO_READ, nsid, 105, 1), {}, block_bytes).data != block_of(105))
		return std::fputs("what was zeroed or deallocated is not zero, or more is\n", stderr), 1;
	std::printf("%llu blocks: all as it should be\n", static_cast<unsigned long long>(size));
	return 0;
}

// Commands that reach the device; the write cache is switched off and on, and on at the end.
int admin_commands(Pair &host)
{
	constexpr unsigned rounds = 20;
	constexpr uint32_t bytes = 512, dwords = bytes / 4 - 1;
	Initiator &admin = host.admin;
	for (unsigned round = 0; round < rounds; round++) {
		host.admin.identify(NVME_CNS_CONTROLLER);
		host.admin.identify(NVME_CNS_NAMESPACE, 1);
		must(admin.run(Initiator::command(NVME_ADMIN_GET_LOG_PAGE, NVME_NSID_ALL, NVME_LOG_SMART | dwords << 16), {}, bytes), 0,
		     "log page");
		must(admin.run(Initiator::command(NVME_ADMIN_SET_FEATURES, 0, NVME_FEAT_VOLATILE_WRITE_CACHE, round % 2)), 0,
		     "set features");
		const HostCompletion got = admin.run(Initiator::command(NVME_ADMIN_GET_FEATURES, 0, NVME_FEAT_VOLATILE_WRITE_CACHE));
		must(got, 0, "get features");
		if (got.result != round % 2)
			return std::fputs("a feature is another than was set\n", stderr), 1;
	}
	std::printf("%u admin commands: all as it should be\n", 5 * rounds);
	return 0;
}

void attach(Initiator &admin, uint16_t controller, uint32_t nsid, bool on)
{
	Bytes list(4096);
	write_record(std::span(list), nvme_controller_list{1, {controller}});
	must(admin.run(Initiator::command(NVME_ADMIN_NAMESPACE_ATTACHMENT, nsid, !on), list), 0, on ? "attach" : "detach");
}

int namespaces(Pair &host)
{
	constexpr unsigned rounds = 10;
	constexpr uint32_t nsid = 2, make = 0, remove = 1;
	Initiator &admin = host.admin;
	const Bytes size = admin.identify(NVME_CNS_NAMESPACE, nsid);
	Bytes wish(4096);
	std::copy_n(size.begin(), 16, wish.begin());
	for (unsigned round = 0; round < rounds; round++) {
		attach(admin, host.controller, nsid, false);
		if (read_record<uint32_t>(admin.identify(NVME_CNS_ACTIVE_NAMESPACES), 4))
			return std::fputs("a detached namespace is still there\n", stderr), 1;
		must(admin.run(Initiator::command(NVME_ADMIN_NAMESPACE_MANAGEMENT, nsid, remove)), 0, "delete");
		const HostCompletion made = admin.run(Initiator::command(NVME_ADMIN_NAMESPACE_MANAGEMENT, 0, make), wish);
		must(made, 0, "make");
		attach(admin, host.controller, static_cast<uint32_t>(made.result), true);
		must(host.queue.run(io(NVME_IO_WRITE, nsid, round, 1), block_of(round)), 0, "write");
		if (host.queue.run(io(NVME_IO_READ, nsid, round, 1), {}, block_bytes).data != block_of(round))
			return std::fputs("a block of the new namespace is another\n", stderr), 1;
	}
	std::printf("%u namespaces: all as it should be\n", rounds);
	return 0;
}

int load(Pair &host, uint32_t nsid, const std::string &what, double seconds, unsigned depth)
{
	constexpr uint64_t most_span = 2048; // blocks, of a namespace that takes writes anywhere, or that has been written
	const uint64_t span = std::min(most_span, read_record<nvme_identify_namespace>(host.admin.identify(NVME_CNS_NAMESPACE, nsid)).nsze);
	std::map<uint16_t, steady_clock::time_point> begun;
	std::vector<double> us;
	uint64_t random = 1, next = 0, failed = 0;
	const auto start = steady_clock::now(),
		   end = start + std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
	const Bytes data = block_of(1);
	while (steady_clock::now() < end || !begun.empty()) {
		while (begun.size() < depth && steady_clock::now() < end) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			const bool writes = what == "write" || (what == "mixed" && random >> 40 & 1);
			const uint64_t block = writes && what == "write" ? next++ % span : (random >> 33) % span;
			const auto now = steady_clock::now();
			begun[writes ? host.queue.submit(io(NVME_IO_WRITE, nsid, block, 1), data)
				     : host.queue.submit(io(NVME_IO_READ, nsid, block, 1), {}, block_bytes)] = now;
		}
		if (begun.empty())
			break;
		const HostCompletion done = host.queue.wait();
		failed += done.status != 0;
		us.push_back(std::chrono::duration<double, std::micro>(steady_clock::now() - begun.at(done.cid)).count());
		begun.erase(done.cid);
	}
	const double took = std::chrono::duration<double>(steady_clock::now() - start).count();
	std::sort(us.begin(), us.end());
	std::printf("%s, depth %u: %zu commands, %.0f a second, p50 %.1f us, p99 %.1f us, %llu failed\n", what.c_str(), depth, us.size(),
		    double(us.size()) / took, us[us.size() / 2], us[us.size() * 99 / 100], static_cast<unsigned long long>(failed));
	return failed ? 1 : 0;
}

// Feature 1Eh of handle 1: three types are chosen, and three entries read, which are no whole dwords.
int events(Pair &host)
{
	constexpr uint32_t handle = 1, types = 3;
	const Bytes chosen = {std::byte{NVME_FDP_UNIT_NOT_FULL}, std::byte{NVME_FDP_INVALID_PLACEMENT},
			      std::byte{NVME_FDP_MEDIA_REALLOCATED}};
	const auto feature = [](uint8_t opcode) { return Initiator::command(opcode, 1, NVME_FEAT_FDP_EVENTS, handle | types << 16, 1); };
	must(host.admin.run(feature(NVME_ADMIN_SET_FEATURES), chosen), 0, "set");
	const HostCompletion got = host.admin.run(feature(NVME_ADMIN_GET_FEATURES), {}, types * sizeof(nvme_fdp_event_choice));
	must(got, 0, "get");
	for (uint32_t i = 0; i < types; i++)
		if (got.data.size() != types * sizeof(nvme_fdp_event_choice) || got.data[2 * i] != chosen[i] ||
		    got.data[2 * i + 1] != std::byte{1})
			return std::fprintf(stderr, "fabrics_load: entry %u is not as it was chosen\n", i), 1;
	if (!host.admin.run(feature(NVME_ADMIN_SET_FEATURES), {chosen[0]}).status)
		return std::fputs("fabrics_load: fewer types than were named are taken\n", stderr), 1;
	// The status of the handles does not fill the buffer that it is asked for: behind it nothing of another command shows.
	for (unsigned slot = 0; slot < 2 * 128; slot++)
		must(host.queue.run(io(NVME_IO_WRITE, 1, 0, 1), Bytes(block_bytes, std::byte{0xff})), 0, "write");
	const HostCompletion status = host.queue.run(Initiator::command(NVME_IO_MGMT_RECEIVE, 1, NVME_IO_MGMT_HANDLES, block_bytes / 4 - 1),
						     {}, block_bytes);
	must(status, 0, "status");
	const size_t used = sizeof(nvme_handles_status) + read_record<nvme_handles_status>(status.data).count * sizeof(nvme_handle_status);
	if (std::any_of(status.data.begin() + std::ptrdiff_t(used), status.data.end(), [](std::byte b) { return b != std::byte{0}; }))
		return std::fputs("fabrics_load: data of another command show\n", stderr), 1;
	std::puts("3 events: all as it should be");
	return 0;
}

int format(Pair &host)
{
	constexpr uint32_t erase_user_data = 1 << 9;
	must(host.queue.run(io(NVME_IO_WRITE, 1, 0, 1), Bytes(block_bytes, std::byte{1})), 0, "write");
	must(host.admin.run(Initiator::command(NVME_ADMIN_FORMAT_NVM, 1, erase_user_data)), 0, "format");
	const HostCompletion read = host.queue.run(io(NVME_IO_READ, 1, 0, 1), {}, block_bytes);
	must(read, 0, "read");
	if (read.data != Bytes(block_bytes))
		return std::fputs("fabrics_load: data outlast a format\n", stderr), 1;
	std::puts("a format: all as it should be");
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 7)
		return std::fputs(
			       "fabrics_load PORT NQN zones|blocks|admin|namespaces|events|format, or PORT NQN NSID read|write|mixed SECONDS DEPTH\n",
			       stderr),
		       2;
	Pair host(static_cast<uint16_t>(std::atoi(argv[1])), argv[2]);
	if (argc == 4)
		return std::string(argv[3]) == "blocks"       ? blocks(host)
		       : std::string(argv[3]) == "admin"      ? admin_commands(host)
		       : std::string(argv[3]) == "namespaces" ? namespaces(host)
		       : std::string(argv[3]) == "events"     ? events(host)
		       : std::string(argv[3]) == "format"     ? format(host)
							      : zones(host);
	return load(host, static_cast<uint32_t>(std::atoi(argv[3])), argv[4], std::atof(argv[5]),
		    static_cast<unsigned>(std::atoi(argv[6])));
}
