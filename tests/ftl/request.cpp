// Requests of tests: their buffers, contents and tuples.
// SPDX-License-Identifier: BSD-3-Clause
#include "ftl_rig.hpp"
#include "request_memory.hpp"

namespace ftl_rig {

void fill_sector(uint8_t *page, uint64_t tag)
{
	std::memcpy(page, &tag, sizeof tag);
	for (size_t done = sizeof tag; done < HZ_SECTOR_BYTES; done *= 2)
		std::memcpy(page + done, page, done);
}
bool sector_is(const uint8_t *page, uint64_t tag)
{
	return std::memcmp(page, &tag, sizeof tag) == 0 && std::memcmp(page, page + sizeof tag, HZ_SECTOR_BYTES - sizeof tag) == 0;
}

Request::Request(ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags, uint32_t bytes)
	: data(Buffers::take(bytes ? whole_sectors(bytes) : size_t(sectors) * HZ_SECTOR_BYTES))
{
	pages.resize(data.size() / HZ_SECTOR_BYTES);
	for (size_t i = 0; i < pages.size(); i++)
		pages[i] = data.data() + i * HZ_SECTOR_BYTES;
	req.op = op;
	req.flags = flags;
	req.lba = lba;
	req.sectors = sectors;
	req.sgl = {pages.data(), 0, bytes ? bytes : static_cast<uint32_t>(data.size())};
	req.done = [](ftl_request *r) {
		auto &self = *reinterpret_cast<Request *>(r);
		self.done = true;
		self.answered_ns = clock_now_ns();
		self.done_ns = clock_now_ns() > r->ready_ns ? clock_now_ns() : r->ready_ns;
		self.check_tuples();
		if (self.then)
			self.then(self);
	};
}

void Request::name_ranges(const std::vector<nvme_dsm_range> &ranges)
{
	req.sectors = static_cast<uint32_t>(ranges.size());
	req.sgl.bytes = static_cast<uint32_t>(ranges.size() * sizeof(nvme_dsm_range));
	sgl_write(&req.sgl, 0, ranges.data(), req.sgl.bytes);
}

void Request::name_handles(const std::vector<uint16_t> &identifiers)
{
	req.sectors = static_cast<uint32_t>(identifiers.size());
	req.sgl.bytes = static_cast<uint32_t>(identifiers.size() * sizeof(identifiers[0]));
	sgl_write(&req.sgl, 0, identifiers.data(), req.sgl.bytes);
}

void Request::name_sources(const std::vector<std::pair<uint64_t, uint32_t>> &sources)
{
	std::vector<nvme_copy_range> list;
	for (const auto &[lba, sectors] : sources) {
		nvme_copy_range range{};
		range.slba = lba;
		range.nlb = static_cast<uint16_t>(sectors - 1);
		range.eilbrt = static_cast<uint32_t>(lba);
		range.elbat = application_tag;
		range.elbatm = 0xffff;
		list.push_back(range);
	}
	req.sectors = static_cast<uint32_t>(list.size());
	req.sgl.bytes = static_cast<uint32_t>(list.size() * sizeof(list[0]));
	sgl_write(&req.sgl, 0, list.data(), req.sgl.bytes);
}

void Request::protect()
{
	if (is_copy(req.op) && !chosen) {
		req.expected = {0, application_tag, static_cast<uint32_t>(req.lba)};
		req.tag_mask = 0xffff;
		req.protect = req.source_checks = HZ_CHECK_ALL;
	}
	if (req.op > FTL_WRITE_ZEROES || chosen)
		return;
	const bool moves = req.op == FTL_READ || brings_data();
	tuples.assign(req.sectors * HZ_TUPLE_BYTES, 0);
	req.tuples = tuples.data();
	req.expected = {0, application_tag, static_cast<uint32_t>(req.lba)};
	req.tag_mask = 0xffff;
	req.protect = static_cast<uint8_t>(HZ_CHECK_ALL | (moves ? FTL_HOST_TUPLES : 0));
	for (uint32_t i = 0; brings_data() && i < req.sectors; i++)
		hz_tuple_store(&tuples[i * HZ_TUPLE_BYTES], expected(i));
}

void Request::check_tuples() const
{
	for (uint32_t i = 0; req.op == FTL_READ && !req.status && !chosen && i < tuples.size() / HZ_TUPLE_BYTES; i++) {
		EXPECT_EQ(hz_tuple_check(tuple(i), expected(i), HZ_CHECK_ALL, 0xffff), 0) << "sector " << i;
	}
}

Request::~Request() { Buffers::give(std::move(data)); }

hz_tuple Request::tuple(uint32_t i) const { return hz_tuple_load(&tuples[i * HZ_TUPLE_BYTES]); }

hz_tuple Request::expected(uint32_t i) const { return {guard_of(pages[i]), req.expected.application, req.expected.reference + i}; }

} // namespace ftl_rig
