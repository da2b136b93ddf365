/* Book-keeping of the zones written by a direct workload: sectors issued, readable, and under way. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "workload/source.hpp"

#include <map>

namespace hz::wl {

/* opening: it is to get a random write area; ending: all of it is written, and the area is to be committed. */
enum class CellState : uint8_t { empty, opening, open, ending, full, resetting, lost };

/* One zone. Offsets are sectors from the zone start. */
struct ZoneCell {
	CellState state = CellState::empty;
	uint64_t issued = 0;                /* sectors handed out to writes and appends */
	uint64_t filled = 0;                /* bytes of records, only with a log */
	uint64_t readable = 0;              /* contiguous prefix whose writes completed */
	uint32_t writes = 0, reads = 0;     /* commands under way */
	uint64_t generation = 1;            /* of the data: raised by every reset */
	size_t listed = SIZE_MAX;           /* place in the list of readable zones */
	std::map<uint64_t, uint64_t> ahead; /* completed beyond `readable`: offset → sectors */
	std::vector<uint64_t> version;      /* per sector, unless all have that of the generation */
	std::vector<uint64_t> newest;       /* the same, of writes under way too; only with a log */
};

/* What tells the data of sectors apart: the zone's generation; numbers of appends, whose places are not known before they end; numbers of
 * writes, as a log writes sectors again. */
enum class Versions { generation, appends, writes };

class ZoneCells {
public:
	ZoneCells(const ZoneShare &share, Versions versions);

	ZoneCell &operator[](uint32_t index) { return cells_[index]; }
	const ZoneCell &operator[](uint32_t index) const { return cells_[index]; }
	uint32_t count() const { return uint32_t(cells_.size()); }
	const ZoneShare &share() const { return share_; }
	uint64_t start(uint32_t index) const { return share_.start_of(share_.first_zone + index * share_.step); }

	/* Zones with something to read, in an order that depends on the history only. */
	const std::vector<uint32_t> &readable() const { return readable_; }
	Stamp stamp(uint32_t index, uint64_t offset) const;
	/* All readable sectors, zone by zone; not of lost zones. */
	std::vector<LiveSector> live() const;

	/* Sectors at `offset` are on the device now. */
	void written(uint32_t index, uint64_t offset, uint64_t sectors);
	/* The zone is about to be written from its start. */
	void opened(uint32_t index);
	/* The zone takes no more reads: it is about to be reset, or is lost. */
	void unlist(uint32_t index);
	void was_reset(uint32_t index);

private:
	void list(uint32_t index);

	ZoneShare share_;
	Versions versions_;
	std::vector<ZoneCell> cells_;
	std::vector<uint32_t> readable_;
};

} // namespace hz::wl
