// CleanerPolicy: phases and victims.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hzfs/cleaner_policy.hpp"

namespace hz::fs {

Phase phase_of(const CleanerKnobs &knobs, uint32_t empty, uint32_t sections)
{
	const double share = sections ? double(empty) / sections : 1;
	return share > knobs.no_gc ? Phase::no_gc : share < knobs.boost ? Phase::boosted : Phase::normal;
}

std::optional<uint32_t> background_victim(const CleanerKnobs &knobs, Phase phase, const std::vector<Section> &sections,
					  uint32_t section_blocks, uint64_t now)
{
	const bool greedy = phase == Phase::boosted && knobs.boost_greedy;
	std::optional<uint32_t> best;
	double most = 0;
	for (uint32_t i = 0; i < sections.size(); i++) {
		const Section &one = sections[i];
		const double alive = double(one.alive) / section_blocks;
		if (!one.writable || one.open || !one.written || one.alive == one.written || alive > knobs.valid)
			continue;
		const double age = double(now - one.touched + 1);
		const double worth = greedy ? 1 - alive : (1 - alive) * age / (1 + alive);
		if (!best || worth > most) {
			best = i;
			most = worth;
		}
	}
	return best;
}

} // namespace hz::fs
