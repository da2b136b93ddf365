// The ledger as text.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/ledger_text.hpp"

#include <algorithm>
#include <cstdio>
#include <span>

namespace hz {

namespace {

const char *const memory_names[HZ_MEMORIES] = {"SRAM", "DRAM", "lent to mount", "emulation only"};

std::string kib(uint64_t bytes)
{
	char text[32];
	std::snprintf(text, sizeof(text), "%.1f KiB", static_cast<double>(bytes) / 1024);
	return text;
}

std::string sum_of(const hz_memory_ledger &ledger, unsigned memory)
{
	return kib(ledger.bytes[memory]) + (ledger.limit[memory] ? " of " + kib(ledger.limit[memory]) : "");
}

std::vector<hz_memory_line> lines_of(const hz_memory_ledger &ledger, unsigned memory)
{
	std::vector<hz_memory_line> lines;
	for (const hz_memory_line &line : std::span(ledger.line, std::min<uint32_t>(ledger.lines, HZ_LEDGER_LINES)))
		if (line.memory == memory)
			lines.push_back(line);
	std::stable_sort(lines.begin(), lines.end(), [](const auto &one, const auto &other) { return one.bytes > other.bytes; });
	return lines;
}

} // namespace

std::string ledger_text(const hz_memory_ledger &ledger)
{
	std::string text;
	for (unsigned memory = 0; memory < HZ_MEMORIES; memory++) {
		const auto lines = lines_of(ledger, memory);
		if (lines.empty())
			continue;
		text += std::string(memory_names[memory]) + ": " + sum_of(ledger, memory) + "\n";
		for (const hz_memory_line &line : lines) {
			char words[128];
			std::snprintf(words, sizeof(words), "%12lu bytes  %-20.24s %.48s\n", static_cast<unsigned long>(line.bytes),
				      line.owner, line.what);
			text += words;
		}
	}
	return text;
}

std::vector<LedgerSum> ledger_sums(const hz_memory_ledger &ledger)
{
	std::vector<LedgerSum> sums;
	for (unsigned memory = HZ_MEMORY_SRAM; memory <= HZ_MEMORY_DRAM; memory++)
		if (ledger.bytes[memory])
			sums.push_back({memory_names[memory], sum_of(ledger, memory)});
	return sums;
}

} // namespace hz
