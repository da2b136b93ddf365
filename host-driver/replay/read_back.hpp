/* ReadBack: after a replay, reads every sector that it wrote, so that all data are verified even
 * without reads in the workload. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "workload/source.hpp"

namespace hz::replay {

class ReadBack : public wl::Source {
public:
	/* Contiguous sectors are read together, at most max_transfer at once. */
	ReadBack(std::vector<wl::LiveSector> sectors, uint32_t max_transfer);

	wl::Step next(wl::Request &request) override;
	bool plans_ahead() const override { return true; }
	void complete(const wl::Request &, uint16_t, uint64_t) override {}
	void begin_measurement() override {}
	uint32_t progress_ppm() const override;
	std::vector<wl::LiveSector> live() override { return sectors_; }

private:
	std::vector<wl::LiveSector> sectors_;
	uint32_t max_transfer_;
	size_t next_ = 0;
};

} // namespace hz::replay
