// Fuzz target: what a host may send on a connection of NVMe/TCP, from noise to PDUs that are right but for a field, on a whole subsystem with
// a device in memory, in every state of the connection. Another host's connection goes on, and whatever the one holds is given back.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/socket.h>

#include "fabrics/connection.hpp"
#include "fabrics/controller.hpp"
#include "ram_backend.hpp"

using namespace hz;
using namespace hz::fabrics;

namespace {

constexpr const char *name = "nqn.2026-11.org.hartzone:fuzz";

uint64_t pdus; // that came whole to a connection

struct Count {
	~Count() { std::fprintf(stderr, "%llu PDUs\n", static_cast<unsigned long long>(pdus)); }
} count;

void require(bool true_is, const char *what)
{
	if (!true_is) {
		std::fprintf(stderr, "%s\n", what);
		std::abort();
	}
}

// The rest of the input.
class Script {
public:
	Script(const uint8_t *data, size_t size) : data_(data), size_(size) {}
	bool empty() const { return !size_; }
	uint8_t byte() { return size_ ? size_--, *data_++ : 0; }
	uint32_t word() { return byte() | byte() << 8 | byte() << 16 | static_cast<uint32_t>(byte()) << 24; }
	Bytes bytes(size_t most)
	{
		Bytes out;
		while (out.size() < most && size_)
			out.push_back(std::byte(byte()));
		return out;
	}

private:
	const uint8_t *data_;
	size_t size_;
};

template <class Record> std::span<const std::byte> view(const Record &record) { return std::as_bytes(std::span(&record, 1)); }

// The other end of a connection, in the same thread: never blocks.
class Host {
public:
	Host(const std::shared_ptr<Subsystem> &subsystem, hz::test::RamBackend &backend) : backend_(backend)
	{
		int ends[2];
		require(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), "no socketpair");
		ours_ = Descriptor(ends[0]);
		connection = std::make_shared<Connection>(Descriptor(ends[1]), subsystem, Clock::now());
	}

	void send(const Bytes &bytes)
	{
		for (size_t done = 0; done < bytes.size() && !connection->ended();) {
			const ssize_t went = ::send(ours_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
			if (went < 0 && errno != EAGAIN)
				break;
			done += went > 0 ? static_cast<size_t>(went) : 0;
			turn();
		}
		turn();
	}

	void turn()
	{
		if (!connection->ended())
			connection->turn(POLLIN, Clock::now());
		backend_.turn();
		if (!connection->ended())
			connection->flush();
		receive();
	}

	Bytes pdu(uint8_t type, std::span<const std::byte> header, std::span<const std::byte> data, uint8_t flags = 0) const
	{
		const Digests used = type == pdu_command || type == pdu_h2c_data ? digests : Digests{};
		const size_t start = header.size() + (used.header ? 4 : 0),
			     total = start + data.size() + (used.data && !data.empty() ? 4 : 0);
		const PduHead head{type, static_cast<uint8_t>(flags | (used.header ? 1 : 0) | (used.data && !data.empty() ? 2 : 0)),
				   static_cast<uint8_t>(header.size()), static_cast<uint8_t>(data.empty() ? 0 : start),
				   static_cast<uint32_t>(total)};
		Bytes out(total);
		std::copy(header.begin(), header.end(), out.begin());
		write_record(std::span(out), head);
		if (used.header)
			write_record(std::span(out), crc32c(std::span(out).first(header.size())), header.size());
		std::copy(data.begin(), data.end(), out.begin() + static_cast<ptrdiff_t>(start));
		if (used.data && !data.empty())
			write_record(std::span(out), crc32c(data), total - 4);
		return out;
	}

	void set_up(uint8_t choice)
	{
		PduInit init{};
		init.digests = choice & 3;
		init.alignment = choice >> 2 & 31;
		send(pdu(pdu_icreq, view(init), {}));
		digests = {(choice & init_header_digest) != 0, (choice & init_data_digest) != 0};
	}

	void command(nvme_sqe sqe, std::span<const std::byte> data, uint32_t length, bool inside)
	{
		write_record(std::as_writable_bytes(std::span(&sqe, 1)), Sgl{0, length, {}, inside ? sgl_in_capsule : sgl_transport},
			     offsetof(nvme_sqe, prp1));
		send(pdu(pdu_command, view(PduCommand{{}, sqe}), inside ? data : std::span<const std::byte>()));
	}

	void connect(uint16_t qid, uint16_t controller)
	{
		nvme_sqe sqe{};
		sqe.opcode = opcode_fabrics;
		sqe.flags = psdt_sgl;
		sqe.nsid = type_connect;
		write_record(std::as_writable_bytes(std::span(&sqe, 1)), ConnectFields{0, qid, 31, 0, 0, 0}, offsetof(nvme_sqe, cdw10));
		ConnectData data{};
		data.cntlid = controller;
		std::string(name).copy(data.subsystem, 255);
		std::string("nqn.host").copy(data.host, 255);
		command(sqe, view(data), sizeof(data), true);
	}

	void enable()
	{
		nvme_sqe sqe{};
		sqe.opcode = opcode_fabrics;
		sqe.flags = psdt_sgl;
		write_record(std::as_writable_bytes(std::span(&sqe, 1)), PropertyFields{0, {}, NVME_REG_CC, NVME_CC_EN},
			     offsetof(nvme_sqe, cdw10));
		command(sqe, {}, 0, false);
	}

	std::shared_ptr<Connection> connection;
	Digests digests;
	PduData asked{};        // the last R2T
	uint64_t responses = 0; // that came

private:
	// Checks the target's complete PDUs, and keeps an incomplete rest.
	void receive()
	{
		std::byte part[65536];
		for (ssize_t got; (got = recv(ours_.get(), part, sizeof(part), 0)) > 0;)
			in_.insert(in_.end(), part, part + got);
		size_t at = 0;
		while (at + sizeof(PduHead) <= in_.size()) {
			const auto head = read_record<PduHead>(in_, at);
			require(head.plen >= sizeof(head) && head.plen <= most_transfer + 256, "the target sends a PDU that cannot be");
			if (at + head.plen > in_.size())
				break;
			if (head.type == pdu_r2t)
				asked = read_record<PduData>(in_, at);
			responses += head.type == pdu_response;
			at += head.plen;
		}
		in_.erase(in_.begin(), in_.begin() + static_cast<ptrdiff_t>(at));
	}

	hz::test::RamBackend &backend_;
	Descriptor ours_;
	Bytes in_;
};

nvme_sqe any_command(Script &script)
{
	static constexpr uint8_t opcodes[] = {0x00, 0x01, 0x02, 0x05, 0x06, 0x08, 0x09, 0x0a, 0x0c,
					      0x0d, 0x15, 0x18, 0x19, 0x79, 0x7a, 0x7d, 0x7f, 0x7f};
	nvme_sqe sqe{};
	const uint8_t choice = script.byte();
	sqe.opcode = choice < sizeof(opcodes) * 8 ? opcodes[choice % sizeof(opcodes)] : choice;
	sqe.flags = script.byte() % 8 ? psdt_sgl : script.byte();
	sqe.cid = script.byte();
	sqe.nsid = sqe.opcode == opcode_fabrics ? script.byte() % 12 : script.byte() % 4;
	sqe.cdw10 = script.byte() | static_cast<uint32_t>(script.byte()) << 16;
	sqe.cdw11 = script.byte() % 4 ? 0 : script.word();
	sqe.cdw12 = script.byte() % 4 ? script.byte() : script.word();
	sqe.cdw13 = script.byte() % 4 ? script.byte() : script.word();
	return sqe;
}

uint32_t any_length(Script &script)
{
	static constexpr uint32_t lengths[] = {0, 4, 16, 64, 512, 1024, 4096, 8192, 16384, 65536, most_transfer, most_transfer + 1, ~0u};
	return lengths[script.byte() % std::size(lengths)] + (script.byte() % 8 ? 0 : script.byte());
}

void act(Host &host, Script &script)
{
	const uint8_t kind = script.byte();
	switch (kind % 8) {
	case 0: return host.send(script.bytes(script.byte()));
	case 1: { // a transfer's next part, as it was asked for or nearly so
		PduData part = host.asked;
		part.offset += script.byte() % 4 ? 0 : script.word();
		part.length = script.byte() % 4 ? std::min(part.length, most_transfer) : any_length(script);
		part.cid = static_cast<uint16_t>(part.cid + (script.byte() % 8 ? 0 : 1));
		const Bytes data(std::min(part.length, most_transfer));
		pdus++;
		return host.send(host.pdu(pdu_h2c_data, view(part), data, script.byte() % 4 ? flag_last : 0));
	}
	case 2: { // any header
		const Bytes header = script.bytes(script.byte() % 2 ? 24 : 72);
		Bytes pdu = host.pdu(script.byte() % 10, header, Bytes(any_length(script) % 5000));
		if (kind & 8 && !pdu.empty())
			pdu[script.byte() % std::min<size_t>(pdu.size(), 128)] ^= std::byte(script.byte());
		pdus++;
		return host.send(pdu);
	}
	case 3: { // a message of authentication, or the wish for one
		nvme_sqe sqe{};
		sqe.opcode = opcode_fabrics;
		sqe.flags = psdt_sgl;
		sqe.cid = script.byte();
		sqe.nsid = kind & 8 ? type_auth_send : type_auth_receive;
		sqe.cdw10 = script.byte() % 8 ? uint32_t(auth_protocol) << 24 | uint32_t(auth_specific) << 16 | auth_specific << 8
					      : script.word();
		const Bytes data = script.bytes(kind & 8 ? 200 : 0);
		sqe.cdw11 = script.byte() % 4 ? static_cast<uint32_t>(kind & 8 ? data.size() : 4096) : script.word();
		pdus++;
		return host.command(sqe, data, kind & 8 ? static_cast<uint32_t>(data.size()) : 4096, kind & 8);
	}
	default: {
		const nvme_sqe sqe = any_command(script);
		const uint32_t length = any_length(script);
		const bool inside = script.byte() % 2 && length <= most_in_capsule + 4;
		const Bytes data(inside ? length : 0, std::byte(script.byte()));
		pdus++;
		return host.command(sqe, data, length, inside);
	}
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const hz_device_config config = [] {
		hz_device_config c{};
		c.namespaces = 1;
		c.namespace_kind = HZ_NS_BLOCK;
		c.channels = c.chips_per_channel = c.dies_per_chip = c.planes_per_die = 1;
		c.blocks_per_plane = 40;
		c.slc_blocks_per_plane = 8;
		c.pages_per_block = 24;
		c.page_bytes = 16384;
		c.cell = HZ_CELL_TLC;
		c.program_pages = 3;
		return c;
	}();
	Script script(data, size);
	hz::test::RamBackend backend(256);
	const auto subsystem = std::make_shared<Subsystem>(SubsystemOptions{name, "127.0.0.1", "1", 64, &config, {}}, backend,
							   std::vector<uint32_t>{1});
	SubsystemOptions closed_options{name, "127.0.0.1", "1", 64, &config, {}}; // the bad host's, sometimes
	closed_options.access.key = SharedKey::parse("DHHC-1:01:U0BkIm8uQhuEN2lM7kJ9zfdyXNpEWWQzRwMjNYMgdFvGs2tB:");
	const auto closed = std::make_shared<Subsystem>(closed_options, backend, std::vector<uint32_t>{1});
	const bool guarded = size > 2 && data[1] & 0x80;
	Host good(subsystem, backend), admin(guarded ? closed : subsystem, backend), host(guarded ? closed : subsystem, backend);
	good.set_up(0);
	good.connect(0, any_controller);
	good.enable();
	const uint8_t state = script.byte() % 5, choice = script.byte();
	if (state > 1) { // 4: the admin queue itself is the bad one
		Host &first = state == 4 ? host : admin;
		first.set_up(state == 4 ? choice : 0);
		first.connect(0, any_controller);
		first.enable();
	}
	if (state && state != 4)
		host.set_up(choice);
	if (state == 3)
		host.connect(1, guarded ? 1 : 2);
	backend.hold(script.byte() % 8 == 0);
	while (!script.empty() && !host.connection->ended())
		act(host, script);
	backend.hold(false);
	host.turn();
	host.connection->end("the input ends");
	admin.connection->end("the input ends");
	backend.turn();
	require(subsystem->controllers() == 1 && !closed->controllers(), "a controller is left over");
	require(!guarded || !backend.commands, "a host without the key reached the device");
	const uint64_t before = good.responses;
	nvme_sqe alive{};
	alive.opcode = opcode_keep_alive;
	alive.flags = psdt_sgl;
	good.command(alive, {}, 0, false);
	require(good.responses == before + 1, "another host got no answer");
	good.connection->end("the input ends");
	require(!subsystem->controllers(), "a controller is left over");
	return 0;
}
