/* Limitations of a result's figures. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/run_facts.hpp"

#include <cstdio>

namespace hz::res {
namespace {

using nlohmann::json;

std::string number(const json &value) { return std::to_string(count(value)); }

std::string mib(const json &bytes)
{
	char text[32];
	snprintf(text, sizeof(text), "%.1f MiB", bytes.get<double>() / (1 << 20));
	return text;
}

std::string skipped(const json &trace)
{
	return number(trace["skipped"]["count"]) +
	       " lines of the trace could not be read and were skipped, the first: " + trace["skipped"]["first"][0].get<std::string>();
}

std::string idle(const json &trace)
{
	const std::string head = number(trace["idle_threads"]) + " of " + std::to_string(trace["thread_records"].size()) +
				 " threads replayed nothing: ";
	if (trace["split"] == "stream")
		return head + "the trace has too few streams; use --split address, or fewer threads";
	return head + "the trace touches too few " + (trace["split"] == "zone" ? "zones" : "addresses") + "; use fewer threads";
}

std::string wrapped(const json &mapping)
{
	return number(mapping["wrapped_records"]) + " of " + number(mapping["trace_records"]) + " records lie beyond the " +
	       mib(mapping["address_space_bytes"]) +
	       " that the replay offers and were folded into it, onto addresses of others: " + "use a larger device to keep them apart";
}

/* "sync 3, requests of letter N 1" */
std::string listed(const json &counts)
{
	std::string out;
	for (const auto &[what, times] : counts.items())
		out += (out.empty() ? "" : ", ") + what + " " + number(times);
	return out;
}

std::string ignored(const json &mapping)
{
	json kinds = json::object();
	for (const auto &[key, times] : mapping.items())
		if (key.starts_with("ignored_") && key != "ignored_records")
			kinds[key.substr(8)] = times;
	return number(mapping["ignored_records"]) + " records were left out, since the mapping has no command for them: " + listed(kinds);
}

std::string late(const json &totals)
{
	return number(totals["late_arrivals"]) + " of " + number(totals["submitted"]) +
	       " commands arrived later than the trace says, because the queue was full or they waited for data: raise --queue-depth, or "
	       "--time-scale to replay more slowly";
}

constexpr const char *guessed = "the times of the trace may be in seconds or in microseconds; no figure depends on them, but a replay by "
				"--timestamps needs --time-unit";

std::string cut_short(const json &phase)
{
	return phase == "measurement" ? "interrupted: the figures are of what had been replayed until then; nothing was read back"
				      : "interrupted while the data were read back: the figures stand, but not all data were verified";
}

void add_trace(const json &result, std::vector<std::string> &out)
{
	const json &trace = result["trace"], &mapping = result["mapping"];
	if (count(trace["skipped"]["count"]))
		out.push_back(skipped(trace));
	if (trace["time_unit_from"] == "assumed")
		out.push_back(guessed);
	if (count(trace["idle_threads"]) && result["interrupted"].is_null())
		out.push_back(idle(trace));
	if (mapping.is_object() && mapping.value("wrapped_records", uint64_t(0)))
		out.push_back(wrapped(mapping));
	if (mapping.is_object() && mapping.value("ignored_records", uint64_t(0)))
		out.push_back(ignored(mapping));
	if (const json left_out = trace.value("left_out", json::object()); !left_out.empty())
		out.push_back("the trace also says what a replay leaves out, how often each: " + listed(left_out));
	if (count(result["totals"]["late_arrivals"]))
		out.push_back(late(result["totals"]));
}

} // namespace

std::vector<std::string> warnings(const json &result)
{
	std::vector<std::string> out;
	if (!result["interrupted"].is_null())
		out.push_back(cut_short(result["interrupted"]));
	if (count(result["kept_zones"]))
		out.push_back(number(result["kept_zones"]) + " zones hold data of others or of earlier runs and were left as they are");
	if (result["trace"].is_object())
		add_trace(result, out);
	return out;
}

} // namespace hz::res
