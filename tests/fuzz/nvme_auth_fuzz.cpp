// Fuzz target: the messages of DH-HMAC-CHAP in any order and with any content, and keys. Whoever lacks the key never gets in; whoever has it
// gets in only by a response to the last challenge that is right in each of its bytes.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>

#include "fabrics/authentication.hpp"
#include "session/machine/error.hpp"

using namespace hz;
using namespace hz::fabrics;

namespace {

constexpr const char *good_key = "DHHC-1:01:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAl7OaH:";
constexpr const char *other_key = "DHHC-1:01:U0BkIm8uQhuEN2lM7kJ9zfdyXNpEWWQzRwMjNYMgdFvGs2tB:";

void require(bool true_is, const char *what)
{
	if (!true_is) {
		std::fprintf(stderr, "%s\n", what);
		std::abort();
	}
}

struct Script {
	const uint8_t *data;
	size_t size;
	uint8_t byte() { return size ? size--, *data++ : 0; }
};

Bytes negotiation(uint8_t choice)
{
	AuthDescriptor one{};
	one.protocol = auth_descriptor_dhchap;
	one.hashes = one.groups = 1;
	one.hash[0] = static_cast<uint8_t>(choice % 3 + 1);
	one.group[0] = choice & 0x40 ? group_ffdhe2048 : group_null;
	Bytes out(sizeof(AuthNegotiate) + sizeof(one));
	write_record(std::span(out), AuthNegotiate{{auth_common, auth_negotiate, 0, choice}, 0, 1});
	write_record(std::span(out), one, sizeof(AuthNegotiate));
	return out;
}

// The right reply to a challenge of the group NULL by the owner of the key; with a DH value: one that is none.
Bytes reply_to(const Bytes &challenge, const SharedKey &key, bool mutual)
{
	const auto head = read_record<AuthChallenge>(challenge);
	const Bytes own = key.transformed("nqn.host");
	AuthReply said{};
	said.head = {auth_dhchap, auth_reply, 0, head.head.transaction};
	said.hash_bytes = head.hash_bytes;
	said.mutual = mutual;
	said.sequence = 5;
	said.dh_bytes = head.dh_bytes;
	const Bytes response = ChallengeResponse{head.hash,
						 own,
						 std::span(challenge).subspan(sizeof(head), head.hash_bytes),
						 head.sequence,
						 head.head.transaction,
						 "HostHost",
						 "nqn.host",
						 "nqn.target"}
				       .value();
	Bytes out(sizeof(said));
	write_record(std::span(out), said);
	out.insert(out.end(), response.begin(), response.end());
	out.resize(out.size() + head.hash_bytes + head.dh_bytes, std::byte(9));
	return out;
}

void parse(const std::string &text)
{
	try {
		const SharedKey key = SharedKey::parse(text);
		require(SharedKey::parse(key.text()).text() == key.text(), "a key is another when it is read again");
	} catch (const Error &) {
	}
}

Access guarded()
{
	Access access;
	access.key = SharedKey::parse(good_key);
	access.target_key = SharedKey::parse(other_key);
	return access;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const Access access = guarded();
	static const SharedKey right = SharedKey::parse(good_key), wrong = SharedKey::parse(other_key);
	parse(std::string(data, data + size));
	std::string nearly = good_key;
	if (size > 1)
		nearly[data[0] % nearly.size()] = static_cast<char>(data[1]);
	parse(nearly);

	Script script{data, size};
	Authentication queue(access, "nqn.host", "nqn.target");
	Bytes challenge;
	bool may = false; // the right response was given to the last challenge, or the queue had been let in before
	while (script.size) {
		const uint8_t choice = script.byte();
		Bytes message;
		bool whole = false;
		switch (choice % 6) {
		case 0: message = negotiation(script.byte()); break;
		case 1: {
			const bool knows = !(choice & 0x40);
			if (challenge.empty())
				continue;
			message = reply_to(challenge, knows ? right : wrong, choice & 0x80);
			whole = knows && read_record<AuthChallenge>(challenge).group == group_null;
			break;
		}
		case 2:
			message.resize(16);
			write_record(std::span(message),
				     AuthHead{auth_dhchap, auth_success2, 0,
					      challenge.empty() ? uint16_t(0) : read_record<AuthHead>(challenge).transaction});
			break;
		case 3: // noise
			for (uint8_t left = script.byte() % 64; left; left--)
				message.push_back(std::byte(script.byte()));
			break;
		default: { // the host reads
			const Bytes due = queue.due();
			const auto head = read_record<AuthHead>(due);
			require(due.size() >= sizeof(AuthFailure), "a message is too short");
			if (head.type == auth_dhchap && head.id == auth_challenge)
				challenge = due, may = queue.done();
			queue.delivered();
			require(!queue.done() || may, "someone got in");
			continue;
		}
		}
		if (choice & 0x08 && !message.empty()) { // changed in one byte
			const uint8_t by = script.byte();
			const size_t at = script.byte() % message.size();
			message[at] ^= std::byte(by);
			whole = whole && (!by || at < sizeof(AuthReply) ||
					  at >= sizeof(AuthReply) + read_record<AuthChallenge>(challenge).hash_bytes);
		}
		const bool open = !challenge.empty();
		queue.receive(message);
		may = may || (whole && open);
		require(!queue.done() || may, "someone got in");
		require(!(queue.done() && queue.failed()), "a queue that failed is let in");
	}
	return 0;
}
