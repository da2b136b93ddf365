/* Warm-up by MSER-5, then means of batches. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/steady.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hz::res {
namespace {

constexpr size_t batch = 5;            /* observations of MSER-5 */
constexpr uint64_t least_commands = 8; /* of an observation, on average */
constexpr double student = 2.0452;     /* 97.5 % of Student's t with steady_batches - 1 degrees of freedom */
static_assert(steady_batches == 30);

std::vector<Series::Window> grouped(const std::vector<Series::Window> &windows, size_t of, size_t from = 0)
{
	std::vector<Series::Window> out((windows.size() - from) / of);
	for (size_t i = 0; i < out.size() * of; i++)
		out[i / of].add(windows[from + i]);
	return out;
}

std::vector<double> rates(const std::vector<Series::Window> &batches)
{
	std::vector<double> out;
	std::transform(batches.begin(), batches.end(), std::back_inserter(out), [](const Series::Window &w) { return double(w.commands); });
	return out;
}

BatchMean mean_of(const std::vector<double> &means)
{
	const double n = double(means.size());
	double sum = 0, squares = 0;
	for (const double value : means)
		sum += value;
	for (const double value : means)
		squares += (value - sum / n) * (value - sum / n);
	return {sum / n, student * std::sqrt(squares / (n - 1) / n)};
}

/* A batch in which none ended has the latency of the next one: what ended then was under way before. */
std::vector<double> latencies(const std::vector<Series::Window> &batches)
{
	std::vector<double> out(batches.size());
	for (size_t i = batches.size(); i-- > 0;)
		out[i] = batches[i].commands      ? double(batches[i].latency_ns) / double(batches[i].commands)
			 : i + 1 < batches.size() ? out[i + 1]
						  : 0;
	return out;
}

Steady without(const std::string &reason)
{
	Steady out;
	out.reason = reason;
	return out;
}

/* Windows → batches of five observations, each of enough commands. */
std::vector<Series::Window> batches_of(const std::vector<Series::Window> &windows, size_t &length)
{
	uint64_t commands = 0;
	for (const Series::Window &w : windows)
		commands += w.commands;
	length = commands ? batch * std::max<size_t>(1, (windows.size() * least_commands + commands - 1) / commands) : windows.size() + 1;
	return grouped(windows, length);
}

} // namespace

void Series::Window::add(const Window &other)
{
	commands += other.commands;
	latency_ns += other.latency_ns;
}

void Series::coarsen()
{
	std::vector<Window> pairs((first_ % 2 + windows_.size() + 1) / 2);
	for (size_t i = 0; i < windows_.size(); i++)
		pairs[(first_ % 2 + i) / 2].add(windows_[i]);
	windows_ = std::move(pairs);
	first_ /= 2;
	shift_++;
}

/* Makes windows for all from one time to another, of those that there are, too. */
void Series::cover(uint64_t begin_ns, uint64_t last_ns)
{
	if (windows_.empty())
		first_ = begin_ns >> shift_;
	while (std::max(last_ns >> shift_, first_ + windows_.size()) - std::min(begin_ns >> shift_, first_) >= most_windows)
		coarsen();
	const uint64_t first = std::min(begin_ns >> shift_, first_);
	windows_.insert(windows_.begin(), first_ - first, Window{});
	first_ = first;
	windows_.resize(std::max<size_t>(windows_.size(), (last_ns >> shift_) - first_ + 1));
}

void Series::add(uint64_t ended_ns, uint64_t latency_ns)
{
	cover(ended_ns, ended_ns);
	windows_[(ended_ns >> shift_) - first_].add({1, latency_ns});
}

void Series::merge(const Series &other)
{
	if (other.windows_.empty())
		return;
	while (shift_ < other.shift_)
		coarsen();
	cover(other.first_ << other.shift_, ((other.first_ + other.windows_.size()) << other.shift_) - 1);
	for (size_t i = 0; i < other.windows_.size(); i++)
		windows_[((other.first_ + i) >> (shift_ - other.shift_)) - first_].add(other.windows_[i]);
}

std::vector<Series::Window> Series::between(uint64_t begin_ns, uint64_t end_ns) const
{
	const uint64_t from = (begin_ns + window_ns() - 1) >> shift_, to = end_ns >> shift_;
	std::vector<Window> out(to > from ? to - from : 0);
	for (size_t i = 0; i < windows_.size(); i++)
		if (first_ + i >= from && first_ + i < to)
			out[first_ + i - from] = windows_[i];
	return out;
}

size_t mser5(const std::vector<double> &batches)
{
	const size_t most = batches.size() / 2;
	double sum = 0, squares = 0, best = std::numeric_limits<double>::infinity();
	size_t cut = most;
	const double about = batches.empty() ? 0 : batches.back(); /* so that squares of large, near values keep their digits */
	for (size_t i = batches.size(); i-- > 0;) {
		const double value = batches[i] - about, n = double(batches.size() - i);
		sum += value;
		squares += value * value;
		const double error = std::max(0.0, squares - sum * sum / n) / (n * n);
		if (i <= most && error <= best) {
			best = error;
			cut = i;
		}
	}
	return cut;
}

Steady steady_of(const Series &series, uint64_t begin_ns, uint64_t end_ns)
{
	size_t length = 0;
	const std::vector<Series::Window> windows = series.between(begin_ns, end_ns), all = batches_of(windows, length);
	if (all.size() < steady_batches)
		return without("fewer than 30 batches: the run is too short");
	const size_t cut = std::max(mser5(rates(all)), mser5(latencies(all)));
	if (cut >= all.size() / 2)
		return without("the warm-up does not end in the first half of the run");
	if (all.size() - cut < steady_batches)
		return without("fewer than 30 batches after the warm-up: the run is too short");
	const size_t each = (all.size() - cut) / steady_batches, from = all.size() - each * steady_batches;
	const std::vector<Series::Window> batches = grouped(all, each, from);
	const double seconds = double(each * length * series.window_ns()) / 1e9;
	Steady out;
	out.iops = mean_of(rates(batches));
	out.iops = {out.iops.mean / seconds, out.iops.half_width / seconds};
	out.latency_ns = mean_of(latencies(batches));
	out.measured_ns = steady_batches * each * length * series.window_ns();
	out.warmup_ns = from * length * series.window_ns();
	return out;
}

} // namespace hz::res
