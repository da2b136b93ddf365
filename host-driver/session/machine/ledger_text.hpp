// The ledger of a device's memory (protocol/memory_ledger.h) as text.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "memory_ledger.h"

namespace hz {

// A line for each owner and name, grouped by memory, the largest first, with the sum and the limit of each memory.
std::string ledger_text(const hz_memory_ledger &ledger);

// Sums of the memories in use.
struct LedgerSum {
	std::string name; // "SRAM"
	std::string text; // "812.5 KiB of 1024.0 KiB"
};
std::vector<LedgerSum> ledger_sums(const hz_memory_ledger &ledger);

} // namespace hz
