// C interface: commands that name several ranges of blocks.
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "session/capi/c_api.hpp"
#include "session/capi/c_api_vectors.hpp"
#include "session/machine/error.hpp"

using namespace hz::capi;

namespace {

std::span<const hartzone_range> require_count(const hartzone_range *ranges, unsigned count, unsigned most, const char *what)
{
	if (count < 1 || count > most)
		throw hz::Error(std::to_string(count) + " ranges to " + what + ": a command has 1 to " + std::to_string(most));
	return {ranges, count};
}

nvme_copy_range source_of(const hartzone_range &range)
{
	constexpr uint32_t most = 65536;
	if (range.blocks < 1 || range.blocks > most)
		throw hz::Error(std::to_string(range.blocks) + " blocks in a range to copy: it has 1 to " + std::to_string(most));
	nvme_copy_range source{};
	source.slba = range.block;
	source.nlb = static_cast<uint16_t>(range.blocks - 1);
	source.eilbrt = static_cast<uint32_t>(range.block);
	return source;
}

int copy(hartzone_queue *queue, uint64_t to, bool append, const hartzone_range *ranges, unsigned count, unsigned flags, uint64_t *block)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		std::vector<nvme_copy_range> list;
		for (const hartzone_range &range : require_count(ranges, count, HZ_COPY_RANGES, "copy"))
			list.push_back(source_of(range));
		nvme_sqe sqe = hz::QueuePair::copy(to, count, append);
		set_flags(queue, sqe, flags);
		return run(queue, sqe, std::as_bytes(std::span(list)), {}, block);
	});
}

} // namespace

int hartzone_deallocate(hartzone_queue *queue, const hartzone_range *ranges, unsigned count)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		std::vector<nvme_dsm_range> list;
		for (const hartzone_range &range : require_count(ranges, count, NVME_DSM_RANGES, "deallocate"))
			list.push_back({0, range.blocks, range.block});
		return run(queue, hz::QueuePair::deallocate(count), std::as_bytes(std::span(list)));
	});
}

int hartzone_copy(hartzone_queue *queue, uint64_t block, const hartzone_range *ranges, unsigned count, unsigned flags)
{
	return copy(queue, block, false, ranges, count, flags, nullptr);
}

int hartzone_copy_append(hartzone_queue *queue, uint64_t zone_start, const hartzone_range *ranges, unsigned count, unsigned flags,
			 uint64_t *block)
{
	return copy(queue, zone_start, true, ranges, count, flags, block);
}
