/* Book-keeping of the zones written by a direct workload. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/zone_cells.hpp"

#include <algorithm>

namespace hz::wl {

ZoneCells::ZoneCells(const ZoneShare &share, Versions versions) : share_(share), versions_(versions), cells_(share.zones) {}

Stamp ZoneCells::stamp(uint32_t index, uint64_t offset) const
{
	const ZoneCell &cell = cells_[index];
	if (offset >= cell.readable)
		return {};
	if (versions_ == Versions::appends)
		return {start(index), cell.version[offset]};
	return {start(index) + offset, versions_ == Versions::writes ? cell.version[offset] : cell.generation};
}

void ZoneCells::opened(uint32_t index)
{
	ZoneCell &cell = cells_[index];
	cell.state = CellState::open;
	cell.version.assign(versions_ != Versions::generation ? share_.zone_capacity : 0, 0);
	cell.newest.assign(versions_ == Versions::writes ? share_.zone_capacity : 0, 0);
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
	if (versions_ == Versions::writes) /* one after the other */
		cell.readable = std::max(cell.readable, offset + sectors);
	else
		cell.ahead[offset] = sectors;
	for (auto first = cell.ahead.begin(); first != cell.ahead.end() && first->first == cell.readable;) {
		cell.readable += first->second;
		first = cell.ahead.erase(first);
	}
	if (cell.readable && (cell.state == CellState::open || cell.state == CellState::ending || cell.state == CellState::full))
		list(index);
}

void ZoneCells::was_reset(uint32_t index)
{
	ZoneCell &cell = cells_[index];
	cell.state = CellState::empty;
	cell.issued = cell.filled = cell.readable = 0;
	cell.ahead.clear();
	cell.generation++;
}

} // namespace hz::wl
