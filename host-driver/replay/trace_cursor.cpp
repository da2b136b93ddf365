/* The records of a trace. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/trace_cursor.hpp"

#include <algorithm>

namespace hz::replay {

void Ignored::tell(nlohmann::json &out) const
{
	uint64_t all = 0;
	for (size_t op = 0; op < trace::operations; all += counts_[op++])
		if (counts_[op])
			out["ignored_" + std::string(trace::op_name(trace::Op(op)))] = counts_[op];
	out["ignored_records"] = all;
}

TraceCursor::TraceCursor(std::shared_ptr<const TraceSurvey> survey, uint32_t passes)
	: survey_(std::move(survey)), reader_(std::make_unique<trace::Reader>(survey_->spec.file, survey_->dialect)), passes_(passes)
{
}

bool TraceCursor::next(trace::Record &record)
{
	while (records_ == survey_->records || !reader_->next(record)) {
		if (pass_ + 1 >= passes_)
			return false;
		pass_++;
		records_ = 0;
		base_ns_ += survey_->arrival_ns(survey_->first_ns + survey_->span_ns);
		reader_ = std::make_unique<trace::Reader>(survey_->spec.file, survey_->dialect);
	}
	records_++;
	record.durable = record.durable && survey_->spec.durable;
	record.flush_first = record.flush_first && survey_->spec.durable;
	return true;
}

uint32_t TraceCursor::progress_ppm() const
{
	const double done = double(pass_) + double(records_) / double(survey_->records);
	return uint32_t(std::min(1.0, done / passes_) * 1e6);
}

} // namespace hz::replay
