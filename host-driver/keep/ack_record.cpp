// AckRecord: reading and writing the file.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/ack_record.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "session/machine/error.hpp"
#include "workload/random.hpp"

namespace hz {

namespace {

constexpr uint64_t magic = 0x31646b6361'7a68;        // "hzackd1"
constexpr uint64_t first_entry = promise_entries_at; // offset in the file
constexpr uint64_t entries_at_once = 4096;

// All zeros: nothing acknowledged. 32 bytes, so that no entry crosses a page of the file: a killed
// program leaves whole entries.
struct Entry {
	uint64_t seed, key, version, check;
	bool empty() const { return !(seed | key | version | check); }
};
static_assert(sizeof(Entry) == promise_entry_bytes);

uint64_t offset_of(uint64_t lba) { return first_entry + lba * sizeof(Entry); }

uint64_t check_of(std::span<const uint64_t> words)
{
	uint64_t sum = magic;
	for (const uint64_t word : words)
		sum = wl::mix64(sum ^ word);
	return sum;
}

uint64_t check_of(const Entry &e, uint64_t lba) { return check_of(std::initializer_list<uint64_t>{lba, e.seed, e.key, e.version}); }

} // namespace

AckRecord::AckRecord(const std::filesystem::path &file, uint64_t sectors) : file_(file)
{
	fd_ = open(file.c_str(), O_RDWR | O_CLOEXEC | (sectors ? O_CREAT : 0), 0600);
	const off_t end = fd_ < 0 ? -1 : lseek(fd_, 0, SEEK_END);
	if (end < 0)
		throw_errno("cannot open the record of acknowledged sectors " + file.string());
	found_ = end != 0;
	const bool empty = !found_ || is_void();
	try {
		if (empty && sectors)
			create(sectors);
		else if (!is_void())
			read_header(sectors);
	} catch (...) {
		close(fd_);
		throw;
	}
}

AckRecord::~AckRecord() { close(fd_); }

bool AckRecord::is_void() const
{
	uint64_t first = 0;
	return pread(fd_, &first, sizeof(first), 0) == sizeof(first) && first == promise_void;
}

bool AckRecord::foreign() const
{
	char byte = 0;
	return pread(fd_, &byte, 1, promise_foreign_at) == 1 && byte;
}

void AckRecord::create(uint64_t sectors)
{
	header_ = {magic, sectors, 0, 0, foreign(), 0};
	write_header();
}

void AckRecord::read_header(uint64_t sectors)
{
	const ssize_t got = pread(fd_, &header_, sizeof(header_), 0);
	const Header &h = header_;
	if (got != sizeof(header_) || h.magic != magic ||
	    h.check != check_of(std::initializer_list<uint64_t>{h.sectors, h.runs, h.last_start, h.overwritable}))
		damaged("its header cannot be believed");
	header_.overwritable |= foreign();
	if (sectors && sectors != h.sectors)
		throw Error("the record of acknowledged sectors " + file_.string() + " is of a device of " + std::to_string(h.sectors) +
			    " sectors, this one has " + std::to_string(sectors));
}

void AckRecord::write_header()
{
	Header &h = header_;
	h.check = check_of(std::initializer_list<uint64_t>{h.sectors, h.runs, h.last_start, h.overwritable});
	write_at(0, std::as_bytes(std::span(&header_, 1)));
}

void AckRecord::damaged(const std::string &what) const
{
	throw Error("the record of acknowledged sectors " + file_.string() + " is damaged: " + what +
		    ": without the file, data acknowledged to earlier runs cannot be checked, but the image can be used");
}

void AckRecord::write_at(uint64_t offset, std::span<const std::byte> bytes)
{
	while (!bytes.empty()) {
		const ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
		if (n < 0)
			throw_errno("cannot write the record of acknowledged sectors " + file_.string());
		bytes = bytes.subspan(static_cast<size_t>(n));
		offset += static_cast<size_t>(n);
	}
}

void AckRecord::add_run(uint64_t start, bool overwritable)
{
	header_.runs++;
	header_.last_start = start;
	header_.overwritable |= overwritable;
	write_header();
}

void AckRecord::promise(uint64_t lba, uint64_t seed, std::span<const wl::Stamp> stamps)
{
	std::vector<Entry> entries;
	for (const wl::Stamp &stamp : stamps) {
		Entry e{seed, stamp.key, stamp.version, 0};
		e.check = check_of(e, lba + entries.size());
		entries.push_back(e);
	}
	write_at(offset_of(lba), std::as_bytes(std::span(entries)));
}

void AckRecord::revoke(uint64_t lba, uint64_t count)
{
	const std::vector<Entry> none(std::min(count, entries_at_once));
	for (const uint64_t end = lba + count; lba < end; lba += none.size())
		write_at(offset_of(lba), std::as_bytes(std::span(none).first(std::min<uint64_t>(none.size(), end - lba))));
}

void AckRecord::revoke_all()
{
	if (ftruncate(fd_, first_entry))
		throw_errno("cannot write the record of acknowledged sectors " + file_.string());
}

void AckRecord::each(uint64_t lba, uint64_t count, const std::function<bool(uint64_t lba, const Promise &)> &visit) const
{
	std::vector<Entry> entries(entries_at_once);
	for (const uint64_t end = std::min(lba + count, header_.sectors); lba < end;) {
		const off_t data = lseek(fd_, static_cast<off_t>(offset_of(lba)), SEEK_DATA); // skip sectors that were never written
		if (data < 0)
			return;
		lba = (static_cast<uint64_t>(data) - first_entry) / sizeof(Entry);
		const size_t wanted = lba < end ? std::min(entries.size(), end - lba) : 0;
		const ssize_t got = pread(fd_, entries.data(), wanted * sizeof(Entry), static_cast<off_t>(offset_of(lba)));
		if (got < 0)
			throw_errno("cannot read the record of acknowledged sectors " + file_.string());
		if (got < static_cast<ssize_t>(sizeof(Entry)))
			return;
		for (size_t i = 0; i < static_cast<size_t>(got) / sizeof(Entry); i++, lba++) {
			const Entry &e = entries[i];
			if (e.empty())
				continue;
			if (e.check != check_of(e, lba))
				damaged("what it says of LBA " + std::to_string(lba) + " cannot be believed");
			if (!visit(lba, {e.seed, {e.key, e.version}}))
				return;
		}
	}
}

} // namespace hz
