// A machine in software, in place of QEMU and of the vsock daemon: the real HIL over a scripted FTL that keeps what is written, with the
// run directory's shared region as its host memory and the socket `vm` as its register link. It boots in milliseconds and can run under
// a sanitizer. HARTZONE_QEMU and HARTZONE_VSOCK_DAEMON name it; which of the two it is, it sees from its arguments.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unordered_map>
#include <unistd.h>

#include "rig.hpp"
#include "session/machine/descriptor.hpp"
#include "session/machine/futex.hpp"
#include "session/machine/unix_socket.hpp"

namespace {

using namespace std::chrono_literals;
using hil_test::Rig;
using hz::Descriptor;

Descriptor listener_at(const char *name)
{
	Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	const hz::UnixAddress address(".", name);
	if (bind(listener.get(), address.get(), address.bytes) || listen(listener.get(), 8))
		std::abort();
	return listener;
}

// The register link as the daemon offers it: "CONNECT 5000\n" is answered by "OK 5000\n", bytes follow.
class Wire {
public:
	Wire() : listener_(listener_at("vm")) {}

	// Moves bytes both ways, without waiting.
	void pump(Rig &rig)
	{
		if (!peer_)
			admit();
		char data[4096];
		for (ssize_t got; peer_ && (got = recv(peer_.get(), data, sizeof(data), 0)) >= 0;) {
			if (got == 0) {
				peer_ = Descriptor();
				rig.leave();
			}
			rig.to_device.insert(rig.to_device.end(), data, data + got);
		}
		std::string out(rig.to_host.begin(), rig.to_host.end());
		rig.to_host.clear();
		if (peer_ && !out.empty() && send(peer_.get(), out.data(), out.size(), MSG_NOSIGNAL) < 0)
			peer_ = Descriptor();
	}
	bool connected() const { return bool(peer_); }
	// Until there is something to read or to accept.
	void sleep(int milliseconds) const
	{
		pollfd item{peer_ ? peer_.get() : listener_.get(), POLLIN, 0};
		poll(&item, 1, milliseconds);
	}

private:
	void admit()
	{
		Descriptor peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
		std::string hello;
		for (char c; peer && hello.find('\n') == hello.npos && read(peer.get(), &c, 1) == 1;)
			hello += c;
		if (hello != "CONNECT 5000\n" || send(peer.get(), "OK 5000\n", 8, MSG_NOSIGNAL) != 8)
			return;
		fcntl(peer.get(), F_SETFL, O_NONBLOCK);
		peer_ = std::move(peer);
	}

	Descriptor listener_, peer_;
};

// Sectors by LBA; unwritten ones are zero. From slow_lba on a command takes 10 ms.
class Flash {
public:
	Answer execute(const ftl_request &request)
	{
		for (uint32_t i = 0; i < request.sectors; i++) {
			std::vector<uint8_t> &sector = sectors_[request.lba + i];
			sector.resize(HZ_SECTOR_BYTES);
			if (request.op == FTL_WRITE)
				sgl_read(&request.sgl, i * HZ_SECTOR_BYTES, sector.data(), HZ_SECTOR_BYTES);
			else if (request.op == FTL_READ)
				sgl_write(&request.sgl, i * HZ_SECTOR_BYTES, sector.data(), HZ_SECTOR_BYTES);
		}
		return {.service_ns = request.lba < slow_lba ? 1000u : 10000000u};
	}

private:
	static constexpr uint64_t slow_lba = 700;
	std::unordered_map<uint64_t, std::vector<uint8_t>> sectors_;
};

int act_as_daemon()
{
	const Descriptor listener = listener_at("v.sock");
	for (;;)
		pause();
}

int act_as_machine()
{
	const Descriptor shm(open("shm", O_RDWR | O_CLOEXEC));
	struct stat info {};
	fstat(shm.get(), &info);
	auto *region = static_cast<uint8_t *>(
		mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, shm.get(), 0));
	if (region == MAP_FAILED)
		return 1;
	auto &header = *reinterpret_cast<hz_shm_header *>(region);
	hil_test::Options options;
	options.virtual_clock = header.virtual_clock;
	options.region = region;
	options.bytes = static_cast<uint64_t>(info.st_size);
	Rig rig(options);
	Wire wire;
	Flash flash;
	rig.fake->script = [&](const ftl_request &request) {
		rig.fake->log.clear();
		return flash.execute(request);
	};
	rig.on_poll = [&] { wire.pump(rig); };
	rig.on_host_wait = [&] {
		wire.sleep(1);
		return true;
	};
	rig.on_wake = [&](unsigned queue) { hz::futex_wake_all(reinterpret_cast<uint32_t *>(&rig.clock(queue).completed)); };
	std::atomic_ref(header.boot_state).store(HZ_BOOT_READY);
	while (std::atomic_ref(header.boot_state).load() != HZ_BOOT_STOPPED || wire.connected()) {
		rig.run();
		wire.sleep(1);
	}
	return 0;
}

} // namespace

int main(int argc, char **argv) { return argc > 1 && std::string(argv[1]).starts_with("--guest-cid") ? act_as_daemon() : act_as_machine(); }
