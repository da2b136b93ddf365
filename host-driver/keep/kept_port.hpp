// KeptPort: a queue on an image that is kept. The run sees only the zones of its view, and data
// acknowledged as durable are written to the image's record.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <vector>

#include "keep/ack_record.hpp"
#include "keep/zone_view.hpp"
#include "replay/port.hpp"

namespace hz {

class KeptPort : public replay::PassingPort {
public:
	// record: null if the data cannot be verified, because they are not patterns. seed: of the
	// patterns. volatile_cache: the device has one; else every completed write is durable.
	KeptPort(replay::Port &queue, const ZoneView &view, AckRecord *record, uint64_t seed, bool volatile_cache)
		: PassingPort(queue), view_(view), record_(record), seed_(seed), volatile_cache_(volatile_cache)
	{
	}

	uint64_t submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns) override;
	std::span<const Completion> wait(unsigned wanted) override;

	// An orderly shutdown is complete: everything that was completed is durable.
	void settle();

private:
	struct Written {
		uint64_t lba = 0;
		std::vector<wl::Stamp> stamps;
	};
	struct Command {
		wl::Op op = wl::Op::read;
		Written written;
		bool durable = false;   // with FUA, or asked for protection
		uint64_t completed = 0; // flush: writes that had completed when it was submitted
	};

	void note_reset(wl::Op op, uint64_t lba);
	void note_gone(uint64_t lba, uint64_t sectors);
	void note_completed(Command &command, uint64_t result);
	void make_durable(uint64_t up_to);
	void make_zone_durable(uint64_t lba);
	void make_sectors_durable();
	void note_promise(const Written &write);

	const ZoneView &view_;
	AckRecord *record_;
	uint64_t seed_;
	bool volatile_cache_;
	std::vector<Command> commands_; // by command id
	std::vector<Completion> batch_;
	std::deque<Written> volatile_; // completed writes that are not durable yet, oldest first
	uint64_t durable_ = 0;         // writes completed before the first of them
};

} // namespace hz
