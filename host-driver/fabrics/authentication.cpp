// Authentication: the messages of a queue, one after the other.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/authentication.hpp"

#include <algorithm>

namespace hz::fabrics {

namespace {

constexpr uint8_t hashes_by_strength[] = {hash_sha512, hash_sha384, hash_sha256};
constexpr uint8_t groups_by_choice[] = {group_ffdhe2048, group_ffdhe3072, group_null};

// The first of ours that the host offers too; nothing: none.
std::optional<uint8_t> common(std::span<const uint8_t> ours, std::span<const uint8_t> offered)
{
	const auto found = std::ranges::find_if(ours, [&](uint8_t one) { return std::ranges::find(offered, one) != offered.end(); });
	return found == ours.end() ? std::nullopt : std::optional(*found);
}

template <class Record> Bytes message_of(const Record &record, std::initializer_list<std::span<const std::byte>> parts)
{
	Bytes out(sizeof(record));
	write_record(std::span(out), record);
	for (const auto &part : parts)
		out.insert(out.end(), part.begin(), part.end());
	return out;
}

// Never 0, which means that there is none.
uint32_t sequence_number()
{
	const auto number = read_record<uint32_t>(unforeseen(sizeof(uint32_t)));
	return number ? number : 1;
}

} // namespace

void Authentication::fail(AuthReason reason)
{
	done_ = false;
	reason_ = reason;
	state_ = State::failure_due;
}

void Authentication::receive(std::span<const std::byte> message)
{
	const auto head = read_record<AuthHead>(message);
	if (state_ == State::failed || state_ == State::failure_due)
		return;
	if (message.size() < sizeof(AuthHead))
		return fail(auth_wrong_payload);
	if (state_ == State::idle && head.type == auth_common && head.id == auth_negotiate) {
		transaction_ = head.transaction;
		return negotiate(message);
	}
	if (head.transaction != transaction_)
		return fail(auth_wrong_message);
	if (head.type == auth_common && head.id == auth_failure2) {
		fail(auth_failed);
		state_ = State::failed;
		return;
	}
	if (state_ == State::reply_wanted && head.type == auth_dhchap && head.id == auth_reply)
		return reply(message);
	if (state_ != State::success2_wanted || head.type != auth_dhchap || head.id != auth_success2)
		return fail(auth_wrong_message);
	done_ = true;
	state_ = State::idle;
}

void Authentication::negotiate(std::span<const std::byte> message)
{
	const auto asked = read_record<AuthNegotiate>(message);
	if (message.size() < sizeof(asked) + asked.descriptors * sizeof(AuthDescriptor))
		return fail(auth_wrong_payload);
	if (asked.channel)
		return fail(auth_channel_mismatch);
	for (size_t i = 0; i < asked.descriptors; i++) {
		const auto one = read_record<AuthDescriptor>(message, sizeof(asked) + i * sizeof(AuthDescriptor));
		if (one.protocol == auth_descriptor_dhchap)
			return choose(one);
	}
	fail(auth_protocol_unusable);
}

void Authentication::choose(const AuthDescriptor &descriptor)
{
	if (descriptor.hashes > sizeof(descriptor.hash) || descriptor.groups > sizeof(descriptor.group))
		return fail(auth_wrong_payload);
	const auto hash = common(hashes_by_strength, std::span(descriptor.hash).first(descriptor.hashes));
	const auto group = common(groups_by_choice, std::span(descriptor.group).first(descriptor.groups));
	if (!hash || !group)
		return fail(hash ? auth_group_unusable : auth_hash_unusable);
	hash_ = *hash;
	group_ = *group;
	sequence_ = sequence_number();
	challenge_ = unforeseen(hash_bytes(hash_));
	exchange_ = std::make_unique<DhExchange>(group_);
	answer_.clear();
	state_ = State::challenge_due;
}

bool Authentication::proves(std::span<const std::byte> response) const
{
	Bytes key = access_.key->transformed(host_);
	const Bytes challenge = exchange_->augmented(hash_, challenge_);
	const Bytes right = ChallengeResponse{hash_, key, challenge, sequence_, transaction_, "HostHost", host_, subsystem_}.value();
	forget(key);
	return equal(right, response);
}

// Its challenge is used up, whatever comes of it.
void Authentication::reply(std::span<const std::byte> message)
{
	const auto said = read_record<AuthReply>(message);
	const size_t bytes = hash_bytes(hash_);
	if (said.hash_bytes != bytes || said.mutual > 1 || message.size() < sizeof(said) + 2 * bytes + said.dh_bytes ||
	    !exchange_->agree(message.subspan(sizeof(said) + 2 * bytes, said.dh_bytes)))
		return fail(auth_wrong_payload);
	if (!proves(message.subspan(sizeof(said), bytes)))
		return fail(auth_failed);
	if (said.mutual && !access_.target_key)
		return fail(auth_failed);
	if (said.mutual) {
		const Bytes challenge = exchange_->augmented(hash_, message.subspan(sizeof(said) + bytes, bytes));
		if (equal(message.subspan(sizeof(said) + bytes, bytes), challenge_))
			return fail(auth_failed); // the host's own challenge may not be ours
		Bytes key = access_.target_key->transformed(subsystem_);
		answer_ = ChallengeResponse{hash_, key, challenge, said.sequence, transaction_, "Controller", subsystem_, host_}.value();
		forget(key);
	}
	state_ = State::success1_due;
}

Bytes Authentication::challenge_message() const
{
	const AuthHead head{auth_dhchap, auth_challenge, 0, transaction_};
	const Bytes &value = exchange_->public_value();
	return message_of(AuthChallenge{head, static_cast<uint8_t>(challenge_.size()), 0, hash_, group_,
					static_cast<uint16_t>(value.size()), sequence_},
			  {challenge_, value});
}

Bytes Authentication::success1_message() const
{
	const AuthHead head{auth_dhchap, auth_success1, 0, transaction_};
	return message_of(AuthSuccess1{head, static_cast<uint8_t>(hash_bytes(hash_)), 0, !answer_.empty(), {}}, {answer_});
}

Bytes Authentication::due() const
{
	if (state_ == State::challenge_due)
		return challenge_message();
	if (state_ == State::success1_due)
		return success1_message();
	const AuthHead head{auth_common, auth_failure1, 0, transaction_};
	return message_of(AuthFailure{head, auth_failure_code, state_ == State::failure_due ? reason_ : auth_wrong_message}, {});
}

void Authentication::delivered()
{
	switch (state_) {
	case State::challenge_due: state_ = State::reply_wanted; return;
	case State::success1_due:
		done_ |= answer_.empty();
		state_ = answer_.empty() ? State::idle : State::success2_wanted;
		return;
	default: done_ = false; state_ = State::failed;
	}
}

} // namespace hz::fabrics
