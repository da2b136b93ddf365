// Initiator: blocking sockets, one PDU after the other.
// SPDX-License-Identifier: BSD-3-Clause
#include "initiator.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace hz::test {

using namespace fabrics;

namespace {

constexpr timeval patience{60, 0}; // longer than any load explains

template <class Record> std::span<const std::byte> bytes_of(const Record &record) { return std::as_bytes(std::span(&record, 1)); }

void append(Bytes &to, std::span<const std::byte> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

} // namespace

Initiator::Initiator(uint16_t port, InitiatorOptions options)
	: options_(std::move(options)), socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
	const int one = 1;
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_port = htons(port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (::connect(fd(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)))
		throw std::runtime_error("cannot connect to port " + std::to_string(port));
	setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

void Initiator::send(std::span<const std::byte> bytes)
{
	while (!bytes.empty()) {
		const ssize_t went = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
		if (went <= 0)
			throw HangUp({});
		bytes = bytes.subspan(static_cast<size_t>(went));
	}
}

Bytes Initiator::receive(size_t bytes)
{
	Bytes out(bytes);
	const ssize_t got = recv(fd(), out.data(), bytes, MSG_WAITALL);
	if (got < 0 && errno == EAGAIN)
		throw std::runtime_error("the target is silent");
	if (got != static_cast<ssize_t>(bytes))
		throw HangUp({});
	return out;
}

Bytes Initiator::pdu(PduType type, std::span<const std::byte> header, std::span<const std::byte> data, uint8_t flags) const
{
	const bool digests = type == pdu_command || type == pdu_h2c_data;
	const Digests used{digests && digests_.header, digests && digests_.data && !data.empty()};
	const size_t start = header.size() + (used.header ? 4 : 0);
	Bytes out(header.begin(), header.end());
	PduHead head{type, static_cast<uint8_t>(flags | (used.header ? flag_header_digest : 0) | (used.data ? flag_data_digest : 0)),
		     static_cast<uint8_t>(header.size()), static_cast<uint8_t>(data.empty() ? 0 : start),
		     static_cast<uint32_t>(start + data.size() + (used.data ? 4 : 0))};
	write_record(std::span(out), head);
	if (used.header)
		append(out, bytes_of(crc32c(out)));
	append(out, data);
	if (used.data)
		append(out, bytes_of(crc32c(data)));
	return out;
}

PduInit Initiator::set_up()
{
	PduInit init{};
	init.alignment = options_.alignment;
	init.digests = static_cast<uint8_t>((options_.digests.header ? init_header_digest : 0) |
					    (options_.digests.data ? init_data_digest : 0));
	send(pdu(pdu_icreq, bytes_of(init), {}));
	const auto answer = read_record<PduInit>(receive_pdu());
	digests_ = {(answer.digests & init_header_digest) != 0, (answer.digests & init_data_digest) != 0};
	return answer;
}

HostCompletion Initiator::connect(uint16_t qid, uint16_t controller)
{
	nvme_sqe sqe = command(opcode_fabrics, type_connect);
	ConnectFields fields{0,
			     qid,
			     static_cast<uint16_t>(options_.entries - 1),
			     static_cast<uint8_t>(options_.flow_control ? 0 : connect_no_flow_control),
			     0,
			     options_.keep_alive_ms};
	write_record(std::as_writable_bytes(std::span(&sqe, 1)), fields, offsetof(nvme_sqe, cdw10));
	ConnectData data{};
	std::fill(std::begin(data.host_id), std::end(data.host_id), options_.host_id);
	data.cntlid = controller;
	options_.subsystem.copy(data.subsystem, sizeof(data.subsystem) - 1);
	options_.host.copy(data.host, sizeof(data.host) - 1);
	const auto bytes = bytes_of(data);
	qid_ = qid;
	return run(sqe, Bytes(bytes.begin(), bytes.end()));
}

uint16_t Initiator::begin(uint16_t qid, uint16_t controller)
{
	set_up();
	const HostCompletion done = connect(qid, controller);
	if (done.status)
		throw std::runtime_error("Connect failed with status " + std::to_string(done.status));
	if (!qid)
		enable();
	return static_cast<uint16_t>(done.result);
}

void Initiator::enable()
{
	property_set(NVME_REG_CC,
		     NVME_CC_EN | NVME_CC_CSS_CSI << NVME_CC_CSS_SHIFT | 6 << NVME_CC_IOSQES_SHIFT | 4 << NVME_CC_IOCQES_SHIFT);
}

uint64_t Initiator::property_get(uint32_t offset, bool eight)
{
	nvme_sqe sqe = command(opcode_fabrics, type_property_get);
	write_record(std::as_writable_bytes(std::span(&sqe, 1)), PropertyFields{eight, {}, offset, 0}, offsetof(nvme_sqe, cdw10));
	const HostCompletion done = run(sqe);
	if (done.status)
		throw std::runtime_error("Property Get failed with status " + std::to_string(done.status));
	return done.result;
}

void Initiator::property_set(uint32_t offset, uint32_t value)
{
	nvme_sqe sqe = command(opcode_fabrics, type_property_set);
	write_record(std::as_writable_bytes(std::span(&sqe, 1)), PropertyFields{0, {}, offset, value}, offsetof(nvme_sqe, cdw10));
	if (const HostCompletion done = run(sqe); done.status)
		throw std::runtime_error("Property Set failed with status " + std::to_string(done.status));
}

nvme_sqe Initiator::command(uint8_t opcode, uint32_t nsid, uint32_t cdw10, uint32_t cdw11, uint32_t cdw12, uint32_t cdw13)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.flags = psdt_sgl;
	sqe.nsid = nsid;
	sqe.cdw10 = cdw10;
	sqe.cdw11 = cdw11;
	sqe.cdw12 = cdw12;
	sqe.cdw13 = cdw13;
	return sqe;
}

uint16_t Initiator::submit(nvme_sqe sqe, Bytes out, uint32_t length, bool in_capsule)
{
	const uint32_t bytes = length == ~0u ? static_cast<uint32_t>(out.size()) : length;
	const bool inside = in_capsule && !out.empty() && out.size() <= most_in_capsule;
	while (in_.count(next_cid_) || out_.count(next_cid_))
		next_cid_++;
	sqe.cid = next_cid_++;
	const Sgl sgl{0, bytes, {}, inside ? sgl_in_capsule : sgl_transport};
	write_record(std::as_writable_bytes(std::span(&sqe, 1)), sgl, offsetof(nvme_sqe, prp1));
	const PduCommand header{{}, sqe};
	send(pdu(pdu_command, bytes_of(header), inside ? std::span<const std::byte>(out) : std::span<const std::byte>()));
	in_[sqe.cid] = {};
	out_[sqe.cid] = inside ? Bytes() : std::move(out);
	return sqe.cid;
}

Bytes Initiator::receive_pdu()
{
	Bytes whole = receive(sizeof(PduHead));
	const auto head = read_record<PduHead>(whole);
	if (head.plen < sizeof(head) || head.plen > most_transfer + 256)
		throw std::runtime_error("the target sends a PDU of " + std::to_string(head.plen) + " bytes");
	append(whole, receive(head.plen - sizeof(head)));
	if (head.type == pdu_c2h_term)
		throw HangUp(static_cast<TermStatus>(read_record<PduTerm>(whole).status));
	return whole;
}

void Initiator::handle_data(const Bytes &pdu, size_t header)
{
	const auto part = read_record<PduData>(pdu);
	const auto head = part.head;
	if (head.pdo < header || head.pdo % ((options_.alignment + 1u) * 4) ||
	    head.pdo + part.length + (digests_.data ? 4 : 0) != head.plen)
		throw std::runtime_error("the data of a PDU lie at the wrong place");
	const auto data = std::span(pdu).subspan(head.pdo, part.length);
	if (digests_.data && crc32c(data) != read_record<uint32_t>(pdu, head.plen - 4))
		throw std::runtime_error("a digest of the target's data is wrong");
	append(in_.at(part.cid), data);
	if (head.flags & flag_success) {
		done_.push_back({part.cid, 0, false, 0, 0xffff, std::move(in_.at(part.cid))});
		in_.erase(part.cid);
		out_.erase(part.cid);
	}
}

void Initiator::give_data(const Bytes &asked)
{
	const auto request = read_record<PduData>(asked);
	const Bytes &out = out_.at(request.cid);
	for (uint32_t done = 0; done < request.length;) {
		const uint32_t part = std::min(piece_, request.length - done), at = request.offset + done;
		done += part;
		const PduData header{{}, request.cid, request.tag, at, part, 0};
		send(pdu(pdu_h2c_data, bytes_of(header), std::span(out).subspan(at, part), done == request.length ? flag_last : 0));
	}
}

void Initiator::handle(const Bytes &pdu)
{
	const auto head = read_record<PduHead>(pdu);
	const size_t header = head.hlen + (digests_.header ? 4u : 0u);
	if (digests_.header && crc32c(std::span(pdu).first(head.hlen)) != read_record<uint32_t>(pdu, head.hlen))
		throw std::runtime_error("a digest of the target's is wrong");
	if (head.type == pdu_c2h_data)
		return handle_data(pdu, header);
	if (head.type == pdu_r2t)
		return give_data(pdu);
	if (head.type != pdu_response)
		throw std::runtime_error("the target sends a PDU of type " + std::to_string(head.type));
	const nvme_cqe cqe = read_record<PduResponse>(pdu).cqe;
	done_.push_back({cqe.cid, static_cast<uint16_t>(cqe.status >> 1 & 0x7ff), (cqe.status & 0x8000) != 0,
			 cqe.dw0 | static_cast<uint64_t>(cqe.dw1) << 32, cqe.sq_head, std::move(in_.at(cqe.cid))});
	in_.erase(cqe.cid);
	out_.erase(cqe.cid);
}

HostCompletion Initiator::wait()
{
	while (done_.empty())
		handle(receive_pdu());
	HostCompletion done = std::move(done_.front());
	done_.erase(done_.begin());
	return done;
}

HostCompletion Initiator::wait_for(uint16_t cid)
{
	for (;;) {
		const auto found = std::find_if(done_.begin(), done_.end(), [&](const HostCompletion &done) { return done.cid == cid; });
		if (found == done_.end()) {
			handle(receive_pdu());
			continue;
		}
		HostCompletion done = std::move(*found);
		done_.erase(found);
		return done;
	}
}

Bytes Initiator::identify(uint8_t cns, uint32_t nsid, uint8_t csi)
{
	HostCompletion done = run(command(NVME_ADMIN_IDENTIFY, nsid, cns, static_cast<uint32_t>(csi) << 24), {}, 4096);
	if (done.status)
		throw std::runtime_error("Identify failed with status " + std::to_string(done.status));
	return std::move(done.data);
}

void Initiator::mistransfer(const nvme_sqe &sqe, uint32_t bytes, uint32_t at, uint32_t length)
{
	nvme_sqe asks = sqe;
	write_record(std::as_writable_bytes(std::span(&asks, 1)), Sgl{0, bytes, {}, sgl_transport}, offsetof(nvme_sqe, prp1));
	const PduCommand header{{}, asks};
	send(pdu(pdu_command, bytes_of(header), {}));
	const auto asked = read_record<PduData>(receive_pdu());
	const PduData part{{}, asked.cid, asked.tag, at, length, 0};
	send(pdu(pdu_h2c_data, bytes_of(part), Bytes(length)));
}

HangUp Initiator::hung_up()
{
	try {
		while (!ended_)
			receive_pdu();
	} catch (const HangUp &end) {
		ended_ = end;
	}
	return *ended_;
}

} // namespace hz::test
