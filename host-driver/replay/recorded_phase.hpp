/* A phase of a queue with the device's answers, and a port that replays them: it takes a source to
 * its state at the phase's end, without a device. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/port.hpp"
#include "results/digest.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace hz::replay {

/* For a phase without failures. */
struct RecordedPhase {
	struct Answer {
		uint64_t command = 0; /* in the order of submission, from 0 */
		uint64_t result = 0;
		uint64_t arrival_ns = 0, completed_ns = 0; /* since the phase began */
	};
	std::vector<Answer> answers; /* in the order of completion */
	uint64_t asked = 0;          /* digest of the commands */
};

nlohmann::json to_json(const RecordedPhase &phase);
/* Throws Error for JSON not produced by the function above. */
RecordedPhase recorded_phase(const nlohmann::json &json);

/* Wraps a queue and records its answers. */
class RecordingPort final : public PassingPort {
public:
	RecordingPort(Port &queue, uint64_t start_ns) : PassingPort(queue), start_ns_(start_ns) {}

	uint64_t submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns) override;
	std::span<const Completion> wait(unsigned wanted) override;

	RecordedPhase recorded() const;

private:
	uint64_t start_ns_;
	std::vector<uint64_t> command_; /* by command id */
	uint64_t submitted_ = 0;
	res::Digest asked_;
	RecordedPhase phase_;
};

/* Replaces a queue. The phase begins at 0, and no data move: the thread must not verify. */
class RecordedPort final : public Port {
public:
	RecordedPort(unsigned qid, uint32_t turnaround_ns, RecordedPhase phase)
		: qid_(qid), turnaround_ns_(turnaround_ns), phase_(std::move(phase))
	{
	}

	unsigned qid() const override { return qid_; }
	uint32_t turnaround_ns() const override { return turnaround_ns_; }
	std::optional<uint16_t> acquire() override;
	void release(uint16_t cid) override { free_.push_back(cid); }
	std::span<std::byte> data(uint16_t) override { return {}; }
	uint64_t submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns) override;
	/* One completion. Throws Error if the commands differ from those of the phase, and
	 * Interrupted. */
	std::span<const Completion> wait(unsigned wanted) override;
	void open(uint64_t) override {}
	void promise() override {}
	void close() override {}

	/* When the source is done: throws Error if the phase has more answers, or its commands
	 * differed. */
	void require_end() const;

private:
	[[noreturn]] static void misfit();

	unsigned qid_;
	uint32_t turnaround_ns_;
	RecordedPhase phase_;
	size_t next_ = 0;
	std::vector<uint16_t> free_;
	uint16_t ids_ = 0;          /* that were ever handed out */
	std::vector<uint32_t> cid_; /* by command; answered ones have none */
	res::Digest asked_;
	Completion done_{};
};

} // namespace hz::replay
