// The computations of DH-HMAC-CHAP (NVMe Base 2.0, section 8.13.5), by OpenSSL: keys, responses, and
// Diffie-Hellman values.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fabrics/pdu.hpp"

namespace hz::fabrics {

// Bytes of a hash's value; 0: there is no such hash.
size_t hash_bytes(uint8_t hash);

// Overwrites the memory.
void forget(Bytes &bytes);

// A key in the form of `nvme gen-dhchap-key`. It is overwritten at its end.
class SharedKey {
public:
	// "DHHC-1:HH:BASE64:", with spaces around it. Throws Error "…", which never has the text in it.
	static SharedKey parse(std::string_view text);
	SharedKey(const SharedKey &) = default;
	SharedKey(SharedKey &&) = default;
	SharedKey &operator=(const SharedKey &) = default;
	~SharedKey() { forget(bytes_); }

	// The key that responses of the owner of this NQN are made with.
	Bytes transformed(const std::string &nqn) const;
	// As it was parsed, for $HARTZONE_DHCHAP_SECRET of a command.
	std::string text() const;

private:
	SharedKey(uint8_t hash, Bytes bytes) : hash_(hash), bytes_(std::move(bytes)) {}
	uint8_t hash_;
	Bytes bytes_;
};

// The response to a challenge.
struct ChallengeResponse {
	uint8_t hash;
	std::span<const std::byte> key, challenge; // the key transformed, the challenge augmented
	uint32_t sequence;
	uint16_t transaction;
	std::string_view role;        // "HostHost" or "Controller"
	std::string_view own, others; // NQNs: of who responds, and of the other
	Bytes value() const;
};

// In constant time.
bool equal(std::span<const std::byte> one, std::span<const std::byte> other);
// Random bytes that cannot be foreseen. Throws std::runtime_error.
Bytes unforeseen(size_t bytes);

// An end of a Diffie-Hellman exchange with a new private value; of the group NULL: no exchange.
class DhExchange {
public:
	explicit DhExchange(uint8_t group);
	static bool knows(uint8_t group);

	const Bytes &public_value() const { return public_; }
	// With the other end's public value; nothing if that cannot be one.
	bool agree(std::span<const std::byte> other);
	// The challenge as it is used in a response, after agree(); without an exchange: itself.
	Bytes augmented(uint8_t hash, std::span<const std::byte> challenge) const;

	~DhExchange() { forget(shared_); }
	DhExchange(const DhExchange &) = delete;
	DhExchange &operator=(const DhExchange &) = delete;

private:
	std::shared_ptr<void> own_; // EVP_PKEY
	Bytes public_, shared_;
};

} // namespace hz::fabrics
