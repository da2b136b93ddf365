// Authentication: in-band authentication of one queue by DH-HMAC-CHAP, the controller's side.
//
// Negotiate → Challenge → Reply → Success1, and → Success2 if the host asks for the controller's
// response too. It belongs to the server's thread.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>

#include "fabrics/dhchap.hpp"

namespace hz::fabrics {

// Who may connect; the default: everyone.
struct Access {
	std::set<std::string> hosts;         // their NQNs; none: any
	std::optional<SharedKey> key;        // that a host must have
	std::optional<SharedKey> target_key; // that hosts may ask the target to have
};

class Authentication {
public:
	// access lives as long, and has a key.
	Authentication(const Access &access, std::string host, std::string subsystem)
		: access_(access), host_(std::move(host)), subsystem_(std::move(subsystem))
	{
	}

	// A message of the host.
	void receive(std::span<const std::byte> message);
	// The message for the host that is due. There always is one: a failure if none was.
	Bytes due() const;
	// The host has got what due() returned.
	void delivered();
	// The host has proved its key, and has since not failed to prove it again.
	bool done() const { return done_; }
	// The queue must end.
	bool failed() const { return state_ == State::failed; }
	// Neither of the two.
	bool unfinished() const { return !done_ && !failed(); }

private:
	enum class State : uint8_t { idle, challenge_due, reply_wanted, success1_due, success2_wanted, failure_due, failed };

	void negotiate(std::span<const std::byte> message);
	void choose(const AuthDescriptor &descriptor);
	void reply(std::span<const std::byte> message);
	bool proves(std::span<const std::byte> response) const;
	Bytes challenge_message() const;
	Bytes success1_message() const;
	void fail(AuthReason reason);

	const Access &access_;
	std::string host_, subsystem_;
	State state_ = State::idle;
	bool done_ = false;
	AuthReason reason_ = auth_wrong_message;
	uint16_t transaction_ = 0;
	uint8_t hash_ = 0, group_ = 0;
	uint32_t sequence_ = 0;
	Bytes challenge_, answer_; // answer_: the controller's response, if the host asks for one
	std::unique_ptr<DhExchange> exchange_;
};

} // namespace hz::fabrics
