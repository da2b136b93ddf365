// PDUs of NVMe/TCP: cuts a byte stream into checked PDUs, and encodes the controller's PDUs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabrics/wire.hpp"

namespace hz::fabrics {

using Bytes = std::vector<std::byte>;

constexpr uint32_t most_transfer = 512 << 10; // of a command, and of an H2CData PDU
constexpr uint32_t most_in_capsule = 16 << 10;

template <class Record> Record read_record(std::span<const std::byte> from, size_t offset = 0)
{
	Record record{};
	if (offset < from.size())
		std::memcpy(static_cast<void *>(&record), from.data() + offset, std::min(sizeof(record), from.size() - offset));
	return record;
}
template <class Record> void write_record(std::span<std::byte> to, const Record &record, size_t offset = 0)
{
	if (offset < to.size())
		std::memcpy(to.data() + offset, &record, std::min(sizeof(record), to.size() - offset));
}

// CRC32C (Castagnoli) of the bytes, as in digests; `crc`: of the preceding bytes.
uint32_t crc32c(std::span<const std::byte> data, uint32_t crc = 0);

struct Digests {
	bool header = false, data = false;
};

// A protocol error of the peer: the connection ends with this status and the offset of the wrong
// byte.
class PduFault : public std::runtime_error {
public:
	PduFault(TermStatus status, const std::string &what, uint32_t field = 0) : std::runtime_error(what), status_(status), field_(field)
	{
	}
	TermStatus status() const { return status_; }
	uint32_t field() const { return field_; }

private:
	TermStatus status_;
	uint32_t field_;
};

struct Pdu {
	PduHead head;
	std::span<const std::byte> header, data; // header: with its head, without a digest
	bool data_intact;                        // false: the data's digest is another
};

// PDUs from a host. Never buffers more than one PDU.
class PduReader {
public:
	// From the next PDU on.
	void use(Digests digests) { digests_ = digests; }

	// Buffer of at least one byte for the caller to fill; received() passes the number.
	std::span<std::byte> room();
	void received(size_t bytes);
	// The next one that is there whole; its spans live until room() is called. Throws PduFault.
	std::optional<Pdu> next();
	// The begin of the PDU that next() refused, at most 128 bytes, for a termination request.
	std::span<const std::byte> rejected() const;

private:
	std::span<const std::byte> waiting() const { return std::span(buffer_).subspan(begin_, end_ - begin_); }
	void check_head(const PduHead &head) const;
	Pdu cut(const PduHead &head) const;

	Digests digests_;
	Bytes buffer_;
	size_t begin_ = 0, end_ = 0;
};

// PDUs to a host, with the negotiated digests.
class PduWriter {
public:
	// alignment: of data from the start of the PDU, in bytes.
	void use(Digests digests, uint32_t alignment) { digests_ = digests, alignment_ = alignment; }

	Bytes init(Digests agreed) const;
	Bytes response(const nvme_cqe &cqe) const;
	Bytes ready_to_transfer(uint16_t cid, uint16_t tag, uint32_t length) const;
	// All of a command's data; succeeded: no response follows.
	Bytes data(uint16_t cid, std::span<const std::byte> data, bool succeeded) const;
	Bytes terminate(TermStatus status, uint32_t field, std::span<const std::byte> rejected) const;

private:
	Bytes sealed(std::span<const std::byte> header, std::span<const std::byte> data) const;

	Digests digests_;
	uint32_t alignment_ = 4;
};

} // namespace hz::fabrics
