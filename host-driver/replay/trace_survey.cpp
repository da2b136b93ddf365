/* A look through the whole trace. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/trace_survey.hpp"

#include "replay/progress.hpp"
#include "session/machine/interrupt.hpp"
#include "shm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>

namespace hz::replay {
namespace {

static_assert(longest_replay_ns < HZ_ARRIVAL_MOST_NS);
constexpr uint64_t chunks_per_thread = 16;

void note_place(TraceSurvey &survey, const trace::Record &r)
{
	const uint64_t first = r.offset / 4096, end = (r.offset + r.bytes + 4095) / 4096;
	if (r.zoned || !r.bytes)
		return;
	survey.first_sector = std::min(survey.first_sector, first);
	survey.end_sector = std::max(survey.end_sector, end);
	survey.most_sectors = std::max(survey.most_sectors, end - first);
}

void note_stream(TraceSurvey &survey, uint64_t stream, bool &countless)
{
	if (!countless)
		survey.streams[stream].records++;
	if (survey.streams.size() <= TraceSurvey::most_streams)
		return;
	countless = true;
	survey.streams.clear();
}

void note_time(TraceSurvey &survey, const trace::Reader &reader, uint64_t time_ns)
{
	if (survey.records == 0)
		survey.first_ns = time_ns;
	survey.span_ns = std::max(survey.span_ns, time_ns > survey.first_ns ? time_ns - survey.first_ns : 0);
	const double wanted = double(survey.span_ns) * survey.spec.time_scale * survey.spec.repeat;
	if (survey.spec.timing == wl::Timing::open && wanted > double(longest_replay_ns))
		reader.file().fail(
			"the request would arrive " + std::to_string(uint64_t(std::min(wanted / 1e9, 1e18))) +
			" s after the first one: a replay by timestamps lasts 24 days at most; use a smaller --time-scale, --max-ops, "
			"or another --time-unit (now " +
			std::to_string(survey.dialect.time_unit_ns) + " ns)");
}

void rank_streams(TraceSurvey &survey)
{
	uint32_t rank = 0;
	for (auto &[number, stream] : survey.streams)
		stream.rank = rank++;
}

void refuse_a_guess(const TraceSurvey &survey)
{
	if (survey.spec.timing == wl::Timing::open && survey.dialect.unit_from == trace::Known::assumed)
		throw trace::TraceError(survey.spec.file + ":1: the times may be seconds or microseconds (" + survey.dialect.unit_evidence +
					"): say which with --time-unit s or --time-unit us");
}

} // namespace

uint32_t TraceSurvey::thread_of_stream(uint64_t stream) const
{
	const auto found = streams.find(stream);
	return uint32_t((found == streams.end() ? stream : found->second.rank) % spec.threads);
}

uint64_t TraceSurvey::arrival_ns(uint64_t time_ns) const
{
	const uint64_t since = time_ns > first_ns ? time_ns - first_ns : 0;
	return spec.timing == wl::Timing::open ? uint64_t(double(since) * spec.time_scale) : 0;
}

wl::Split choose_split(const TraceSurvey &survey)
{
	if (survey.spec.split != wl::Split::automatic)
		return survey.spec.split;
	if (survey.shared_space || survey.streams.size() < survey.spec.threads)
		return wl::Split::address;
	std::vector<uint64_t> load(survey.spec.threads);
	for (const auto &[number, stream] : survey.streams)
		load[survey.thread_of_stream(number)] += stream.records;
	const uint64_t most = *std::max_element(load.begin(), load.end());
	return most * survey.spec.threads <= 2 * survey.records ? wl::Split::stream : wl::Split::address;
}

uint64_t choose_chunk(const TraceSurvey &survey)
{
	const uint64_t extent = survey.end_sector > survey.first_sector ? survey.end_sector - survey.first_sector : 1;
	const uint64_t many = std::bit_floor(std::max<uint64_t>(1, extent / (chunks_per_thread * survey.spec.threads)));
	const uint64_t enough = std::bit_floor(std::max<uint64_t>(1, extent / survey.spec.threads));
	const uint64_t whole = std::bit_ceil(std::max<uint64_t>(1, survey.most_sectors));
	return std::min({TraceSurvey::most_chunk, std::max(many, whole), enough});
}

std::shared_ptr<const TraceSurvey> survey_trace(const wl::TraceSpec &spec)
{
	auto survey = std::make_shared<TraceSurvey>();
	Progress progress("reading " + std::filesystem::path(spec.file).filename().string());
	trace::Reader reader(spec.file, trace::ReaderOptions{spec.format, spec.time_unit_ns, spec.skip_bad});
	bool countless = false;
	std::array<uint64_t, trace::hints> hinted{};
	uint64_t afters = 0, thinks = 0;
	survey->spec = spec;
	survey->dialect = reader.dialect();
	refuse_a_guess(*survey);
	for (trace::Record r; (!spec.max_ops || survey->records < spec.max_ops) && reader.next(r); survey->records++) {
		note_time(*survey, reader, r.time_ns);
		note_place(*survey, r);
		note_stream(*survey, r.stream, countless);
		survey->shared_space = r.shared_space;
		thinks += r.think_ns != 0;
		afters += r.after.front().records != 0;
		for (size_t hint = 0; r.hints >> hint; hint++)
			hinted[hint] += r.hints >> hint & 1;
		if (survey->records % records_per_look)
			continue;
		check_interrupted();
		progress.show(reader.file().progress_ppm());
	}
	if (!survey->records)
		throw trace::TraceError(spec.file + ":1: the trace holds no requests");
	survey->left_out = reader.left_out();
	for (size_t hint = 0; hint < trace::hints; hint++)
		if (hinted[hint])
			survey->left_out["the mark " + std::string(trace::hint_name(hint))] = hinted[hint];
	if (afters && spec.order == wl::Order::trace)
		survey->left_out["the mark after"] = afters;
	if (thinks && spec.order == wl::Order::trace)
		survey->left_out["the mark think"] = thinks;
	survey->skipped = reader.skipped();
	survey->skipped_lines = reader.skipped_lines();
	rank_streams(*survey);
	survey->split = choose_split(*survey);
	survey->chunk_sectors = choose_chunk(*survey);
	return survey;
}

nlohmann::json TraceSurvey::to_json(bool by_zone) const
{
	const bool by_address = !by_zone && split == wl::Split::address;
	return {
		{"file", spec.file},
		{"format", dialect.format->name},
		{"format_from", known_name(dialect.format_from)},
		{"time_unit_ns", dialect.time_unit_ns},
		{"time_unit_from", known_name(dialect.unit_from)},
		{"records", records},
		{"span_ns", span_ns},
		{"streams", streams.empty() ? nlohmann::json() : nlohmann::json(streams.size())},
		{"split", by_zone      ? "zone"
			  : by_address ? "address"
				       : "stream"},
		{"split_from", by_zone                              ? "mapping"
			       : spec.split == wl::Split::automatic ? "detected"
								    : "given"},
		{"chunk_bytes", by_address ? nlohmann::json(chunk_sectors * 4096) : nlohmann::json()},
		{"left_out", left_out},
		{"skipped", {{"count", skipped}, {"first", skipped_lines}}},
	};
}

} // namespace hz::replay
