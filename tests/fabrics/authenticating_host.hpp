// HostAuthenticator: the host's side of DH-HMAC-CHAP, for tests.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fabrics/authentication.hpp"
#include "initiator.hpp"

namespace hz::test {

class HostAuthenticator {
public:
	HostAuthenticator(const char *key, std::string host, std::string target, const char *target_key = nullptr)
		: key_(fabrics::SharedKey::parse(key)), host_(std::move(host)), target_(std::move(target))
	{
		if (target_key)
			target_key_ = fabrics::SharedKey::parse(target_key);
	}

	std::vector<uint8_t> hashes{fabrics::hash_sha256, fabrics::hash_sha384, fabrics::hash_sha512},
		groups{fabrics::group_null, fabrics::group_ffdhe2048};
	uint16_t transaction = 0x1234;

	Bytes negotiate() const
	{
		fabrics::AuthDescriptor one{};
		one.protocol = fabrics::auth_descriptor_dhchap;
		one.hashes = static_cast<uint8_t>(hashes.size());
		one.groups = static_cast<uint8_t>(groups.size());
		std::copy(hashes.begin(), hashes.end(), one.hash);
		std::copy(groups.begin(), groups.end(), one.group);
		Bytes out(sizeof(fabrics::AuthNegotiate) + sizeof(one));
		fabrics::write_record(std::span(out),
				      fabrics::AuthNegotiate{{fabrics::auth_common, fabrics::auth_negotiate, 0, transaction}, 0, 1});
		fabrics::write_record(std::span(out), one, sizeof(fabrics::AuthNegotiate));
		return out;
	}

	Bytes reply(const Bytes &challenge)
	{
		const auto head = fabrics::read_record<fabrics::AuthChallenge>(challenge);
		const auto rest = std::span(challenge).subspan(sizeof(head));
		hash_ = head.hash;
		fabrics::DhExchange exchange(head.group);
		if (!exchange.agree(rest.subspan(head.hash_bytes, head.dh_bytes)))
			throw std::runtime_error("the target's DH value is none");
		const Bytes key = key_.transformed(host_), augmented = exchange.augmented(head.hash, rest.first(head.hash_bytes));
		const Bytes response = fabrics::ChallengeResponse{head.hash,   key,        augmented, head.sequence,
								  transaction, "HostHost", host_,     target_}
					       .value();
		const Bytes own = target_key_ ? fabrics::unforeseen(head.hash_bytes) : Bytes(head.hash_bytes);
		if (target_key_) {
			const Bytes target_key = target_key_->transformed(target_), ours = exchange.augmented(head.hash, own);
			expected_ = fabrics::ChallengeResponse{head.hash, target_key, ours, 77, transaction, "Controller", target_, host_}
					    .value();
		}
		fabrics::AuthReply said{};
		said.head = {fabrics::auth_dhchap, fabrics::auth_reply, 0, transaction};
		said.hash_bytes = head.hash_bytes;
		said.mutual = target_key_.has_value();
		said.dh_bytes = static_cast<uint16_t>(exchange.public_value().size());
		said.sequence = target_key_ ? 77 : 0;
		Bytes out(sizeof(said));
		fabrics::write_record(std::span(out), said);
		for (const Bytes *part : {&response, &own, &exchange.public_value()})
			out.insert(out.end(), part->begin(), part->end());
		return out;
	}

	// Success1, and of a target with the right key if it was asked.
	bool succeeded(const Bytes &message) const
	{
		const auto head = fabrics::read_record<fabrics::AuthSuccess1>(message);
		const bool right = head.head.type == fabrics::auth_dhchap && head.head.id == fabrics::auth_success1 &&
				   head.head.transaction == transaction && head.hash_bytes == fabrics::hash_bytes(hash_) &&
				   head.mutual == target_key_.has_value();
		return right && (!head.mutual || fabrics::equal(std::span(message).subspan(sizeof(head), head.hash_bytes), expected_));
	}

	Bytes success2() const { return short_message(fabrics::auth_dhchap, fabrics::auth_success2, 16); }
	Bytes failure2() const { return short_message(fabrics::auth_common, fabrics::auth_failure2, sizeof(fabrics::AuthFailure)); }

	static nvme_sqe send(const Bytes &message)
	{
		return Initiator::command(fabrics::opcode_fabrics, fabrics::type_auth_send, words, static_cast<uint32_t>(message.size()));
	}
	static nvme_sqe receive(uint32_t bytes)
	{
		return Initiator::command(fabrics::opcode_fabrics, fabrics::type_auth_receive, words, bytes);
	}

	// The whole exchange on a connected queue; false: the target refuses.
	bool prove(Initiator &queue)
	{
		give(queue, negotiate());
		const Bytes challenge = take(queue);
		if (fabrics::read_record<fabrics::AuthHead>(challenge).id != fabrics::auth_challenge)
			return false;
		give(queue, reply(challenge));
		if (!succeeded(take(queue)))
			return false;
		if (target_key_)
			give(queue, success2());
		return true;
	}

private:
	static constexpr uint32_t words = uint32_t(fabrics::auth_protocol) << 24 | uint32_t(fabrics::auth_specific) << 16 |
					  fabrics::auth_specific << 8;

	Bytes short_message(uint8_t type, uint8_t id, size_t bytes) const
	{
		Bytes out(bytes);
		fabrics::write_record(std::span(out), fabrics::AuthHead{type, id, 0, transaction});
		return out;
	}
	static void give(Initiator &queue, const Bytes &message)
	{
		if (const HostCompletion done = queue.run(send(message), message); done.status)
			throw std::runtime_error("Authentication Send failed with status " + std::to_string(done.status));
	}
	static Bytes take(Initiator &queue)
	{
		HostCompletion done = queue.run(receive(4096), {}, 4096);
		if (done.status)
			throw std::runtime_error("Authentication Receive failed with status " + std::to_string(done.status));
		return std::move(done.data);
	}

	fabrics::SharedKey key_;
	std::optional<fabrics::SharedKey> target_key_;
	std::string host_, target_;
	uint8_t hash_ = 0;
	Bytes expected_;
};

} // namespace hz::test
