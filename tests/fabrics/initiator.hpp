// Initiator: an NVMe/TCP host for tests, which can send valid and invalid PDUs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabrics/connection.hpp"
#include "fabrics/pdu.hpp"

namespace hz::test {

using fabrics::Bytes;

struct HostCompletion {
	uint16_t cid = 0, status = 0; // SCT << 8 | SC
	bool do_not_retry = false;
	uint64_t result = 0;
	uint16_t head = 0;
	Bytes data;
};

// The other end has closed the connection, perhaps after it has said why.
class HangUp : public std::runtime_error {
public:
	explicit HangUp(std::optional<fabrics::TermStatus> status)
		: std::runtime_error(status ? "terminated with status " + std::to_string(*status) : "closed"), status_(status)
	{
	}
	std::optional<fabrics::TermStatus> status() const { return status_; }

private:
	std::optional<fabrics::TermStatus> status_;
};

struct InitiatorOptions {
	std::string subsystem, host = "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555";
	uint8_t host_id = 7; // all of its bytes
	fabrics::Digests digests;
	uint8_t alignment = 0;
	uint32_t keep_alive_ms = 0;
	bool flow_control = true;
	uint16_t entries = 128;
};

// A connection, and the queue on it. Calls wait for the other end, at most 60 s.
class Initiator {
public:
	// Connects the socket alone.
	Initiator(uint16_t port, InitiatorOptions options);

	// ICReq, and its answer.
	fabrics::PduInit set_up();
	// Connect; its completion. The queue's other calls want it to have succeeded.
	HostCompletion connect(uint16_t qid, uint16_t controller = fabrics::any_controller);
	// set_up(), connect(), and the property sets that enable an admin queue's controller. Throws unless all succeed. The controller's id.
	uint16_t begin(uint16_t qid = 0, uint16_t controller = fabrics::any_controller);

	// Enables an admin queue's controller.
	void enable();
	uint64_t property_get(uint32_t offset, bool eight = false);
	void property_set(uint32_t offset, uint32_t value);

	static nvme_sqe command(uint8_t opcode, uint32_t nsid = 0, uint32_t cdw10 = 0, uint32_t cdw11 = 0, uint32_t cdw12 = 0,
				uint32_t cdw13 = 0);
	// length: of the data that go either way, ~0: as many as `out` has. in_capsule: where `out` is short enough.
	uint16_t submit(nvme_sqe sqe, Bytes out = {}, uint32_t length = ~0u, bool in_capsule = true);
	HostCompletion wait();
	// The completion of this command; others that come before are kept.
	HostCompletion wait_for(uint16_t cid);
	HostCompletion run(nvme_sqe sqe, Bytes out = {}, uint32_t length = ~0u, bool in_capsule = true)
	{
		return wait_for(submit(sqe, std::move(out), length, in_capsule));
	}
	Bytes identify(uint8_t cns, uint32_t nsid = 0, uint8_t csi = 0);

	// As it is.
	void send(std::span<const std::byte> bytes);
	// A PDU with its digests; its head is valid unless `head` has changed it.
	Bytes pdu(fabrics::PduType type, std::span<const std::byte> header, std::span<const std::byte> data, uint8_t flags = 0) const;
	// Sends requested data of a transfer in pieces of this size.
	void cut_transfers(uint32_t bytes) { piece_ = bytes; }
	// A completion with this id will come, of a command that was sent as bytes.
	void expect(uint16_t cid) { in_[cid] = out_[cid] = {}; }
	// Answers the R2T of a write with data that say that they lie elsewhere, none of them the last.
	void mistransfer(const nvme_sqe &sqe, uint32_t bytes, uint32_t at, uint32_t length);
	// Says why it was closed; throws if it is not within 60 s.
	HangUp hung_up();
	int fd() const { return socket_.get(); }
	void close() { socket_ = {}; }
	const InitiatorOptions &options() const { return options_; }

private:
	Bytes receive(size_t bytes);
	Bytes receive_pdu();
	void handle(const Bytes &pdu);
	void handle_data(const Bytes &pdu, size_t header);
	void give_data(const Bytes &pdu);

	InitiatorOptions options_;
	Descriptor socket_;
	fabrics::Digests digests_; // agreed
	uint16_t qid_ = 0, next_cid_ = 0;
	uint32_t piece_ = 128 << 10;
	std::map<uint16_t, Bytes> out_, in_; // by command id
	std::vector<HostCompletion> done_;
	std::optional<HangUp> ended_;
};

} // namespace hz::test
