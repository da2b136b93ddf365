// DH-HMAC-CHAP: keys, responses and Diffie-Hellman values against other implementations; each message; and a target that asks for them.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "authenticating_host.hpp"
#include "session/machine/error.hpp"
#include "target_rig.hpp"

// Of libnvme, whose headers define the names of protocol/nvme.h.
extern "C" int nvme_gen_dhchap_key(char *owner, int algorithm, unsigned bytes, unsigned char *secret, unsigned char *key);

namespace hz::test {
namespace {

using namespace fabrics;

constexpr const char *host_name = "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555";
constexpr const char *target_name = "nqn.2026-11.org.hartzone:test";
constexpr const char *keys[] = {
	"DHHC-1:00:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAl7OaH:",
	"DHHC-1:01:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAl7OaH:",
	"DHHC-1:02:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8wyg3Bcw==:",
	"DHHC-1:03:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5Ojs8PT4/QJn7gCg=:",
};
constexpr const char *other_key = "DHHC-1:01:U0BkIm8uQhuEN2lM7kJ9zfdyXNpEWWQzRwMjNYMgdFvGs2tB:";

// By Python's hmac, of the formulas of section 8.13.5: hashes 256 (key not transformed), 256, 384, 512.
constexpr const char *host_responses[] = {
	"841b5bfded1627d26d7d4bcd6f7839295f3cd64334fdeb5dab254e05f42341ea",
	"41f7d22de827304034dd07159166d8bd74d46cfde7e59d5ee116d4724ecfa8dd",
	"d0d7c1abb50ff394e3030763a7c41c176cd481b4f2021df1a3e43f2a7f51fef8f4435d3da4812af0e837f88ee02796a4",
	"b644c314678cb6180f1dacbd1dde02a981fa3dc4dc7baea0a21b633f16b441ff81723857d910d075290912d2cf9c7a7fb308a548194ba65f8974df46d16d51b9",
};
constexpr const char *target_responses[] = {
	"aedce38b8fd976d6a304779b7c1b58325e555ef4f4dd02232be862c479f25247",
	"13aefd762213ef606c8953bfadda7e9d152c4033ef08d749f48301e9122af00b",
	"90c1d36bfca25d3b3ea1de68e79959b3ddc07fbf8caba87c5b13645a3e2765c04d0db628d4026b3565f350d977ac0985",
	"2e2bf26f71b360c4f0046c9910afcd47cfd8c45476bc1f7c5a9228011f6b0931efbedcaaadeab547b23a2a7d81bfc3ff65e646966b4711335e91006b806cd35c",
};
// ffdhe2048 (RFC 7919), from its formula 2^2048 - 2^1984 + ([2^1918 e] + 560316) 2^64 - 1.
constexpr const char *prime = "FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1D8B9C583CE2D3695A9E13641146433FBCC939DCE249B3EF9"
			      "7D2FE363630C75D8F681B202AEC4617AD3DF1ED5D5FD65612433F51F5F066ED0856365553DED1AF3B557135E7F57C935"
			      "984F0C70E0E68B77E2A689DAF3EFE8721DF158A136ADE73530ACCA4F483A797ABC0AB182B324FB61D108A94BB2C8E3FB"
			      "B96ADAB760D7F4681D4F42A3DE394DF4AE56EDE76372BB190B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F61"
			      "9172FE9CE98583FF8E4F1232EEF28183C3FE3B1B4C6FAD733BB5FCBC2EC22005C58EF1837D1683B2C6F34A26C1B2EFFA"
			      "886B423861285C97FFFFFFFFFFFFFFFF";

std::string hex(std::span<const std::byte> bytes)
{
	std::string out;
	for (const std::byte byte : bytes)
		out += {"0123456789abcdef"[static_cast<unsigned>(byte) >> 4], "0123456789abcdef"[static_cast<unsigned>(byte) & 15]};
	return out;
}

std::string why(const std::string &text)
{
	try {
		SharedKey::parse(text);
	} catch (const Error &wrong) {
		return wrong.what();
	}
	return "";
}

Access access_by(const char *key, const char *target_key = nullptr)
{
	Access access;
	access.key = SharedKey::parse(key);
	if (target_key)
		access.target_key = SharedKey::parse(target_key);
	return access;
}

TEST(Key, IsReadAsTheToolWritesIt)
{
	for (const char *key : keys) {
		EXPECT_EQ(SharedKey::parse(key).text(), key);
		EXPECT_EQ(SharedKey::parse(" \t" + std::string(key) + "\n").text(), key);
		std::string bare = key;
		bare.pop_back();
		EXPECT_EQ(SharedKey::parse(bare).text(), key);
	}
}

TEST(Key, IsTransformedAsLibnvmeDoes)
{
	for (uint8_t i = 0; i < std::size(keys); i++) {
		unsigned char secret[64], key[64] = {};
		const unsigned bytes = i < 2 ? 32 : i == 2 ? 48 : 64;
		for (unsigned at = 0; at < bytes; at++)
			secret[at] = static_cast<unsigned char>(at + 1);
		ASSERT_EQ(nvme_gen_dhchap_key(const_cast<char *>(host_name), i, bytes, secret, key), 0);
		EXPECT_EQ(hex(SharedKey::parse(keys[i]).transformed(host_name)), hex(std::as_bytes(std::span(key).first(bytes))));
	}
}

TEST(Key, ErrorsSayWhatIsWrongAndNotTheKey)
{
	const std::string good = keys[1];
	EXPECT_NE(why("").find("no key of the form"), std::string::npos);
	EXPECT_NE(why("DHHC-1:04" + good.substr(9)).find("no key of the form"), std::string::npos);
	EXPECT_NE(why("DHHC-2" + good.substr(6)).find("no key of the form"), std::string::npos);
	EXPECT_NE(why(good.substr(0, 20)).find("another length"), std::string::npos);
	EXPECT_NE(why(good.substr(0, 30) + "!" + good.substr(31)).find("another length"), std::string::npos);
	std::string damaged = good;
	damaged[30] = damaged[30] == 'A' ? 'B' : 'A';
	EXPECT_NE(why(damaged).find("wrong checksum"), std::string::npos);
	for (const std::string &text : {damaged, good.substr(0, 20), "DHHC-2" + good.substr(6)})
		EXPECT_EQ(why(text).find(text.substr(11, 8)), std::string::npos);
}

TEST(Response, IsThatOfTheFormulas)
{
	for (uint8_t i = 0; i < std::size(keys); i++) {
		const uint8_t hash = i ? i : uint8_t(hash_sha256);
		Bytes challenge(hash_bytes(hash));
		for (size_t at = 0; at < challenge.size(); at++)
			challenge[at] = std::byte(at * 3 + i);
		const auto key = SharedKey::parse(keys[i]);
		const Bytes host_key = key.transformed(host_name), target_key = key.transformed(target_name);
		const ChallengeResponse host{hash, host_key, challenge, 0x01020304, 0x0506, "HostHost", host_name, target_name};
		const ChallengeResponse target{hash, target_key, challenge, 0x01020304, 0x0506, "Controller", target_name, host_name};
		EXPECT_EQ(hex(host.value()), host_responses[i]);
		EXPECT_EQ(hex(target.value()), target_responses[i]);
	}
}

// The other end by arithmetic: 2^x, and our value to the x-th.
TEST(DiffieHellman, AgreesWithArithmetic)
{
	BIGNUM *p = nullptr, *x = nullptr, *two = BN_new(), *value = BN_new();
	BN_CTX *context = BN_CTX_new();
	BN_hex2bn(&p, prime);
	BN_hex2bn(&x, "123456789abcdef0fedcba9876543210112233445566778899aabbccddeeff00");
	BN_set_word(two, 2);
	DhExchange exchange(group_ffdhe2048);
	ASSERT_EQ(exchange.public_value().size(), 256u);
	Bytes theirs(256), shared(256);
	BN_mod_exp(value, two, x, p, context);
	BN_bn2binpad(value, reinterpret_cast<unsigned char *>(theirs.data()), 256);
	BIGNUM *ours = BN_bin2bn(reinterpret_cast<const unsigned char *>(exchange.public_value().data()), 256, nullptr);
	BN_mod_exp(value, ours, x, p, context);
	BN_bn2binpad(value, reinterpret_cast<unsigned char *>(shared.data()), 256);
	ASSERT_TRUE(exchange.agree(theirs));
	unsigned char session[32], augmented[32];
	const Bytes challenge(32, std::byte(7));
	EVP_Digest(shared.data(), shared.size(), session, nullptr, EVP_sha256(), nullptr);
	HMAC(EVP_sha256(), session, 32, reinterpret_cast<const unsigned char *>(challenge.data()), 32, augmented, nullptr);
	EXPECT_EQ(hex(exchange.augmented(hash_sha256, challenge)), hex(std::as_bytes(std::span(augmented))));
	BN_CTX_free(context);
	for (BIGNUM *number : {p, x, two, value, ours})
		BN_free(number);
}

TEST(DiffieHellman, RefusesValuesOutsideTheGroup)
{
	DhExchange exchange(group_ffdhe2048);
	Bytes value(256);
	EXPECT_FALSE(exchange.agree(value)) << "0";
	value.back() = std::byte(1);
	EXPECT_FALSE(exchange.agree(value)) << "1";
	EXPECT_FALSE(exchange.agree(Bytes(256, std::byte(0xff)))) << "above the prime";
	EXPECT_FALSE(exchange.agree({})) << "none";
	EXPECT_FALSE(exchange.agree(Bytes(255, std::byte(3))));
	DhExchange none(group_null);
	EXPECT_TRUE(none.agree({}));
	EXPECT_FALSE(none.agree(value));
	EXPECT_FALSE(DhExchange::knows(9));
}

// One queue without a target.
class Messages : public testing::Test {
protected:
	Access access = access_by(keys[1], keys[2]);
	Authentication queue{access, host_name, target_name};
	HostAuthenticator host{keys[1], host_name, target_name};

	AuthReason refused()
	{
		const Bytes message = queue.due();
		const auto failure = read_record<AuthFailure>(message);
		EXPECT_EQ(message.size(), sizeof(failure));
		EXPECT_EQ(failure.head.type, auth_common);
		EXPECT_EQ(failure.head.id, auth_failure1);
		EXPECT_EQ(failure.code, 1);
		queue.delivered();
		EXPECT_TRUE(queue.failed());
		EXPECT_FALSE(queue.done());
		return static_cast<AuthReason>(failure.reason);
	}
	Bytes challenge()
	{
		queue.receive(host.negotiate());
		Bytes message = queue.due();
		queue.delivered();
		return message;
	}
};

TEST_F(Messages, ASequenceForEachHashAndGroup)
{
	for (const uint8_t hash : {hash_sha256, hash_sha384, hash_sha512})
		for (const uint8_t group : {group_null, group_ffdhe2048, group_ffdhe3072})
			for (const char *target_key : {static_cast<const char *>(nullptr), keys[2]}) {
				HostAuthenticator one(keys[1], host_name, target_name, target_key);
				one.hashes = {hash};
				one.groups = {group};
				Authentication other(access, host_name, target_name);
				other.receive(one.negotiate());
				const Bytes challenge = other.due();
				const auto head = read_record<AuthChallenge>(challenge);
				EXPECT_EQ(head.hash, hash);
				EXPECT_EQ(head.group, group);
				EXPECT_NE(head.sequence, 0u);
				other.delivered();
				other.receive(one.reply(challenge));
				const Bytes success = other.due();
				EXPECT_TRUE(one.succeeded(success));
				EXPECT_FALSE(other.done());
				other.delivered();
				EXPECT_EQ(other.done(), !target_key);
				if (target_key)
					other.receive(one.success2());
				EXPECT_TRUE(other.done());
			}
}

TEST_F(Messages, TheStrongestCommonHashAndAGroupAreChosen)
{
	host.hashes = {9, hash_sha256, hash_sha512, hash_sha384};
	host.groups = {group_null, 5, group_ffdhe2048};
	const auto head = read_record<AuthChallenge>(challenge());
	EXPECT_EQ(head.hash, hash_sha512);
	EXPECT_EQ(head.hash_bytes, 64);
	EXPECT_EQ(head.group, group_ffdhe2048);
	EXPECT_EQ(head.dh_bytes, 256);
	EXPECT_EQ(head.head.transaction, host.transaction);
}

TEST_F(Messages, NegotiationsThatCannotBe)
{
	const auto answer = [&](const Bytes &message) {
		Authentication fresh(access, host_name, target_name);
		fresh.receive(message);
		return static_cast<AuthReason>(read_record<AuthFailure>(fresh.due()).reason);
	};
	const Bytes good = host.negotiate();
	const auto changed = [&](size_t at, uint8_t value) {
		Bytes out = good;
		out[at] = std::byte(value);
		return out;
	};
	EXPECT_EQ(answer(Bytes(3)), auth_wrong_payload);
	EXPECT_EQ(answer(Bytes(good.begin(), good.end() - 1)), auth_wrong_payload);
	EXPECT_EQ(answer(changed(offsetof(AuthNegotiate, channel), 1)), auth_channel_mismatch);
	EXPECT_EQ(answer(changed(offsetof(AuthNegotiate, descriptors), 2)), auth_wrong_payload);
	EXPECT_EQ(answer(changed(offsetof(AuthNegotiate, descriptors), 0)), auth_protocol_unusable);
	EXPECT_EQ(answer(changed(sizeof(AuthNegotiate), 2)), auth_protocol_unusable);
	EXPECT_EQ(answer(changed(sizeof(AuthNegotiate) + offsetof(AuthDescriptor, hashes), 31)), auth_wrong_payload);
	EXPECT_EQ(answer(changed(sizeof(AuthNegotiate) + offsetof(AuthDescriptor, hashes), 0)), auth_hash_unusable);
	EXPECT_EQ(answer(changed(sizeof(AuthNegotiate) + offsetof(AuthDescriptor, groups), 0)), auth_group_unusable);
}

TEST_F(Messages, AnotherKeyOrNameFails)
{
	HostAuthenticator stranger(other_key, host_name, target_name), renamed(keys[1], "nqn.else", target_name),
		elsewhere(keys[1], host_name, "nqn.x");
	for (HostAuthenticator *one : {&stranger, &renamed, &elsewhere}) {
		Authentication fresh(access, host_name, target_name);
		fresh.receive(one->negotiate());
		const Bytes challenge = fresh.due();
		fresh.delivered();
		fresh.receive(one->reply(challenge));
		EXPECT_EQ(read_record<AuthFailure>(fresh.due()).reason, auth_failed);
		fresh.delivered();
		EXPECT_TRUE(fresh.failed());
	}
}

TEST_F(Messages, AnOldReplyProvesNothing)
{
	const Bytes old = host.reply(challenge());
	Authentication fresh(access, host_name, target_name);
	fresh.receive(host.negotiate());
	fresh.delivered();
	fresh.receive(old);
	EXPECT_EQ(read_record<AuthFailure>(fresh.due()).reason, auth_failed);
	queue.receive(old);
	queue.delivered();
	ASSERT_TRUE(queue.done());
	queue.receive(old);
	EXPECT_EQ(refused(), auth_wrong_message) << "the same again, on its own queue";
}

TEST_F(Messages, RepliesThatCannotBe)
{
	const auto answer = [&](auto change) {
		Authentication fresh(access, host_name, target_name);
		fresh.receive(host.negotiate());
		const Bytes challenge = fresh.due();
		fresh.delivered();
		Bytes reply = host.reply(challenge);
		change(reply);
		fresh.receive(reply);
		return static_cast<AuthReason>(read_record<AuthFailure>(fresh.due()).reason);
	};
	EXPECT_EQ(answer([](Bytes &reply) { reply.pop_back(); }), auth_wrong_payload);
	EXPECT_EQ(answer([](Bytes &reply) { reply[offsetof(AuthReply, hash_bytes)] = std::byte(20); }), auth_wrong_payload);
	EXPECT_EQ(answer([](Bytes &reply) { reply[offsetof(AuthReply, mutual)] = std::byte(2); }), auth_wrong_payload);
	EXPECT_EQ(answer([](Bytes &reply) { reply[offsetof(AuthReply, dh_bytes)] = std::byte(1); }), auth_wrong_payload);
	EXPECT_EQ(answer([](Bytes &reply) { reply[offsetof(AuthHead, transaction)] ^= std::byte(1); }), auth_wrong_message);
	EXPECT_EQ(answer([](Bytes &reply) { reply[sizeof(AuthReply)] ^= std::byte(1); }), auth_failed);
	EXPECT_EQ(answer([](Bytes &reply) {
			  const DhExchange another(group_ffdhe2048);
			  std::copy(another.public_value().begin(), another.public_value().end(), reply.end() - 256);
		  }),
		  auth_failed);
}

TEST_F(Messages, OutOfTurnEndsIt)
{
	queue.receive(host.success2());
	EXPECT_EQ(refused(), auth_wrong_message);
	for (unsigned early = 0; early < 3; early++) {
		Authentication fresh(access, host_name, target_name);
		if (early)
			fresh.receive(host.negotiate());
		if (early > 1)
			fresh.delivered();
		fresh.receive(early == 1 ? host.negotiate() : host.success2());
		EXPECT_EQ(read_record<AuthFailure>(fresh.due()).reason, auth_wrong_message) << early;
	}
	Authentication silent(access, host_name, target_name);
	EXPECT_EQ(read_record<AuthFailure>(silent.due()).reason, auth_wrong_message) << "nothing was due";
	silent.delivered();
	EXPECT_TRUE(silent.failed());
	silent.receive(host.negotiate());
	EXPECT_TRUE(silent.failed()) << "for good";
}

TEST_F(Messages, AHostThatGivesUpEndsIt)
{
	challenge();
	queue.receive(host.failure2());
	EXPECT_TRUE(queue.failed());
	EXPECT_FALSE(queue.done());
}

TEST_F(Messages, ATargetWithoutAKeyOfItsOwnSaysSo)
{
	access.target_key.reset();
	HostAuthenticator asks(keys[1], host_name, target_name, keys[2]);
	queue.receive(asks.negotiate());
	const Bytes message = queue.due();
	queue.delivered();
	queue.receive(asks.reply(message));
	EXPECT_EQ(refused(), auth_failed);
}

TEST_F(Messages, AQueueMayProveItsKeyAgain)
{
	queue.receive(host.reply(challenge()));
	queue.delivered();
	ASSERT_TRUE(queue.done());
	const Bytes again = challenge();
	EXPECT_TRUE(queue.done()) << "until it fails";
	queue.receive(HostAuthenticator(other_key, host_name, target_name).reply(again));
	EXPECT_FALSE(queue.done());
}

// A target, and hosts on sockets.
class GuardedTarget : public testing::Test, protected TargetRig {
protected:
	explicit GuardedTarget(std::chrono::milliseconds limit = std::chrono::minutes(2)) : TargetRig(guarded(limit)) {}
	static SubsystemOptions guarded(std::chrono::milliseconds limit)
	{
		SubsystemOptions options{};
		options.access = access_by(keys[1], keys[2]);
		options.access.hosts = {host_name, "nqn.other"};
		options.authentication_limit = limit;
		return options;
	}
	HostAuthenticator right{keys[1], host_name, target_name};
};

TEST_F(GuardedTarget, AQueueMustAuthenticateBeforeAllElse)
{
	auto admin = host();
	admin.set_up();
	const HostCompletion connected = admin.connect(0);
	EXPECT_EQ(connected.status, 0);
	EXPECT_EQ(connected.result >> 16, connect_authenticate >> 16);
	EXPECT_THROW(admin.property_get(NVME_REG_VS), std::runtime_error);
	EXPECT_EQ(admin.run(Initiator::command(opcode_keep_alive)).status, status_authentication_required);
	EXPECT_EQ(admin.run(Initiator::command(NVME_ADMIN_IDENTIFY, 0, 1), {}, 4096).status, status_authentication_required);
	EXPECT_TRUE(right.prove(admin));
	admin.enable();
	EXPECT_EQ(admin.property_get(NVME_REG_VS), NVME_VERSION_2_0);
	auto queue = host();
	queue.set_up();
	const auto id = static_cast<uint16_t>(connected.result);
	EXPECT_EQ(queue.connect(1, id).result, id | connect_authenticate);
	const nvme_sqe flush = Initiator::command(NVME_IO_FLUSH, 1);
	EXPECT_EQ(queue.run(flush).status, status_authentication_required);
	EXPECT_TRUE(HostAuthenticator(keys[1], host_name, target_name, keys[2]).prove(queue));
	EXPECT_EQ(queue.run(flush).status, 0);
}

TEST_F(GuardedTarget, WhoFailsIsLetGoAndTheOthersGoOn)
{
	auto good = host();
	good.set_up();
	good.connect(0);
	ASSERT_TRUE(right.prove(good));
	good.enable();
	auto stranger = host();
	stranger.set_up();
	stranger.connect(0);
	EXPECT_FALSE(HostAuthenticator(other_key, host_name, target_name).prove(stranger));
	stranger.hung_up();
	auto half = host();
	half.set_up();
	half.connect(0);
	half.run(HostAuthenticator::send(right.negotiate()), right.negotiate());
	half.close();
	EXPECT_EQ(good.property_get(NVME_REG_CSTS), NVME_CSTS_RDY);
	auto named = host({.host = "nqn.else"});
	named.set_up();
	EXPECT_EQ(named.connect(0).status, status_connect_host);
}

TEST_F(GuardedTarget, CommandsForMessagesAreChecked)
{
	auto admin = host();
	admin.set_up();
	admin.connect(0);
	const Bytes message = right.negotiate();
	nvme_sqe send = HostAuthenticator::send(message);
	send.cdw10 ^= 1u << 24;
	EXPECT_EQ(admin.run(send, message).status, NVME_INVALID_FIELD);
	send = HostAuthenticator::send(message);
	send.cdw11 = 0;
	EXPECT_EQ(admin.run(send, message).status, NVME_INVALID_FIELD);
	send.cdw11 = static_cast<uint32_t>(message.size() + 1);
	EXPECT_EQ(admin.run(send, message).status, status_sgl_length);
	ASSERT_EQ(admin.run(HostAuthenticator::send(message), message).status, 0);
	EXPECT_EQ(admin.run(HostAuthenticator::receive(16), {}, 16).status, NVME_INVALID_FIELD) << "the challenge is longer";
	EXPECT_EQ(admin.run(HostAuthenticator::receive(4096), {}, 16).status, status_sgl_length);
	const HostCompletion challenge = admin.run(HostAuthenticator::receive(4096), {}, 4096);
	ASSERT_EQ(challenge.data.size(), 4096u);
	const Bytes reply = right.reply(challenge.data);
	ASSERT_EQ(admin.run(HostAuthenticator::send(reply), reply).status, 0);
	EXPECT_TRUE(right.succeeded(admin.run(HostAuthenticator::receive(4096), {}, 4096).data));
	admin.enable();
}

TEST_F(GuardedTarget, DiscoveryIsForAllowedHostsWithoutAKey)
{
	auto allowed = host({.subsystem = discovery_name}), other = host({.subsystem = discovery_name, .host = "nqn.else"});
	allowed.begin();
	EXPECT_EQ(allowed.run(Initiator::command(NVME_ADMIN_GET_LOG_PAGE, 0, log_discovery | 255u << 16), {}, 1024).status, 0);
	other.set_up();
	EXPECT_EQ(other.connect(0).status, status_connect_host);
}

class HastyTarget : public GuardedTarget {
protected:
	HastyTarget() : GuardedTarget(std::chrono::milliseconds(1)) {}
};

TEST_F(HastyTarget, EndsAQueueThatDoesNotAuthenticateInTime)
{
	auto idle = host();
	idle.set_up();
	EXPECT_EQ(idle.connect(0).status, 0);
	EXPECT_FALSE(idle.hung_up().status());
}

TEST(OpenTarget, KnowsNoAuthentication)
{
	struct Rig : TargetRig {
		using TargetRig::host;
	} rig;
	auto admin = rig.host();
	admin.begin();
	const Bytes message = HostAuthenticator(keys[1], host_name, target_name).negotiate();
	EXPECT_EQ(admin.run(HostAuthenticator::send(message), message).status, NVME_INVALID_OPCODE);
}

} // namespace
} // namespace hz::test
