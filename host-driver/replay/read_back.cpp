/* Reads back the data left by a replay. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/read_back.hpp"

#include <utility>

namespace hz::replay {

ReadBack::ReadBack(std::vector<wl::LiveSector> sectors, uint32_t max_transfer) : sectors_(std::move(sectors)), max_transfer_(max_transfer)
{
}

uint32_t ReadBack::progress_ppm() const { return sectors_.empty() ? 1000000 : uint32_t(double(next_) / double(sectors_.size()) * 1e6); }

wl::Step ReadBack::next(wl::Request &request)
{
	if (next_ == sectors_.size())
		return wl::Step::done;
	request = {};
	request.lba = sectors_[next_].lba;
	while (request.sectors < max_transfer_ && next_ < sectors_.size() && sectors_[next_].lba == request.lba + request.sectors) {
		request.stamps.push_back(sectors_[next_++].stamp);
		request.sectors++;
	}
	return wl::Step::issue;
}

} // namespace hz::replay
