// The computations of DH-HMAC-CHAP.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/dhchap.hpp"

#include <algorithm>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/dh.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "session/machine/error.hpp"

namespace hz::fabrics {

namespace {

constexpr std::string_view key_prefix = "DHHC-1:", key_purpose = "NVMe-over-Fabrics";
constexpr size_t crc_bytes = 4;

const EVP_MD *digest_of(uint8_t hash)
{
	switch (hash) {
	case hash_sha256: return EVP_sha256();
	case hash_sha384: return EVP_sha384();
	case hash_sha512: return EVP_sha512();
	}
	return nullptr;
}

const char *group_name(uint8_t group) { return group == group_ffdhe2048 ? "ffdhe2048" : group == group_ffdhe3072 ? "ffdhe3072" : nullptr; }

void require(bool done, const char *what)
{
	if (!done)
		throw std::runtime_error(std::string("OpenSSL cannot ") + what);
}

const unsigned char *raw(std::span<const std::byte> bytes) { return reinterpret_cast<const unsigned char *>(bytes.data()); }
unsigned char *raw(Bytes &bytes) { return reinterpret_cast<unsigned char *>(bytes.data()); }

void append(Bytes &to, std::string_view text)
{
	const auto bytes = std::as_bytes(std::span(text));
	to.insert(to.end(), bytes.begin(), bytes.end());
}
template <class Number> void append_number(Bytes &to, Number number)
{
	const auto bytes = std::as_bytes(std::span(&number, 1));
	to.insert(to.end(), bytes.begin(), bytes.end());
}

Bytes hmac(uint8_t hash, std::span<const std::byte> key, std::span<const std::byte> data)
{
	Bytes out(hash_bytes(hash));
	require(HMAC(digest_of(hash), key.data(), static_cast<int>(key.size()), raw(data), data.size(), raw(out), nullptr), "make an HMAC");
	return out;
}

Bytes hashed(uint8_t hash, std::span<const std::byte> data)
{
	Bytes out(hash_bytes(hash));
	require(EVP_Digest(data.data(), data.size(), raw(out), nullptr, digest_of(hash), nullptr) == 1, "hash");
	return out;
}

// The checksum of a key: CRC-32 of IEEE 802.3.
uint32_t crc32(std::span<const std::byte> data)
{
	uint32_t crc = ~0u;
	for (const std::byte byte : data) {
		crc ^= static_cast<uint32_t>(byte);
		for (unsigned i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

// Empty: it is no base64.
Bytes decoded(std::string_view text)
{
	if (text.empty() || text.size() % 4 || text.find_first_of(" \t\r\n") != text.npos)
		return {};
	Bytes out(text.size() / 4 * 3);
	const int bytes = EVP_DecodeBlock(raw(out), reinterpret_cast<const unsigned char *>(text.data()), static_cast<int>(text.size()));
	const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
	out.resize(bytes < static_cast<int>(padding) ? 0 : static_cast<size_t>(bytes) - padding);
	return out;
}

std::string_view trimmed(std::string_view text)
{
	constexpr std::string_view blank = " \t\r\n";
	const size_t begin = text.find_first_not_of(blank), end = text.find_last_not_of(blank);
	return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY *)>;
using Context = std::unique_ptr<EVP_PKEY_CTX, void (*)(EVP_PKEY_CTX *)>;

EVP_PKEY *generated(const char *group)
{
	const Context context(EVP_PKEY_CTX_new_from_name(nullptr, "DH", nullptr), EVP_PKEY_CTX_free);
	const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, const_cast<char *>(group), 0),
				     OSSL_PARAM_construct_end()};
	EVP_PKEY *key = nullptr;
	require(context && EVP_PKEY_keygen_init(context.get()) == 1 && EVP_PKEY_CTX_set_params(context.get(), params) == 1 &&
			EVP_PKEY_generate(context.get(), &key) == 1,
		"make a Diffie-Hellman value");
	return key;
}

} // namespace

size_t hash_bytes(uint8_t hash)
{
	const EVP_MD *digest = digest_of(hash);
	return digest ? static_cast<size_t>(EVP_MD_get_size(digest)) : 0;
}

void forget(Bytes &bytes) { OPENSSL_cleanse(bytes.data(), bytes.size()); }

SharedKey SharedKey::parse(std::string_view text)
{
	text = trimmed(text);
	const size_t head = key_prefix.size() + 3; // and two digits and a colon
	if (!text.starts_with(key_prefix) || text.size() < head || text[head - 1] != ':' || text[head - 3] != '0' || text[head - 2] < '0' ||
	    text[head - 2] > '3')
		throw Error("is no key of the form DHHC-1:00:…:, which nvme gen-dhchap-key makes");
	const auto hash = static_cast<uint8_t>(text[head - 2] - '0');
	text.remove_prefix(head);
	if (text.ends_with(':'))
		text.remove_suffix(1);
	Bytes bytes = decoded(text);
	const size_t length = bytes.size() < crc_bytes ? 0 : bytes.size() - crc_bytes;
	if (length != 32 && length != 48 && length != 64)
		throw Error("is a key of another length than 32, 48 or 64 bytes, or no base64");
	if (read_record<uint32_t>(bytes, length) != crc32(std::span(bytes).first(length)))
		throw Error("is a key with a wrong checksum: it was not copied whole");
	SharedKey key(hash, {bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length)});
	forget(bytes);
	return key;
}

Bytes SharedKey::transformed(const std::string &nqn) const
{
	if (hash_ == hash_none)
		return bytes_;
	Bytes owner;
	append(owner, nqn);
	append(owner, key_purpose);
	return hmac(hash_, bytes_, owner);
}

std::string SharedKey::text() const
{
	Bytes whole = bytes_;
	append_number(whole, crc32(bytes_));
	std::string out(whole.size() / 3 * 4 + 5, '\0');
	out.resize(static_cast<size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char *>(out.data()),
						       raw(std::span<const std::byte>(whole)), static_cast<int>(whole.size()))));
	forget(whole);
	return std::string(key_prefix) + "0" + std::to_string(hash_) + ":" + out + ":";
}

Bytes ChallengeResponse::value() const
{
	Bytes data(challenge.begin(), challenge.end());
	append_number(data, sequence);
	append_number(data, transaction);
	append_number(data, uint8_t(0)); // no secure channel
	append(data, role);
	append(data, own);
	append_number(data, uint8_t(0));
	append(data, others);
	return hmac(hash, key, data);
}

bool equal(std::span<const std::byte> one, std::span<const std::byte> other)
{
	return one.size() == other.size() && !CRYPTO_memcmp(one.data(), other.data(), one.size());
}

Bytes unforeseen(size_t bytes)
{
	Bytes out(bytes);
	require(RAND_bytes(raw(out), static_cast<int>(bytes)) == 1, "make random bytes");
	return out;
}

bool DhExchange::knows(uint8_t group) { return group == group_null || group_name(group); }

DhExchange::DhExchange(uint8_t group)
{
	if (group == group_null)
		return;
	own_ = std::shared_ptr<void>(generated(group_name(group)), [](void *key) { EVP_PKEY_free(static_cast<EVP_PKEY *>(key)); });
	unsigned char *value = nullptr;
	const size_t bytes = EVP_PKEY_get1_encoded_public_key(static_cast<EVP_PKEY *>(own_.get()), &value);
	require(bytes, "encode a Diffie-Hellman value");
	const auto view = std::as_bytes(std::span(value, bytes));
	public_.assign(view.begin(), view.end());
	OPENSSL_free(value);
}

bool DhExchange::agree(std::span<const std::byte> other)
{
	auto *own = static_cast<EVP_PKEY *>(own_.get());
	if (!own)
		return other.empty();
	const Key peer(EVP_PKEY_new(), EVP_PKEY_free);
	const Context context(EVP_PKEY_CTX_new_from_pkey(nullptr, own, nullptr), EVP_PKEY_CTX_free);
	size_t bytes = 0;
	// EVP_PKEY_derive_set_peer() checks that the value lies in the group.
	if (other.size() != public_.size() || EVP_PKEY_copy_parameters(peer.get(), own) != 1 ||
	    EVP_PKEY_set1_encoded_public_key(peer.get(), raw(other), other.size()) != 1 || EVP_PKEY_derive_init(context.get()) != 1 ||
	    EVP_PKEY_CTX_set_dh_pad(context.get(), 1) != 1 || EVP_PKEY_derive_set_peer(context.get(), peer.get()) != 1 ||
	    EVP_PKEY_derive(context.get(), nullptr, &bytes) != 1)
		return false;
	shared_.resize(bytes);
	if (EVP_PKEY_derive(context.get(), raw(shared_), &bytes) != 1)
		return false;
	shared_.resize(bytes);
	return true;
}

Bytes DhExchange::augmented(uint8_t hash, std::span<const std::byte> challenge) const
{
	if (!own_)
		return {challenge.begin(), challenge.end()};
	return hmac(hash, hashed(hash, shared_), challenge);
}

} // namespace hz::fabrics
