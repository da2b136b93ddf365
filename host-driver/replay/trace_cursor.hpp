/* The records of a trace for a replay: limited and repeated as requested, with arrival times. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/trace_survey.hpp"

#include <array>

namespace hz::replay {

/* Records that a mapping has no command for, by kind. */
class Ignored {
public:
	void add(trace::Op op) { counts_[size_t(op)]++; }
	/* ignored_records, and ignored_KIND of each. */
	void tell(nlohmann::json &out) const;

private:
	std::array<uint64_t, trace::operations> counts_{};
};

class TraceCursor {
public:
	/* passes: how often the trace is read from the start. */
	TraceCursor(std::shared_ptr<const TraceSurvey> survey, uint32_t passes);

	/* Throws trace::TraceError. */
	bool next(trace::Record &record);
	/* Arrival time of the record, from the first one of the first pass; 0 with timing closed. */
	uint64_t arrival_ns(const trace::Record &record) const { return base_ns_ + survey_->arrival_ns(record.time_ns); }
	const TraceSurvey &survey() const { return *survey_; }
	uint32_t progress_ppm() const;
	/* "file:line: sentence" of the last record. */
	[[noreturn]] void fail(const std::string &sentence) const { reader_->file().fail(sentence); }

private:
	std::shared_ptr<const TraceSurvey> survey_;
	std::unique_ptr<trace::Reader> reader_;
	uint64_t records_ = 0; /* of this pass */
	uint64_t base_ns_ = 0;
	uint32_t passes_, pass_ = 0;
};

} // namespace hz::replay
