/* When a measurement is in its steady state, and what throughput and latency are there. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hz::res {

/* Commands by the window of device time in which they ended. Before there are too many windows, two become one. */
class Series {
public:
	static constexpr size_t most_windows = 8192;

	struct Window {
		uint64_t commands = 0, latency_ns = 0;
		void add(const Window &other);
	};

	void add(uint64_t ended_ns, uint64_t latency_ns);
	void merge(const Series &other);

	uint64_t window_ns() const { return uint64_t(1) << shift_; }
	/* Those that lie between two times as a whole, empty ones included. */
	std::vector<Window> between(uint64_t begin_ns, uint64_t end_ns) const;

private:
	void cover(uint64_t begin_ns, uint64_t last_ns);
	void coarsen();

	unsigned shift_ = 10;
	uint64_t first_ = 0; /* number of the first window: it begins at number << shift */
	std::vector<Window> windows_;
};

/* A mean of batches, and how far the 95 % interval of it reaches to each side. */
struct BatchMean {
	double mean = 0, half_width = 0;
};

struct Steady {
	std::string reason; /* why there is none, a sentence; empty: all else holds */
	uint64_t warmup_ns = 0, measured_ns = 0;
	BatchMean iops, latency_ns;
};

constexpr size_t steady_batches = 30;

/* MSER-5 (White 1997): the number of batches, of five observations each, that are warm-up. The cut is where the standard error of the mean
 * of the rest is least, at most at half of the batches. A cut there says that the warm-up may be longer. */
size_t mser5(const std::vector<double> &batches);

/* Of what ended between two times: from the first arrival until the first queue has no more commands, since the load changes then. */
Steady steady_of(const Series &series, uint64_t begin_ns, uint64_t end_ns);

} // namespace hz::res
