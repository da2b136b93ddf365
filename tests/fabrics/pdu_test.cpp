// PDUs: digests, the cutting of a stream, and refusals.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>

#include "fabrics/pdu.hpp"

namespace hz::fabrics {
namespace {

Bytes counting(size_t bytes)
{
	Bytes out(bytes);
	for (size_t i = 0; i < bytes; i++)
		out[i] = std::byte(i * 7 + i / 251);
	return out;
}

std::span<const std::byte> text(std::string_view text) { return std::as_bytes(std::span(text)); }

template <class Record> Bytes bytes_of(const Record &record, std::span<const std::byte> more = {})
{
	const auto head = std::as_bytes(std::span(&record, 1));
	Bytes out(head.begin(), head.end());
	out.insert(out.end(), more.begin(), more.end());
	return out;
}

Bytes command(std::span<const std::byte> data = {}, uint16_t cid = 5)
{
	PduCommand pdu{};
	pdu.head = {pdu_command, 0, 72, static_cast<uint8_t>(data.empty() ? 0 : 72), static_cast<uint32_t>(72 + data.size())};
	pdu.sqe.cid = cid;
	return bytes_of(pdu, data);
}

void feed(PduReader &reader, std::span<const std::byte> bytes)
{
	while (!bytes.empty()) {
		const auto room = reader.room();
		const size_t part = std::min(room.size(), bytes.size());
		std::copy_n(bytes.begin(), part, room.begin());
		reader.received(part);
		bytes = bytes.subspan(part);
	}
}

TermStatus fault_of(const Bytes &bytes, Digests digests = {})
{
	PduReader reader;
	reader.use(digests);
	feed(reader, bytes);
	try {
		reader.next();
	} catch (const PduFault &fault) {
		return fault.status();
	}
	return TermStatus(0);
}

TEST(Crc32c, KnownAnswers)
{
	EXPECT_EQ(crc32c(text("")), 0u);
	EXPECT_EQ(crc32c(text("123456789")), 0xe3069283u);
	EXPECT_EQ(crc32c(Bytes(32)), 0x8a9136aau); // RFC 3720, B.4
	EXPECT_EQ(crc32c(Bytes(32, std::byte(0xff))), 0x62a8ab43u);
}

TEST(Crc32c, GoesOnWhereItStopped)
{
	const Bytes data = counting(1000);
	for (size_t cut : {0u, 1u, 7u, 8u, 500u, 999u, 1000u})
		EXPECT_EQ(crc32c(std::span(data).subspan(cut), crc32c(std::span(data).first(cut))), crc32c(data)) << cut;
}

TEST(PduReader, CutsAStreamThatComesByteByByte)
{
	const Bytes data = counting(4096);
	Bytes stream = command(data, 1);
	const Bytes second = command({}, 2);
	stream.insert(stream.end(), second.begin(), second.end());
	PduReader reader;
	std::vector<uint16_t> cids;
	for (const std::byte byte : stream) {
		feed(reader, std::span(&byte, 1));
		while (const auto pdu = reader.next()) {
			cids.push_back(read_record<PduCommand>(pdu->header).sqe.cid);
			EXPECT_TRUE(cids.size() == 2 ? pdu->data.empty()
						     : std::equal(pdu->data.begin(), pdu->data.end(), data.begin(), data.end()));
		}
	}
	EXPECT_EQ(cids, (std::vector<uint16_t>{1, 2}));
}

TEST(PduReader, TheLargestTransferFits)
{
	const Bytes data = counting(most_transfer);
	const PduData part{{pdu_h2c_data, flag_last, 24, 24, static_cast<uint32_t>(24 + data.size())}, 1, 0, 0, most_transfer, 0};
	PduReader reader;
	feed(reader, bytes_of(part, data));
	const auto pdu = reader.next();
	ASSERT_TRUE(pdu);
	EXPECT_TRUE(std::equal(pdu->data.begin(), pdu->data.end(), data.begin(), data.end()));
}

struct Wrong {
	const char *name;
	size_t offset;
	uint32_t value, bytes;
	TermStatus status;
};

TEST(PduReader, RefusesWhatCannotBe)
{
	static constexpr Wrong cases[] = {
		{"type", 0, 5, 1, term_header_field},
		{"unknown type", 0, 0x77, 1, term_header_field},
		{"header digest", 1, 1, 1, term_header_field},
		{"data digest", 1, 2, 1, term_header_field},
		{"header length", 2, 71, 1, term_header_field},
		{"no header", 2, 0, 1, term_header_field},
		{"data in the header", 3, 68, 1, term_header_field},
		{"odd place", 3, 74, 1, term_header_field},
		{"data behind the end", 3, 252, 1, term_header_field},
		{"shorter than its header", 4, 71, 4, term_header_field},
		{"nothing", 4, 0, 4, term_header_field},
		{"too long", 4, 72 + most_in_capsule + 1, 4, term_header_field},
		{"endless", 4, 0xffffffff, 4, term_header_field},
	};
	for (const Wrong &wrong : cases) {
		Bytes bytes = command(counting(64));
		std::memcpy(bytes.data() + wrong.offset, &wrong.value, wrong.bytes);
		EXPECT_EQ(fault_of(bytes), wrong.status) << wrong.name;
	}
	EXPECT_EQ(fault_of(command(counting(64))), TermStatus(0));
}

TEST(PduReader, ATransferWithoutDataIsNone)
{
	EXPECT_EQ(fault_of(bytes_of(PduData{{pdu_h2c_data, 0, 24, 24, 24}, 0, 0, 0, 0, 0})), term_header_field);
}

TEST(PduReader, SaysWhatItRefused)
{
	PduReader reader;
	Bytes bytes = command(counting(512));
	bytes[0] = std::byte(99);
	feed(reader, bytes);
	EXPECT_THROW(reader.next(), PduFault);
	const auto rejected = reader.rejected();
	EXPECT_TRUE(std::equal(rejected.begin(), rejected.end(), bytes.begin(), bytes.begin() + 128));
}

// The digests that a host would add are those that the writer's responses have.
Bytes sealed(const Bytes &plain, Digests digests)
{
	auto head = read_record<PduHead>(plain);
	Bytes out(plain.begin(), plain.begin() + head.hlen);
	const auto data = std::span(plain).subspan(head.hlen);
	head.flags |= (digests.header ? flag_header_digest : 0) | (digests.data && !data.empty() ? flag_data_digest : 0);
	head.pdo = static_cast<uint8_t>(data.empty() ? 0 : head.hlen + (digests.header ? 4 : 0));
	head.plen += (digests.header ? 4 : 0) + (digests.data && !data.empty() ? 4 : 0);
	write_record(std::span(out), head);
	const auto add = [&out](const auto &record) {
		const auto bytes = bytes_of(record);
		out.insert(out.end(), bytes.begin(), bytes.end());
	};
	if (digests.header)
		add(crc32c(out));
	out.insert(out.end(), data.begin(), data.end());
	if (digests.data && !data.empty())
		add(crc32c(data));
	return out;
}

TEST(PduReader, DigestsAreCheckedWhereAgreed)
{
	for (const Digests digests : {Digests{true, false}, Digests{false, true}, Digests{true, true}}) {
		const Bytes good = sealed(command(counting(128)), digests);
		PduReader reader;
		reader.use(digests);
		feed(reader, good);
		const auto pdu = reader.next();
		ASSERT_TRUE(pdu);
		EXPECT_TRUE(pdu->data_intact);
		EXPECT_EQ(pdu->data.size(), 128u);
		EXPECT_EQ(fault_of(command(counting(128)), digests), term_header_field) << "without digests";
		Bytes bad = good;
		bad[20] ^= std::byte(1);
		EXPECT_EQ(fault_of(bad, digests), digests.header ? term_header_digest : TermStatus(0));
		bad = good;
		bad[150] ^= std::byte(1);
		PduReader other;
		other.use(digests);
		feed(other, bad);
		EXPECT_EQ(other.next()->data_intact, !digests.data);
	}
}

TEST(PduWriter, DataAreAligned)
{
	for (const uint32_t alignment : {4u, 8u, 64u, 128u})
		for (const bool digest : {false, true}) {
			PduWriter writer;
			writer.use({digest, digest}, alignment);
			const Bytes data = counting(512), pdu = writer.data(3, data, true);
			const auto head = read_record<PduHead>(pdu);
			EXPECT_EQ(head.pdo % alignment, 0u);
			EXPECT_GE(head.pdo, digest ? 28 : 24);
			EXPECT_EQ(head.plen, pdu.size());
			EXPECT_EQ(head.flags, (digest ? 3 : 0) | flag_last | flag_success);
			EXPECT_TRUE(std::equal(data.begin(), data.end(), pdu.begin() + head.pdo));
			EXPECT_EQ(pdu.size(), head.pdo + 512 + (digest ? 4u : 0u));
		}
}

} // namespace
} // namespace hz::fabrics
