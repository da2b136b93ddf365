// PDUs of NVMe/TCP: digests, checks of received PDUs, and encoding of sent ones.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/pdu.hpp"

#include <algorithm>
#include <array>

namespace hz::fabrics {

namespace {

constexpr uint32_t digest_bytes = 4, head_bytes = sizeof(PduHead);
constexpr size_t first_room = 64 << 10;
constexpr uint32_t most_rejected = 128;

// Eight tables, so that eight bytes are looked up at a time (Kounavis and Berry, "slicing by 8").
using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

constexpr CrcTables make_tables()
{
	constexpr uint32_t polynomial = 0x82f63b78; // Castagnoli, reflected
	CrcTables tables{};
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
		tables[0][i] = crc;
	}
	for (size_t t = 1; t < tables.size(); t++)
		for (uint32_t i = 0; i < 256; i++)
			tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
	return tables;
}
constexpr CrcTables crc_tables = make_tables();

uint32_t crc_of_eight(uint64_t word)
{
	uint32_t crc = 0;
	for (size_t i = 0; i < 8; i++)
		crc ^= crc_tables[7 - i][word >> 8 * i & 0xff];
	return crc;
}

struct Kind {
	uint8_t type;
	uint32_t hlen, most_data;
};
// PDUs that a host may send. A termination request carries the head of one of our PDUs.
constexpr Kind kinds[] = {
	{pdu_icreq, sizeof(PduInit), 0},
	{pdu_h2c_term, sizeof(PduTerm), most_rejected},
	{pdu_command, sizeof(PduCommand), most_in_capsule},
	{pdu_h2c_data, sizeof(PduData), most_transfer},
};

const Kind &kind_of(uint8_t type)
{
	const auto found = std::find_if(std::begin(kinds), std::end(kinds), [&](const Kind &kind) { return kind.type == type; });
	if (found == std::end(kinds))
		throw PduFault(term_header_field, "a host sends no PDU of type " + std::to_string(type));
	return *found;
}

// Set-up and termination have no digests.
bool has_digests(uint8_t type) { return type == pdu_command || type == pdu_h2c_data; }

uint32_t digest_at(std::span<const std::byte> bytes, size_t offset) { return read_record<uint32_t>(bytes, offset); }

PduHead head_of(PduType type, size_t hlen, uint8_t flags = 0)
{
	return {type, flags, static_cast<uint8_t>(hlen), 0, static_cast<uint32_t>(hlen)};
}

template <class Record> std::span<const std::byte> bytes_of(const Record &record) { return std::as_bytes(std::span(&record, 1)); }

} // namespace

uint32_t crc32c(std::span<const std::byte> data, uint32_t crc)
{
	crc = ~crc;
	for (; data.size() >= 8; data = data.subspan(8))
		crc = crc_of_eight(read_record<uint64_t>(data) ^ crc);
	for (const std::byte byte : data)
		crc = crc >> 8 ^ crc_tables[0][(crc ^ static_cast<uint32_t>(byte)) & 0xff];
	return ~crc;
}

std::span<std::byte> PduReader::room()
{
	const PduHead head = read_record<PduHead>(waiting());
	const size_t rest = std::min(head.plen,
				     most_transfer + most_rejected); // of a head checked by next(), except for its data digest
	const size_t wanted = waiting().size() < head_bytes ? first_room : std::max(first_room, rest);
	if (begin_) {
		std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_), buffer_.begin() + static_cast<ptrdiff_t>(end_),
			  buffer_.begin());
		end_ -= begin_;
		begin_ = 0;
	}
	if (buffer_.size() < wanted || buffer_.size() == end_)
		buffer_.resize(std::max(wanted, end_ + head_bytes));
	return std::span(buffer_).subspan(end_);
}

void PduReader::received(size_t bytes) { end_ += bytes; }

std::span<const std::byte> PduReader::rejected() const { return waiting().first(std::min<size_t>(waiting().size(), most_rejected)); }

void PduReader::check_head(const PduHead &head) const
{
	const Kind &kind = kind_of(head.type);
	const bool digests = has_digests(head.type);
	const uint32_t header = kind.hlen + (digests && digests_.header ? digest_bytes : 0);
	if (head.hlen != kind.hlen)
		throw PduFault(term_header_field, "the header of a PDU has an impossible length", 2);
	if (digests && bool(head.flags & flag_header_digest) != digests_.header)
		throw PduFault(term_header_field, "a PDU says otherwise about header digests than was agreed", 1);
	if (head.plen == header && head.type != pdu_h2c_data)
		return;
	const uint32_t digest = digests && digests_.data ? digest_bytes : 0, start = head.type == pdu_h2c_term ? header : head.pdo;
	if (digests && bool(head.flags & flag_data_digest) != digests_.data)
		throw PduFault(term_header_field, "a PDU says otherwise about data digests than was agreed", 1);
	if (start < header || start % 4)
		throw PduFault(term_header_field, "the data of a PDU begin at an impossible place", 3);
	if (head.plen <= start + digest || head.plen - start - digest > kind.most_data)
		throw PduFault(term_header_field, "a PDU has an impossible length", 4);
}

Pdu PduReader::cut(const PduHead &head) const
{
	const auto whole = waiting().first(head.plen);
	const bool digests = has_digests(head.type);
	Pdu pdu{head, whole.first(head.hlen), {}, true};
	const size_t header = head.hlen + (digests && digests_.header ? digest_bytes : 0);
	if (digests && digests_.header && crc32c(pdu.header) != digest_at(whole, head.hlen))
		throw PduFault(term_header_digest, "the digest of a PDU's header is wrong");
	if (head.plen == header)
		return pdu;
	const size_t start = head.type == pdu_h2c_term ? header : head.pdo, digest = digests && digests_.data ? digest_bytes : 0;
	pdu.data = whole.subspan(start, head.plen - start - digest);
	pdu.data_intact = !digest || crc32c(pdu.data) == digest_at(whole, head.plen - digest);
	return pdu;
}

std::optional<Pdu> PduReader::next()
{
	if (waiting().size() < head_bytes)
		return std::nullopt;
	const PduHead head = read_record<PduHead>(waiting());
	check_head(head);
	if (waiting().size() < head.plen)
		return std::nullopt;
	const Pdu pdu = cut(head);
	begin_ += head.plen;
	return pdu;
}

// `header` begins with a complete head (type, length and flags).
Bytes PduWriter::sealed(std::span<const std::byte> header, std::span<const std::byte> data) const
{
	PduHead head = read_record<PduHead>(header);
	const size_t headed = header.size() + (digests_.header ? digest_bytes : 0);
	const size_t start = data.empty() ? headed : (headed + alignment_ - 1) / alignment_ * alignment_;
	const size_t total = start + data.size() + (!data.empty() && digests_.data ? digest_bytes : 0);
	head.flags |= (digests_.header ? flag_header_digest : 0) | (!data.empty() && digests_.data ? flag_data_digest : 0);
	head.pdo = static_cast<uint8_t>(data.empty() ? 0 : start);
	head.plen = static_cast<uint32_t>(total);
	Bytes out(total);
	std::copy(header.begin(), header.end(), out.begin());
	write_record(out, head);
	if (digests_.header)
		write_record(out, crc32c(std::span(out).first(header.size())), header.size());
	std::copy(data.begin(), data.end(), out.begin() + static_cast<ptrdiff_t>(start));
	if (!data.empty() && digests_.data)
		write_record(out, crc32c(data), total - digest_bytes);
	return out;
}

Bytes PduWriter::init(Digests agreed) const
{
	PduInit init{};
	init.head = head_of(pdu_icresp, sizeof(init));
	init.digests = static_cast<uint8_t>((agreed.header ? init_header_digest : 0) | (agreed.data ? init_data_digest : 0));
	init.limit = most_transfer;
	const auto bytes = bytes_of(init);
	return {bytes.begin(), bytes.end()};
}

Bytes PduWriter::response(const nvme_cqe &cqe) const
{
	return sealed(bytes_of(PduResponse{head_of(pdu_response, sizeof(PduResponse)), cqe}), {});
}

Bytes PduWriter::ready_to_transfer(uint16_t cid, uint16_t tag, uint32_t length) const
{
	return sealed(bytes_of(PduData{head_of(pdu_r2t, sizeof(PduData)), cid, tag, 0, length, 0}), {});
}

Bytes PduWriter::data(uint16_t cid, std::span<const std::byte> data, bool succeeded) const
{
	const auto flags = static_cast<uint8_t>(flag_last | (succeeded ? flag_success : 0));
	return sealed(bytes_of(PduData{head_of(pdu_c2h_data, sizeof(PduData), flags), cid, 0, 0, static_cast<uint32_t>(data.size()), 0}),
		      data);
}

Bytes PduWriter::terminate(TermStatus status, uint32_t field, std::span<const std::byte> rejected) const
{
	PduTerm term{};
	term.head = head_of(pdu_c2h_term, sizeof(term));
	term.head.plen = static_cast<uint32_t>(sizeof(term) + rejected.size());
	term.status = status;
	term.field_low = static_cast<uint16_t>(field);
	term.field_high = static_cast<uint16_t>(field >> 16);
	const auto bytes = bytes_of(term);
	Bytes out(bytes.begin(), bytes.end());
	out.insert(out.end(), rejected.begin(), rejected.end());
	return out;
}

} // namespace hz::fabrics
