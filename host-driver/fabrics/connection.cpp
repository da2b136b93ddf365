// Connection: set-up, capsules, data transfers, and termination.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/connection.hpp"

#include <algorithm>
#include <poll.h>
#include <sys/socket.h>

namespace hz::fabrics {

namespace {

constexpr unsigned reads_a_turn = 16; // of 64 KiB or more, before the next connection's turn
constexpr size_t most_parts = 64;     // of one sendmsg

} // namespace

Direction direction_of(const nvme_sqe &sqe)
{
	const uint32_t way = (sqe.opcode == opcode_fabrics ? sqe.nsid : sqe.opcode) & 3;
	return way == 1 ? Direction::to_device : way == 2 ? Direction::to_host : Direction::none;
}

Sgl sgl_of(const nvme_sqe &sqe) { return read_record<Sgl>(std::as_bytes(std::span(&sqe, 1)), offsetof(nvme_sqe, prp1)); }

Connection::Connection(Descriptor socket, std::shared_ptr<CommandSink> sink, Clock::time_point now)
	: socket_(std::move(socket)), sink_(std::move(sink)), begun_(now)
{
}

short Connection::events() const
{
	const bool reads = unsent_bytes_ < data_budget;
	return static_cast<short>((reads ? POLLIN : 0) | (unsent_.empty() ? 0 : POLLOUT));
}

void Connection::turn(short ready, Clock::time_point now)
{
	try {
		if (ready & (POLLIN | POLLHUP | POLLERR))
			state_ == State::farewell ? discard() : receive();
		if (!connected_ && state_ != State::farewell && now - begun_ > set_up_limit)
			end("no Connect came");
		if (state_ == State::farewell && now - begun_ > farewell_limit)
			end(reason_);
	} catch (const PduFault &fault) {
		fail(fault);
		begun_ = now;
	}
	flush();
}

// After everything is sent, read and discard the peer's data, so that it receives the reason for
// the end.
void Connection::fail(const PduFault &fault)
{
	reason_ = fault.what();
	send(writer_.terminate(fault.status(), fault.field(), reader_.rejected()));
	flush();
	if (ended())
		return;
	state_ = State::farewell;
	shutdown(fd(), SHUT_WR);
}

void Connection::end(const std::string &reason)
{
	if (ended())
		return;
	state_ = State::ended;
	reason_ = reason;
	shutdown(fd(), SHUT_RDWR);
	waiting_.clear();
	transfers_ = {};
	exchanges_.clear();
	sink_->closed(*this);
}

void Connection::discard()
{
	char nothing[4096];
	const ssize_t got = recv(fd(), nothing, sizeof(nothing), MSG_DONTWAIT);
	if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
		end(reason_);
}

// False: there is no more now.
bool Connection::read_some()
{
	const auto room = reader_.room();
	const ssize_t got = recv(fd(), room.data(), room.size(), MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0) {
		end(got ? "the connection broke" : "the host closed it");
		return false;
	}
	reader_.received(static_cast<size_t>(got));
	return static_cast<size_t>(got) == room.size();
}

void Connection::receive()
{
	for (unsigned i = 0; i < reads_a_turn && !ended(); i++) {
		const bool more = read_some();
		while (!ended()) {
			const auto pdu = reader_.next();
			if (!pdu)
				break;
			handle(*pdu);
		}
		if (!more)
			return;
	}
}

void Connection::handle(const Pdu &pdu)
{
	if ((state_ == State::fresh) != (pdu.head.type == pdu_icreq))
		throw PduFault(term_sequence, state_ == State::fresh ? "the first PDU is no ICReq" : "an ICReq comes again");
	switch (pdu.head.type) {
	case pdu_icreq: return handle_init(pdu);
	case pdu_command: return handle_command(pdu);
	case pdu_h2c_data: return handle_data(pdu);
	default: end("the host ended it with a termination request");
	}
}

void Connection::handle_init(const Pdu &pdu)
{
	const auto init = read_record<PduInit>(pdu.header);
	if (init.format)
		throw PduFault(term_unsupported, "an ICReq asks for an unknown format", 8);
	if (init.alignment > 31)
		throw PduFault(term_header_field, "an ICReq asks for an impossible alignment", 10);
	const Digests agreed{(init.digests & init_header_digest) != 0, (init.digests & init_data_digest) != 0};
	send(writer_.init(agreed));
	reader_.use(agreed);
	writer_.use(agreed, (init.alignment + 1u) * 4);
	state_ = State::set_up;
}

void Connection::become(uint16_t qid, uint16_t entries, bool flow_control, std::shared_ptr<CommandSink> sink)
{
	qid_ = qid;
	entries_ = entries;
	flow_control_ = flow_control;
	connected_ = true;
	sink_ = std::move(sink);
}

// Checks the data pointer against the received data; a status other than 0 is the command's answer.
uint16_t Connection::take_data(Exchange &exchange, const Pdu &pdu) const
{
	const Sgl sgl = sgl_of(exchange.sqe);
	const uint8_t way = (exchange.sqe.opcode == opcode_fabrics ? exchange.sqe.nsid : exchange.sqe.opcode) & 3;
	if ((exchange.sqe.flags & NVME_SQE_PSDT_MASK) != psdt_sgl || exchange.sqe.flags & NVME_SQE_FUSE_MASK || way == 3)
		return NVME_INVALID_FIELD;
	if (exchange.direction == Direction::none)
		return 0;
	if (sgl.length > most_transfer)
		return NVME_INVALID_FIELD;
	exchange.length = sgl.length;
	if (sgl.kind == sgl_transport)
		return pdu.data.empty() ? 0 : status_sgl_kind;
	if (sgl.kind != sgl_in_capsule || exchange.direction != Direction::to_device)
		return status_sgl_kind;
	if (sgl.offset > pdu.data.size() || sgl.length > pdu.data.size() - sgl.offset)
		return status_sgl_offset;
	if (!pdu.data_intact)
		return status_transport_error;
	const auto data = pdu.data.subspan(sgl.offset, sgl.length);
	exchange.out.assign(data.begin(), data.end());
	exchange.arrived = sgl.length;
	return 0;
}

void Connection::handle_command(const Pdu &pdu)
{
	auto exchange = std::make_shared<Exchange>();
	exchange->sqe = read_record<PduCommand>(pdu.header).sqe;
	exchange->direction = direction_of(exchange->sqe);
	exchange->connection = weak_from_this();
	if (exchanges_.size() >= std::max<size_t>(entries_ - 1u, 1))
		throw PduFault(term_sequence, "the host sends more commands than its queue has room for");
	if (!exchanges_.emplace(exchange->sqe.cid, exchange).second)
		throw PduFault(term_sequence, "a command has the id of one that is under way", 10);
	if (const uint16_t status = take_data(*exchange, pdu))
		return answer(exchange, {status, status != status_transport_error, 0});
	waiting_.push_back(exchange);
	admit();
}

// Commands wait until those before them have left them room for their data; one may always be under way.
bool Connection::admit_next()
{
	if (waiting_.empty() || state_ != State::set_up || unsent_bytes_ >= data_budget)
		return false;
	const ExchangePtr exchange = waiting_.front();
	if (admitted_ && admitted_bytes_ + unsent_bytes_ + exchange->length > data_budget)
		return false;
	waiting_.pop_front();
	exchange->admitted = true;
	admitted_++;
	admitted_bytes_ += exchange->length;
	if (exchange->direction == Direction::to_device && exchange->arrived < exchange->length)
		ask_for_data(exchange);
	else
		sink_->execute(*this, exchange);
	return true;
}

void Connection::admit()
{
	while (admit_next())
		;
}

// There is a tag for each command that a queue may have.
void Connection::ask_for_data(const ExchangePtr &exchange)
{
	const auto free = std::find(transfers_.begin(), transfers_.end(), nullptr);
	*free = exchange;
	exchange->out.resize(exchange->length);
	send(writer_.ready_to_transfer(exchange->sqe.cid, static_cast<uint16_t>(free - transfers_.begin()), exchange->length));
}

void Connection::handle_data(const Pdu &pdu)
{
	const auto part = read_record<PduData>(pdu.header);
	const ExchangePtr exchange = part.tag < transfers_.size() ? transfers_[part.tag] : nullptr;
	if (!exchange || exchange->sqe.cid != part.cid)
		throw PduFault(term_header_field, "data come for a command that asked for none", 10);
	if (part.offset != exchange->arrived || part.length > exchange->length - exchange->arrived)
		throw PduFault(term_out_of_range, "data come for another place than was asked for", 12);
	if (part.length != pdu.data.size())
		throw PduFault(term_header_field, "a PDU says otherwise how long its data are", 16);
	if (bool(pdu.head.flags & flag_last) != (part.offset + part.length == exchange->length))
		throw PduFault(term_header_field, "the last PDU of a transfer is another than the one that says so", 1);
	std::copy(pdu.data.begin(), pdu.data.end(), exchange->out.begin() + part.offset);
	exchange->arrived += part.length;
	exchange->damaged |= !pdu.data_intact;
	if (exchange->arrived < exchange->length)
		return;
	transfers_[part.tag] = nullptr;
	if (exchange->damaged)
		return answer(exchange, {status_transport_error, false, 0});
	sink_->execute(*this, exchange);
}

ExchangePtr Connection::find(uint16_t cid) const
{
	const auto found = exchanges_.find(cid);
	return found == exchanges_.end() ? nullptr : found->second;
}

void Connection::answer(const ExchangePtr &exchange, Answer answer, std::span<const std::byte> data)
{
	if (state_ != State::set_up || !exchanges_.erase(exchange->sqe.cid))
		return;
	if (exchange->admitted) {
		admitted_--;
		admitted_bytes_ -= exchange->length;
	}
	head_ = static_cast<uint16_t>((head_ + 1) % std::max<uint16_t>(entries_, 1));
	const bool has_data = !answer.status && exchange->direction == Direction::to_host && !data.empty() && exchange->length;
	const bool alone = has_data && !flow_control_ && !answer.result; // the data PDU implies success
	if (has_data)
		send(writer_.data(exchange->sqe.cid, data.first(std::min<size_t>(data.size(), exchange->length)), alone));
	if (!alone) {
		nvme_cqe cqe{};
		cqe.dw0 = static_cast<uint32_t>(answer.result);
		cqe.dw1 = static_cast<uint32_t>(answer.result >> 32);
		cqe.sq_head = flow_control_ ? head_ : 0xffff;
		cqe.sq_id = qid_;
		cqe.cid = exchange->sqe.cid;
		cqe.status = static_cast<uint16_t>((answer.status & 0x7ff) << 1 | (answer.do_not_retry ? 0x8000 : 0));
		send(writer_.response(cqe));
	}
}

void Connection::send(Bytes bytes)
{
	unsent_bytes_ += bytes.size();
	unsent_.push_back(std::move(bytes));
}

void Connection::flush()
{
	while (!unsent_.empty() && !ended()) {
		std::array<iovec, most_parts> parts;
		const size_t count = std::min(unsent_.size(), parts.size());
		for (size_t i = 0; i < count; i++)
			parts[i] = {unsent_[i].data() + (i ? 0 : sent_), unsent_[i].size() - (i ? 0 : sent_)};
		msghdr message{};
		message.msg_iov = parts.data();
		message.msg_iovlen = count;
		const ssize_t went = sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (went < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (went < 0)
			return end("the connection broke");
		unsent_bytes_ -= static_cast<uint64_t>(went);
		for (sent_ += static_cast<size_t>(went); !unsent_.empty() && sent_ >= unsent_.front().size(); unsent_.pop_front())
			sent_ -= unsent_.front().size();
	}
	admit();
}

} // namespace hz::fabrics
