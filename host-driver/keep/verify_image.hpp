// Verify: does a device still hold the data acknowledged to earlier runs on its image?
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keep/ack_record.hpp"
#include "session/controller.hpp"

namespace hz {

struct VerifyReport {
	uint64_t promised = 0, right = 0;  // sectors
	uint64_t unreadable = 0;           // the device reports an error status
	uint64_t wrong = 0;                // it does not
	std::vector<std::string> problems; // the first few, a sentence each
};

// Reads every sector that the record names. Throws Error when the machine dies or the record is damaged.
VerifyReport verify_image(const AckRecord &record, QueuePair &queue, const NamespaceInfo &device);

} // namespace hz
