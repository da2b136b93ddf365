/* TailorFigures: sums over threads. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/tailor_figures.hpp"

#include <algorithm>

namespace hz::replay {
namespace {

nlohmann::json times_of(const res::Histogram &times)
{
	return {{"mean", times.mean()}, {"p50", times.quantile(0.5)}, {"p99", times.quantile(0.99)}, {"max", times.max()}};
}

} // namespace

void TailorFigures::merge(const TailorFigures &other)
{
	writes += other.writes;
	sectors += other.sectors;
	split += other.split;
	grouped += other.grouped;
	superpages += other.superpages;
	for (size_t why = 0; why < releases; why++)
		partial[why] += other.partial[why];
	passed += other.passed;
	most_held_sectors = std::max(most_held_sectors, other.most_held_sectors);
	held_ns.merge(other.held_ns);
	latency_ns.merge(other.latency_ns);
}

nlohmann::json json_of(const TailorFigures &figures)
{
	nlohmann::json partial = nlohmann::json::object();
	for (size_t why = 0; why < releases; why++)
		partial[std::string(release_names[why])] = figures.partial[why];
	return {{"writes", figures.writes},
		{"bytes", figures.sectors * 4096},
		{"split", figures.split},
		{"grouped", figures.grouped},
		{"superpages", figures.superpages},
		{"partial", partial},
		{"passed", figures.passed},
		{"most_held_bytes", figures.most_held_sectors * 4096},
		{"held_ns", times_of(figures.held_ns)},
		{"latency_ns", times_of(figures.latency_ns)}};
}

} // namespace hz::replay
