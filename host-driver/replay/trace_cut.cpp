/* A trace's addresses, divided among the threads. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/trace_cut.hpp"

#include <algorithm>

namespace hz::replay {

using wl::BlockOp;

bool TraceCut::place(uint64_t number, uint64_t sector, uint64_t run, std::vector<BlockOp> &pieces) const
{
	/* 0x9e37… / 2^64 is the golden section. */
	const uint64_t shift = uint64_t(((unsigned __int128)(number * 0x9e3779b97f4a7c15ull) * space) >> 64);
	const bool folded = sector + run > space;
	for (uint64_t lba = (sector + shift) % space; run; lba = 0) {
		const uint64_t part = std::min(run, space - lba);
		BlockOp op;
		op.lba = lba;
		op.sectors = part;
		pieces.push_back(op);
		run -= part;
	}
	return folded;
}

bool TraceCut::cut(const TraceCursor &trace, const trace::Record &record, std::vector<BlockOp> &pieces) const
{
	if (record.zoned)
		trace.fail("the address is in a zone: replay this trace on a zoned device, with --mapping direct");
	const bool folded = divide(record, pieces);
	if (folded && survey->spec.fit == wl::Fit::refuse)
		trace.fail("the address lies beyond the " + std::to_string(space * 4096) +
			   " bytes that a thread has: choose offsets: wrap, a larger device, or fewer threads");
	return folded;
}

bool TraceCut::divide(const trace::Record &record, std::vector<BlockOp> &pieces) const
{
	uint64_t first = record.offset / 4096, sectors = (record.offset + record.bytes + 4095) / 4096 - first;
	const uint64_t number = record.shared_space ? 0 : record.stream, chunk_sectors = survey->chunk_sectors,
		       threads = survey->spec.threads;
	if (survey->split == wl::Split::stream)
		return survey->thread_of_stream(record.stream) == thread && place(number, first, sectors, pieces);
	bool folded = false;
	while (sectors) {
		const uint64_t chunk = first / chunk_sectors, inside = first % chunk_sectors;
		const uint64_t run = std::min(sectors, chunk_sectors - inside);
		if ((chunk + number) % threads == thread)
			folded |= place(number, chunk / threads * chunk_sectors + inside, run, pieces);
		first += run;
		sectors -= run;
	}
	return folded;
}

} // namespace hz::replay
