// Cost of a mount, as JSON and as a line of text.
// SPDX-License-Identifier: BSD-3-Clause
#include "results/mount_cost.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace hz::res {

namespace {

const char *const step_names[HZ_MOUNT_STEPS] = {
#define HZ_MOUNT_STEP(constant, name, text) #name,
#include "mount_steps.def"
#undef HZ_MOUNT_STEP
};

constexpr uint64_t worth_telling = 50; // reported if a step took at least 1 / worth_telling of the total

struct Named {
	const char *name;
	hz_mount_cost cost;
};

std::string text_of(const Named &step)
{
	char text[128];
	int length = std::snprintf(text, sizeof(text), "%s %.1f", step.name, static_cast<double>(step.cost.ns) / 1e6);
	if (step.cost.senses)
		std::snprintf(text + length, sizeof(text) - static_cast<size_t>(length), " (%lu reads, %lu pages)",
			      static_cast<unsigned long>(step.cost.senses), static_cast<unsigned long>(step.cost.pages));
	return text;
}

} // namespace

nlohmann::json mount_json(const hz_mount_report &report)
{
	nlohmann::json out = nlohmann::json::object();
	for (unsigned i = 0; i < HZ_MOUNT_STEPS; i++) {
		const hz_mount_cost &cost = report.step[i];
		out[step_names[i]] = {{"ns", cost.ns}, {"reads", cost.senses}, {"pages", cost.pages}, {"bytes", cost.bytes}};
	}
	return out;
}

std::string mount_text(const hz_mount_report &report)
{
	uint64_t total_ns = 0;
	std::vector<Named> steps;
	for (unsigned i = 0; i < HZ_MOUNT_STEPS; i++) {
		total_ns += report.step[i].ns;
		steps.push_back({step_names[i], report.step[i]});
	}
	std::erase_if(steps, [&](const Named &step) { return step.cost.ns * worth_telling < total_ns || !step.cost.ns; });
	std::stable_sort(steps.begin(), steps.end(), [](const Named &one, const Named &other) { return one.cost.ns > other.cost.ns; });
	char head[64];
	std::snprintf(head, sizeof(head), "%.1f ms of device time", static_cast<double>(total_ns) / 1e6);
	std::string text = head;
	for (const Named &step : steps)
		text += (&step == &steps.front() ? ": " : ", ") + text_of(step);
	return text;
}

} // namespace hz::res
