/* Block operations of an application on a conventional disk; a mapping turns them into zoned
 * commands. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>

namespace hz::wl {

enum class BlockVerb : uint8_t { read, write, trim, flush }; /* trim: discards the sectors */

/* Sectors of 4 KiB in the thread's own address space, which starts at 0. */
struct BlockOp {
	BlockVerb verb = BlockVerb::read;
	uint64_t lba = 0;
	uint64_t sectors = 0;
	uint64_t think_ns = 0;
	uint64_t not_before_ns = 0;
	uint16_t placement = 0;     /* write: its placement identifier */
	bool fua = false;           /* write: durable when it completes */
	bool after_flushes = false; /* write: begins when the flushes before it have completed */
};

/* Operations of one thread, first the preparation of the disk, then the measured ones. */
class BlockSource {
public:
	virtual ~BlockSource() = default;
	virtual bool prepare(BlockOp &op) = 0;       /* false: prepared */
	virtual bool next(BlockOp &op) = 0;          /* false: the end */
	virtual bool timed() const { return false; } /* measured operations have arrival times, not_before_ns */
	virtual uint32_t progress_ppm() const = 0;   /* of the measured operations */
	virtual nlohmann::json cost() const { return nlohmann::json::object(); }
};

} // namespace hz::wl
