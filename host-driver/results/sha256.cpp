/* SHA-256 by OpenSSL, a piece at a time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace hz::res {
namespace {

class Hash {
public:
	Hash() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }
	void add(const char *data, size_t bytes) { check(EVP_DigestUpdate(context_.get(), data, bytes)); }
	std::string text()
	{
		unsigned char hash[EVP_MAX_MD_SIZE];
		unsigned length = 0;
		check(EVP_DigestFinal_ex(context_.get(), hash, &length));
		std::string out;
		for (unsigned i = 0; i < length; i++)
			out += {"0123456789abcdef"[hash[i] >> 4], "0123456789abcdef"[hash[i] & 15]};
		return out;
	}

private:
	static void check(int done)
	{
		if (done != 1)
			throw std::runtime_error("OpenSSL has no SHA-256");
	}
	std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX *)> context_;
};

} // namespace

std::string sha256(const std::string &bytes)
{
	Hash hash;
	hash.add(bytes.data(), bytes.size());
	return hash.text();
}

std::string sha256_of_file(const std::filesystem::path &file)
{
	std::ifstream in(file, std::ios::binary);
	const auto piece = std::make_unique<std::array<char, 1 << 16>>();
	Hash hash;
	while (in.read(piece->data(), piece->size()), in.gcount())
		hash.add(piece->data(), size_t(in.gcount()));
	if (in.bad() || !in.is_open())
		throw std::runtime_error(file.string() + " cannot be read");
	return hash.text();
}

} // namespace hz::res
