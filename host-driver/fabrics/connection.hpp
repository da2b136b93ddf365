// Connection: one NVMe/TCP connection, that is one host queue: PDUs in, commands to a sink, answers
// and data out.
//
// It never blocks and belongs to the server's thread. A protocol error ends only this connection.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "fabrics/pdu.hpp"
#include "session/machine/descriptor.hpp"

namespace hz::fabrics {

class Connection;
using Clock = std::chrono::steady_clock;

struct Answer {
	uint16_t status = 0; // SCT << 8 | SC
	bool do_not_retry = false;
	uint64_t result = 0;
};

enum class Direction : uint8_t { none, to_device, to_host };

// A host command, from its capsule to its response.
struct Exchange {
	nvme_sqe sqe{}; // as received, with an Sgl instead of PRPs
	Direction direction = Direction::none;
	uint32_t length = 0; // bytes that the host gives, or has room for
	Bytes out;           // received data, incomplete until all have arrived
	uint32_t arrived = 0;
	bool admitted = false; // its data count in the connection's budget
	bool damaged = false;  // a data digest was wrong
	std::weak_ptr<Connection> connection;
};
using ExchangePtr = std::shared_ptr<Exchange>;

// Data direction of a command, by its opcode; of a fabrics command, by its type.
Direction direction_of(const nvme_sqe &sqe);
Sgl sgl_of(const nvme_sqe &sqe);

// Executes the commands of a connection.
class CommandSink {
public:
	virtual ~CommandSink() = default;
	// All of its data have arrived. Connection::answer follows, now or later.
	virtual void execute(Connection &connection, const ExchangePtr &exchange) = 0;
	// The connection is at its end; answers to it go nowhere.
	virtual void closed(Connection &connection) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
public:
	static constexpr uint16_t most_entries = 128;                              // of a queue
	static constexpr uint64_t data_budget = 8 << 20;                           // bytes of commands under way, or not yet sent
	static constexpr std::chrono::seconds set_up_limit{10}, farewell_limit{1}; // until Connect has come; to read why it ends

	Connection(Descriptor socket, std::shared_ptr<CommandSink> sink, Clock::time_point now);

	int fd() const { return socket_.get(); }
	// Events for poll().
	short events() const;
	// After poll(): makes progress.
	void turn(short ready, Clock::time_point now);
	void flush();
	bool ended() const { return state_ == State::ended; }
	bool idle() const { return exchanges_.empty() && unsent_.empty(); }
	const std::string &end_reason() const { return reason_; }

	// The queue that Connect creates.
	void become(uint16_t qid, uint16_t entries, bool flow_control, std::shared_ptr<CommandSink> sink);
	uint16_t qid() const { return qid_; }
	uint16_t entries() const { return entries_; }

	void answer(const ExchangePtr &exchange, Answer answer, std::span<const std::byte> data = {});
	// The command with this id that is under way, or nothing.
	ExchangePtr find(uint16_t cid) const;
	void end(const std::string &reason);

private:
	enum class State : uint8_t { fresh, set_up, farewell, ended };

	void receive();
	bool read_some();
	void discard();
	void handle(const Pdu &pdu);
	void handle_init(const Pdu &pdu);
	void handle_command(const Pdu &pdu);
	void handle_data(const Pdu &pdu);
	uint16_t take_data(Exchange &exchange, const Pdu &pdu) const;
	bool admit_next();
	void admit();
	void ask_for_data(const ExchangePtr &exchange);
	void fail(const PduFault &fault);
	void send(Bytes bytes);

	Descriptor socket_;
	std::shared_ptr<CommandSink> sink_;
	State state_ = State::fresh;
	std::string reason_;
	PduReader reader_;
	PduWriter writer_;
	Clock::time_point begun_;
	uint16_t qid_ = 0, entries_ = 1, head_ = 0; // until Connect: one command
	bool connected_ = false, flow_control_ = true;
	std::unordered_map<uint16_t, ExchangePtr> exchanges_; // by command id
	std::deque<ExchangePtr> waiting_;                     // for the budget
	std::array<ExchangePtr, most_entries> transfers_;     // by the tag of their R2T
	uint64_t admitted_bytes_ = 0, unsent_bytes_ = 0;
	unsigned admitted_ = 0;
	std::deque<Bytes> unsent_;
	size_t sent_ = 0; // of the first
};

} // namespace hz::fabrics
