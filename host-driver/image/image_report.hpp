// The report of an image check, as text and as JSON.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device_config.h"

namespace hz {

enum class Verdict { sound = 0, damaged = 1, no_image = 2 }; // the check's exit code

struct ZoneReport {
	uint32_t nsid = 1, number = 0;   // number within its namespace
	std::string state;               // "conventional", "empty", "closed", "full", "read only", "offline"
	uint64_t start = 0, written = 0; // first LBA; sectors that hold something
	uint64_t lost = 0;               // of them
	uint64_t rebuilt = 0;            // unreadable, but not lost: reads rebuild them from parity (rain)
	std::vector<uint64_t> lost_lbas; // the first few
};

// Sectors programmed and not erased since, of any owner.
struct FlashReport {
	uint64_t programmed = 0, readable = 0;
	uint64_t lost = 0;    // data unreadable; the record shows their owner
	uint64_t unknown = 0; // torn by a power cut, or lost with the record
};

struct ImageReport {
	Verdict verdict = Verdict::sound;
	std::string why;     // one sentence
	bool is_new = false; // nothing was ever written; nothing below is set. So it is with Verdict::no_image
	uint64_t bytes = 0;
	std::optional<hz_device_config> device;
	uint64_t power_cycles = 0, unsafe_shutdowns = 0, powered_ns = 0;
	bool clean = false;
	uint64_t repaired = 0; // damaged copies with a good twin: the next start repairs them
	bool mounted = false;  // else the zones are reconstructed from the records alone
	FlashReport flash;
	std::vector<ZoneReport> zones; // mounted: all; else those with data left
	uint64_t lost_sectors = 0;     // of all zones
	uint64_t rebuilt_sectors = 0;
	uint64_t damaged_records = 0; // zones with an impossible record: they are read only or offline
	uint64_t unknown_sectors = 0; // lost with their records, so their addresses are unknown: older data, or none, may be read instead
};

std::string text_of(const ImageReport &report, const std::string &file);
nlohmann::json json_of(const ImageReport &report);

} // namespace hz
