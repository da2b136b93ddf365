/* Converts spans to trace events. Spans of a track must not overlap or nest, so concurrent ones are
 * dealt to lanes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/timeline.hpp"

#include "config/device_names.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

namespace hz::res {
namespace {

enum Process { harts = 1, flash = 2, commands = 3 };
constexpr unsigned most_lanes = 1000;

struct Event {
	std::string name;
	uint64_t begin_ns, end_ns;
};

/* Everything that belongs to one hart, die or queue. */
struct Thing {
	std::vector<Event> events; /* may overlap */
};

class Writer {
public:
	explicit Writer(uint64_t origin_ns) : origin_ns_(origin_ns) {}

	void name_process(Process process, const char *name)
	{
		event("{\"ph\":\"M\",\"pid\":" + std::to_string(process) + R"(,"name":"process_name","args":{"name":")" + name + "\"}}");
	}

	void name_track(Process process, unsigned track, const std::string &name)
	{
		const std::string head = "{\"ph\":\"M\",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(track);
		event(head + R"(,"name":"thread_name","args":{"name":")" + name + "\"}}");
		event(head + R"(,"name":"thread_sort_index","args":{"sort_index":)" + std::to_string(track) + "}}");
	}

	/* Spans begun before the measurement are clipped. */
	void span(Process process, unsigned track, const Event &e)
	{
		const uint64_t begin = std::max(e.begin_ns, origin_ns_);
		if (e.end_ns <= begin)
			return;
		char times[96];
		snprintf(times, sizeof(times), "\"ts\":%s,\"dur\":%s", us(begin - origin_ns_).c_str(), us(e.end_ns - begin).c_str());
		event("{\"ph\":\"X\",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(track) + ",\"name\":\"" + e.name +
		      "\"," + times + "}");
		shown_++;
	}

	/* In lanes: a span begins after the last one of its lane has ended. */
	void spans(Process process, unsigned number, const std::string &name, Thing thing)
	{
		std::stable_sort(thing.events.begin(), thing.events.end(),
				 [](const Event &a, const Event &b) { return a.begin_ns < b.begin_ns; });
		std::vector<uint64_t> ends;
		for (const Event &e : thing.events) {
			const auto free = std::find_if(ends.begin(), ends.end(), [&](uint64_t end) { return end <= e.begin_ns; });
			const auto lane = unsigned(free - ends.begin());
			if (free == ends.end()) {
				ends.push_back(0);
				name_track(process, number * most_lanes + lane, name + (lane ? " (" + std::to_string(lane + 1) + ")" : ""));
			}
			ends[lane] = e.end_ns;
			span(process, number * most_lanes + lane, e);
		}
	}

	std::string json() const { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + events_ + "\n]}\n"; }
	uint64_t shown() const { return shown_; }

private:
	static std::string us(uint64_t ns)
	{
		char text[40];
		snprintf(text, sizeof(text), "%llu.%03u", (unsigned long long)(ns / 1000), unsigned(ns % 1000));
		return text;
	}
	void event(const std::string &text) { events_ += (events_.empty() ? "" : ",\n") + text; }

	uint64_t origin_ns_, shown_ = 0;
	std::string events_;
};

/* The plugin's spans, by hart and by die. */
struct Spans {
	std::map<unsigned, std::vector<Event>> idle, waits;
	std::map<unsigned, Thing> dies;
	uint64_t left_out = 0;
};

std::string flash_name(unsigned op, unsigned cause)
{
	static constexpr const char *ops[] = {"read", "program", "erase"};
	static constexpr const char *causes[] = {"host", "slc", "fold", "gc", "map", "pad", "recovery"};
	static_assert(std::size(causes) == HZ_CAUSES);
	return op < std::size(ops) && cause < HZ_CAUSES ? std::string(ops[op]) + " for " + causes[cause] : "?";
}

Spans parsed(const std::string &text)
{
	Spans out;
	std::istringstream in(text);
	std::string kind;
	unsigned who = 0, first = 0, second = 0;
	uint64_t begin = 0, end = 0;
	while (in >> kind) {
		if (kind == "left-out") {
			in >> out.left_out;
		} else if (kind == "idle") {
			in >> who >> begin >> end;
			out.idle[who].push_back({"idle", begin, end});
		} else {
			in >> who >> first >> second >> begin >> end;
			if (kind == "wait")
				out.waits[who].push_back(
					{"wait for lock " + conf::name_of(conf::lock_class_names(), first) + " " + std::to_string(second),
					 begin, end});
			else
				out.dies[who].events.push_back({flash_name(first, second), begin, end});
		}
	}
	return out;
}

/* A hart works whenever it is not idle; lock waits are nested in that. */
void write_hart(Writer &out, unsigned hart, const std::string &name, const Spans &spans, uint64_t begin_ns, uint64_t end_ns)
{
	const auto idle = spans.idle.find(hart), waits = spans.waits.find(hart);
	uint64_t from = begin_ns;
	out.name_track(harts, hart, name);
	if (idle != spans.idle.end())
		for (const Event &e : idle->second) {
			if (e.begin_ns > from)
				out.span(harts, hart, {"work", from, std::min(e.begin_ns, end_ns)});
			from = std::max(from, e.end_ns);
		}
	out.span(harts, hart, {"work", from, end_ns});
	if (waits != spans.waits.end())
		for (const Event &e : waits->second)
			out.span(harts, hart, e);
}

uint64_t first_arrival(const RunFacts &facts)
{
	uint64_t first = UINT64_MAX;
	for (const QueueAccount &q : facts.queues)
		first = std::min(first, q.first_arrival_ns);
	return first == UINT64_MAX ? 0 : first;
}

/* Up to where the plugin's spans are complete. */
uint64_t recorded_until(const Spans &spans, uint64_t end_ns)
{
	if (!spans.left_out)
		return end_ns;
	uint64_t last = 0;
	for (const auto &[hart, all] : spans.idle)
		last = std::max(last, all.back().end_ns);
	return std::min(last, end_ns);
}

} // namespace

Timeline timeline_of(const RunFacts &facts, const std::string &text)
{
	const Spans spans = parsed(text);
	const uint64_t begin = first_arrival(facts), end = begin + facts.elapsed_ns, hart_end = recorded_until(spans, end);
	Writer out(begin);
	Timeline result;
	out.name_process(harts, "harts");
	out.name_process(flash, "flash");
	out.name_process(commands, "commands");
	for (uint32_t i = 0; i < facts.harts.harts && i < HZ_MAX_HARTS; i++)
		write_hart(out, facts.harts.hart[i].hart,
			   "hart " + std::to_string(facts.harts.hart[i].hart) + " " + roles_text(facts.harts.hart[i].roles), spans, begin,
			   hart_end);
	for (const auto &[die, thing] : spans.dies)
		out.spans(flash, die, "die " + std::to_string(die), thing);
	for (const QueueAccount &q : facts.queues) {
		Thing thing;
		for (const CommandSpan &c : q.spans)
			thing.events.push_back({std::string(kind_names[size_t(c.kind)]), c.begin_ns, c.end_ns});
		out.spans(commands, q.qid, "queue " + std::to_string(q.qid), thing);
		result.left_out += q.completed - q.spans.size();
	}
	result.left_out += spans.left_out;
	result.shown = out.shown();
	result.json = out.json();
	return result;
}

} // namespace hz::res
