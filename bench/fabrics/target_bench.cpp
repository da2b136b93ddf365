// hz-bench-fabrics: 4 KiB reads of an NVMe/TCP target, from a host without a kernel. Prints a line of JSON.
//
//	hz-bench-fabrics memory SECONDS DEPTH          a target of this process, on blocks in memory: what the target alone costs
//	hz-bench-fabrics PORT NQN SECONDS DEPTH        one that is there; with 0 SECONDS its blocks are only written
// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <pthread.h>
#include <time.h>

#include "target_rig.hpp"

using namespace hz;
using namespace hz::fabrics;
using namespace hz::test;
using nlohmann::ordered_json;
using std::chrono::steady_clock;

namespace {

constexpr uint32_t block_bytes = 4096, nsid = 1;
constexpr uint64_t most_blocks = 2048;
constexpr unsigned write_depth = 16;

double cpu_s(clockid_t clock)
{
	timespec time{};
	clock_gettime(clock, &time);
	return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

struct Host {
	Host(uint16_t port, const std::string &name)
		: admin(port, {.subsystem = name}), queue(port, {.subsystem = name, .flow_control = false})
	{
		queue.begin(1, admin.begin());
		blocks = std::min(most_blocks, read_record<nvme_identify_namespace>(admin.identify(NVME_CNS_NAMESPACE, nsid)).nsze);
	}
	Initiator admin, queue;
	uint64_t blocks = 0;
};

nvme_sqe io(uint8_t opcode, uint64_t block) { return Initiator::command(opcode, nsid, static_cast<uint32_t>(block)); }

void must(const HostCompletion &done)
{
	if (!done.status)
		return;
	std::fprintf(stderr, "hz-bench-fabrics: a command ended with status %x\n", done.status);
	std::exit(1);
}

void write_all(Host &host)
{
	unsigned under_way = 0;
	for (uint64_t block = 0; block < host.blocks || under_way;) {
		for (; block < host.blocks && under_way < write_depth; block++, under_way++)
			host.queue.submit(io(NVME_IO_WRITE, block), Bytes(block_bytes, std::byte(block)));
		must(host.queue.wait());
		under_way--;
	}
}

// Random blocks, at a constant depth. target: the CPU clock of the target's thread, or -1.
ordered_json read_for(Host &host, double seconds, unsigned depth, clockid_t target)
{
	std::map<uint16_t, steady_clock::time_point> begun;
	std::vector<double> us;
	uint64_t random = 1;
	const auto start = steady_clock::now();
	const auto end = start + std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
	const double host_s = cpu_s(CLOCK_THREAD_CPUTIME_ID), target_s = target == -1 ? 0 : cpu_s(target);
	for (auto now = start; now < end || !begun.empty();) {
		for (; now < end && begun.size() < depth; now = steady_clock::now()) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			begun[host.queue.submit(io(NVME_IO_READ, (random >> 33) % host.blocks), {}, block_bytes)] = now;
		}
		const HostCompletion done = host.queue.wait();
		must(done);
		now = steady_clock::now();
		us.push_back(std::chrono::duration<double, std::micro>(now - begun.at(done.cid)).count());
		begun.erase(done.cid);
	}
	const double wall_s = std::chrono::duration<double>(steady_clock::now() - start).count();
	std::ranges::sort(us);
	ordered_json figures{{"depth", depth},
			     {"reads", us.size()},
			     {"wall_s", wall_s},
			     {"reads_per_s", double(us.size()) / wall_s},
			     {"p50_us", us[us.size() / 2]},
			     {"p99_us", us[us.size() * 99 / 100]},
			     {"host_cpu_us_per_read", (cpu_s(CLOCK_THREAD_CPUTIME_ID) - host_s) * 1e6 / double(us.size())}};
	if (target != -1)
		figures["target_cpu_us_per_read"] = (cpu_s(target) - target_s) * 1e6 / double(us.size());
	return figures;
}

struct InMemory : TargetRig {
	ordered_json measure(double seconds, unsigned depth)
	{
		Host host(port(), subsystem_name);
		write_all(host);
		clockid_t clock = -1;
		if (pthread_getcpuclockid(thread.native_handle(), &clock))
			clock = -1;
		return read_for(host, seconds, depth, clock);
	}
};

int usage()
{
	std::fputs("usage: hz-bench-fabrics memory SECONDS DEPTH | PORT NQN SECONDS DEPTH\n", stderr);
	return 2;
}

int run(int argc, char **argv)
{
	if (argc != 4 && argc != 5)
		return usage();
	const double seconds = std::atof(argv[argc - 2]);
	const unsigned depth = static_cast<unsigned>(std::clamp(std::atoi(argv[argc - 1]), 1, Connection::most_entries - 1));
	if (argc == 4) {
		std::printf("%s\n", InMemory().measure(seconds, depth).dump().c_str());
		return 0;
	}
	Host host(static_cast<uint16_t>(std::atoi(argv[1])), argv[2]);
	if (seconds > 0)
		std::printf("%s\n", read_for(host, seconds, depth, -1).dump().c_str());
	else
		write_all(host);
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		return run(argc, argv);
	} catch (const std::exception &e) {
		std::fprintf(stderr, "hz-bench-fabrics: %s\n", e.what());
		return 1;
	}
}
