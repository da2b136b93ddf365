/* Book-keeping of the zones written by a direct workload. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/zone_cells.hpp"

namespace hz::wl {

ZoneCells::ZoneCells(const ZoneShare &share, bool appends) : share_(share), appends_(appends), cells_(share.zones) {}

Stamp ZoneCells::stamp(uint32_t index, uint64_t offset) const
{
	const ZoneCell &cell = cells_[index];
	if (offset >= cell.readable)
		return {};
	if (appends_)
		return {start(index), cell.append_version[offset]};
	return {start(index) + offset, cell.generation};
}

std::vector<LiveSector> ZoneCells::live() const
{
	std::vector<LiveSector> out;
	for (uint32_t index = 0; index < count(); index++)
		for (uint64_t i = 0; cells_[index].state != CellState::lost && i < cells_[index].readable; i++)
			out.push_back({start(index) + i, stamp(index, i)});
	return out;
}

void ZoneCells::list(uint32_t index)
{
	if (cells_[index].listed != SIZE_MAX)
		return;
	cells_[index].listed = readable_.size();
	readable_.push_back(index);
}

void ZoneCells::unlist(uint32_t index)
{
	const size_t place = cells_[index].listed;
	if (place == SIZE_MAX)
		return;
	readable_[place] = readable_.back();
	cells_[readable_[place]].listed = place;
	readable_.pop_back();
	cells_[index].listed = SIZE_MAX;
}

void ZoneCells::written(uint32_t index, uint64_t offset, uint64_t sectors)
{
	ZoneCell &cell = cells_[index];
	cell.ahead[offset] = sectors;
	for (auto first = cell.ahead.begin(); first != cell.ahead.end() && first->first == cell.readable;) {
		cell.readable += first->second;
		first = cell.ahead.erase(first);
	}
	if (cell.readable && (cell.state == CellState::open || cell.state == CellState::full))
		list(index);
}

void ZoneCells::was_reset(uint32_t index)
{
	ZoneCell &cell = cells_[index];
	cell.state = CellState::empty;
	cell.issued = cell.readable = 0;
	cell.ahead.clear();
	cell.generation++;
}

} // namespace hz::wl
