// RangeList: two maps by address.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/range_list.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "session/machine/error.hpp"

namespace hz {

RangeList::RangeList(uint64_t begin, uint64_t end)
{
	if (begin < end)
		free_[begin] = end - begin;
}

std::optional<uint64_t> RangeList::take(uint64_t bytes)
{
	const auto hole = std::find_if(free_.begin(), free_.end(), [bytes](const auto &range) { return range.second >= bytes; });
	if (!bytes || hole == free_.end())
		return std::nullopt;
	const auto [start, room] = *hole;
	taken_[start] = bytes;
	free_.erase(hole);
	if (room > bytes)
		free_[start + bytes] = room - bytes;
	return start;
}

void RangeList::give(uint64_t start)
{
	const auto range = taken_.find(start);
	if (range == taken_.end())
		throw Error("nothing is taken at address " + std::to_string(start));
	auto hole = free_.emplace(start, range->second).first;
	taken_.erase(range);
	if (const auto after = std::next(hole); after != free_.end() && start + hole->second == after->first) {
		hole->second += after->second;
		free_.erase(after);
	}
	if (hole == free_.begin())
		return;
	if (const auto before = std::prev(hole); before->first + before->second == start) {
		before->second += hole->second;
		free_.erase(hole);
	}
}

uint64_t RangeList::bytes_at(uint64_t start) const
{
	const auto range = taken_.find(start);
	return range == taken_.end() ? 0 : range->second;
}

uint64_t RangeList::largest_free() const
{
	uint64_t most = 0;
	for (const auto &[start, bytes] : free_)
		most = std::max(most, bytes);
	return most;
}

} // namespace hz
