/* Counters of a queue during the measurement. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/account.hpp"

#include <algorithm>

namespace hz::res {

void KindAccount::merge(const KindAccount &other)
{
	ops += other.ops;
	bytes += other.bytes;
	errors += other.errors;
	latency.merge(other.latency);
}

void QueueAccount::merge(const QueueAccount &other)
{
	for (size_t k = 0; k < kinds; k++)
		kind[k].merge(other.kind[k]);
	for (const auto &[status, count] : other.errors)
		errors[status] += count;
	submitted += other.submitted;
	completed += other.completed;
	appends += other.appends;
	verified_bytes += other.verified_bytes;
	mismatched_sectors += other.mismatched_sectors;
	if (first_mismatch.empty())
		first_mismatch = other.first_mismatch;
	failures += other.failures;
	if (first_failure.empty())
		first_failure = other.first_failure;
	first_arrival_ns = std::min(first_arrival_ns, other.first_arrival_ns);
	last_completion_ns = std::max(last_completion_ns, other.last_completion_ns);
	late_arrivals += other.late_arrivals;
	series.merge(other.series);
	interrupted |= other.interrupted;
}

} // namespace hz::res
