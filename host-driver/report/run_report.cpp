// The page about a run: main figures first, the configuration last.
// SPDX-License-Identifier: BSD-3-Clause
#include "report/run_report.hpp"

#include <algorithm>
#include <iterator>

#include "report/chart.hpp"
#include "report/page.hpp"

namespace hz::rep {

namespace {

using nlohmann::json;

constexpr const char *all_kinds[] = {"read", "write", "flush", "zone", "gc_read", "gc_write", "trim"};
constexpr const char *points[] = {"min", "p50", "p90", "p99", "p999", "max"};
constexpr const char *point_names[] = {"least", "p50", "p90", "p99", "p99.9", "most"};
constexpr const char *request_parts[] = {"cycles", "flash", "channel", "flash_queue", "link", "queued", "compute", "spin", "logical"};
constexpr const char *lock_parts[] = {"spin", "held", "behind", "waits"};
constexpr size_t most_locks = 12;

std::string words(const json &value)
{
	return value.is_string() ? value.get<std::string>()
	       : value.is_null() ? "-"
				 : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string us(const json &ns) { return short_number(ns.get<double>() / 1e3); }

double percent(const json &part, const json &whole) { return whole.get<double>() > 0 ? 100 * part.get<double>() / whole.get<double>() : 0; }

std::vector<std::string> kinds_in(const json &totals)
{
	std::vector<std::string> out;
	std::copy_if(std::begin(all_kinds), std::end(all_kinds), std::back_inserter(out),
		     [&](const char *kind) { return totals[kind]["ops"] > 0 || totals[kind]["errors"] > 0; });
	return out;
}

void add_commands(Page &page, const json &result)
{
	const json &totals = result["totals"];
	std::vector<Row> rows;
	std::vector<Series> curves;
	for (const std::string &kind : kinds_in(totals)) {
		const json &k = totals[kind], &latency = k["latency_ns"];
		rows.push_back({kind, words(k["ops"]), short_number(k["iops"]), short_number(k["mib_s"]), us(latency["mean"]),
				us(latency["p50"]), us(latency["p99"]), us(latency["p999"]), us(latency["max"]), words(k["errors"])});
		Series curve{kind, {}};
		for (const char *point : points)
			curve.values.push_back(latency[point].get<double>() / 1e3);
		if (k["ops"] > 0)
			curves.push_back(curve);
	}
	page.heading("Commands");
	page.table({"command", "count", "IOPS", "MiB/s", "mean µs", "p50 µs", "p99 µs", "p99.9 µs", "max µs", "errors"}, rows);
	if (!curves.empty())
		page.picture(
			line_chart("µs", {std::begin(point_names), std::end(point_names)}, curves),
			"Latency of successful commands by kind, in device time, from the least to the greatest; the axis is logarithmic.");
}

double sum_of(const json &parts)
{
	double sum = 0;
	for (const json &part : parts)
		sum += part.get<double>();
	return sum;
}

// The virtual clock's account of each hart, for its busy time.
void add_accounts(Page &page, const json &accounts)
{
	Row header{"hart", "busy %"};
	std::vector<Row> rows;
	if (accounts.empty())
		return;
	for (const auto &[stage, cycles] : accounts[0]["work"].items())
		header.push_back(stage);
	header.insert(header.end(), {"stalls", "charged", "spin"});
	for (const json &hart : accounts) {
		const double busy = std::max(1.0, hart["cycles"].get<double>() - hart["idle"].get<double>());
		Row row{words(hart["hart"]), short_number(percent(busy, hart["cycles"]))};
		for (const json &cycles : hart["work"])
			row.push_back(short_number(percent(cycles, busy)));
		row.insert(row.end(), {short_number(percent(hart["stalls"], busy)), short_number(percent(hart["charged"], busy)),
				       short_number(percent(sum_of(hart["spin"]), busy))});
		rows.push_back(row);
	}
	page.text("Of the time that each hart was not idle, in %: instructions by what they belong to, stalls of the memory model, time "
		  "charged, and waits for spin locks.");
	page.table(header, rows);
}

// Means of a part of the requests, in µs.
Row request_row(const json &slice, const std::string &name, double mhz)
{
	Row row{name, words(slice["count"])};
	const double requests = std::max(1.0, slice["count"].get<double>());
	for (const char *part : request_parts)
		row.push_back(short_number(slice[part].get<double>() / requests / mhz));
	return row;
}

void add_requests(Page &page, const json &requests, double mhz)
{
	Row header{"requests", "count", "µs in all"};
	header.insert(header.end(), std::begin(request_parts) + 1, std::end(request_parts));
	std::vector<Row> rows;
	for (const json &kind : requests) {
		const std::string name = words(kind["kind"]);
		rows.push_back(request_row(kind["all"], name + "s", mhz));
		rows.push_back(request_row(kind["p99"], name + "s beyond p99", mhz));
		rows.push_back(request_row(kind["p999"], name + "s beyond p99.9", mhz));
	}
	if (rows.empty())
		return;
	page.heading("Where requests spend their time");
	page.text(
		"Mean µs of a request from its fetch to its completion: in cells and on the channel, before the die, on the link, queued for a "
		"hart, worked at, spinning, and waiting for logical locks or in its zone.");
	page.table(header, rows);
}

// For all requests of a kind, the locks with the largest share of their time.
void add_locks_of_requests(Page &page, const json &requests)
{
	constexpr double least = 0.01;
	std::vector<Row> rows;
	size_t small = 0;
	for (const json &kind : requests)
		for (const json &lock : kind["all"]["locks"]) {
			Row row{words(kind["kind"]) + "s", words(lock["class"]) + " " + words(lock["index"])};
			double most = 0;
			for (const char *part : lock_parts) {
				const double share = percent(lock.value(part, json(0)), kind["all"]["cycles"]);
				most = std::max(most, share);
				row.push_back(short_number(share));
			}
			if (most < least)
				small++;
			else
				rows.push_back(row);
		}
	if (rows.empty())
		return;
	page.text("Locks on the way of requests, in % of their time: a hart that works at the request spins for the lock or holds it; the "
		  "request is queued behind a hart that spins for it; it waits for a logical lock, or its turn at its zone.");
	page.table({"requests", "lock", "spin", "held", "behind", "waits"}, rows);
	if (small)
		page.text("Left out: " + std::to_string(small) + " with less than 0.01 % in each column.");
}

json lock_profile_of(const json &result) { return result["vclock"].is_object() ? result["vclock"].value("locks", json()) : json(); }

void add_harts(Page &page, const json &result)
{
	std::vector<std::string> names;
	Series work{"work", {}}, spin{"spin", {}}, idle{"idle", {}, true};
	for (const json &h : result["harts"]) {
		names.push_back(words(h["id"]) + " " + words(h["role"]));
		work.values.push_back(percent(h["work_ns"], h["elapsed_ns"]));
		spin.values.push_back(percent(h["spin_ns"], h["elapsed_ns"]));
		idle.values.push_back(percent(h["idle_ns"], h["elapsed_ns"]));
	}
	page.heading("What the harts did");
	page.picture(bar_chart("% of the hart's time", names, {work, spin, idle}, 100),
		     "Of each hart's time: at work, waiting for spin locks, and idle.");
	if (const json profile = lock_profile_of(result); profile.is_object()) {
		add_accounts(page, profile["accounts"]);
		add_requests(page, profile["requests"], result["vclock"]["parameters"]["mhz"].get<double>());
		add_locks_of_requests(page, profile["requests"]);
	}
}

void add_flash(Page &page, const json &result)
{
	const json &nand = result["nand"];
	std::vector<std::string> causes, channels;
	Series read{"read", {}}, programmed{"programmed", {}}, busy{"busy", {}};
	for (const auto &[cause, n] : nand["by_cause"].items())
		if (n["read_bytes"] > 0 || n["program_bytes"] > 0) {
			causes.push_back(cause);
			read.values.push_back(n["read_bytes"].get<double>() / (1 << 20));
			programmed.values.push_back(n["program_bytes"].get<double>() / (1 << 20));
		}
	for (const json &ns : nand["channel_busy_ns"]) {
		channels.push_back("channel " + std::to_string(channels.size()));
		busy.values.push_back(percent(ns, nand["elapsed_ns"]));
	}
	page.heading("Flash");
	page.text("Write amplification: " + (result["waf"].is_null() ? "none, nothing was written" : short_number(result["waf"])) +
		  ". The dies were busy " +
		  short_number(percent(nand["die_busy_ns_total"],
				       nand["elapsed_ns"].get<double>() * std::max(1.0, nand["dies"].get<double>()))) +
		  " % of the time.");
	if (!causes.empty())
		page.picture(bar_chart("MiB", causes, {read, programmed}),
			     "What was read from flash and programmed, by what asked for it.");
	page.picture(bar_chart("% of the time", channels, {busy}, 100), "How busy each channel was.");
}

void add_locks(Page &page, const json &result)
{
	std::vector<json> locks = result["locks"];
	std::stable_sort(locks.begin(), locks.end(), [](const json &a, const json &b) { return a["wait_ns"] > b["wait_ns"]; });
	locks.resize(std::min(locks.size(), most_locks));
	if (locks.empty())
		return;
	std::vector<Row> rows;
	for (const json &l : locks)
		rows.push_back({words(l["class"]) + " " + words(l["index"]), words(l["kind"]), words(l["acquisitions"]),
				words(l["contended"]), us(l["wait_ns"]), us(l["wait_p99_ns"]), us(l["wait_max_ns"]), us(l["hold_ns"]),
				words(l["handovers"])});
	page.heading("Locks, the one first that was waited for longest");
	page.table({"lock", "kind", "taken", "contended", "waited µs", "p99 µs", "max µs", "held µs", "hand-overs"}, rows);
}

Row wait_row(const json &all, const std::string &contended, const std::string &depth)
{
	const json &wait = all["wait"];
	return {words(all["class"]), contended,       us(wait["ns"]),   us(wait["mean"]), us(wait["p50"]),
		us(wait["p90"]),     us(wait["p99"]), us(wait["p999"]), us(wait["max"]),  depth};
}

// Statistics from the virtual clock's lock profile beyond the firmware's own.
void add_lock_profile(Page &page, const json &result)
{
	const json profile = lock_profile_of(result);
	if (!profile.is_object())
		return;
	std::vector<Row> spin, logical;
	for (const json &all : profile["classes"])
		if (all["wait"]["count"] > 0)
			spin.push_back(
				wait_row(all, words(all["wait"]["count"]) + " of " + words(all["hold"]["count"]), us(all["hold"]["max"])));
	for (const json &all : profile["logical"])
		if (all["acquisitions"] > 0 || all["contended"] > 0)
			logical.push_back(wait_row(all, words(all["contended"]) + " for " + words(all["acquisitions"]),
						   short_number(all["depth_mean"]) + ", " + words(all["depth_max"])));
	if (!spin.empty()) {
		page.heading("Waits for spin locks, by class");
		page.table({"class", "contended", "waited µs", "mean µs", "p50", "p90", "p99", "p99.9", "max", "longest hold µs"}, spin);
	}
	if (!logical.empty()) {
		page.heading("Waits for logical locks");
		page.text(
			"What requests and zones wait for in a queue, and not in a spin: how many waits there were for how often each was had; "
			"depth: how many a waiter found waiting before it, on average and at most.");
		page.table({"what", "waits", "waited µs", "mean µs", "p50", "p90", "p99", "p99.9", "max", "depth"}, logical);
	}
}

void add_flattened(Page &page, const std::string &title, const json &value)
{
	const json leaves = value.flatten();
	std::vector<Row> rows;
	for (const auto &[path, leaf] : leaves.items())
		rows.push_back({path.substr(path.starts_with('/')), words(leaf)});
	page.folded_table(title, {"key", "value"}, rows);
}

void add_provenance(Page &page, const json &result)
{
	const json &software = result["software"];
	const auto text_at = [&](const char *path) { return words(software.value(json::json_pointer(path), json())); };
	page.heading("Provenance");
	page.table({"", ""}, {{"digest", words(result["digest"])},
			      {"repeatable", result["deterministic"] == true ? "yes" : "no: " + words(result["deterministic_reason"])},
			      {"seed", words(result["seed"])},
			      {"clock", words(result["clock"])},
			      {"firmware (SHA-256)", text_at("/firmware/sha256")},
			      {"compiler", text_at("/firmware/compiler")},
			      {"plugin (SHA-256)", text_at("/plugin/sha256")},
			      {"driver (build id)", text_at("/driver/build_id")},
			      {"QEMU", text_at("/qemu/version")},
			      {"host", words(result["host"]["cpu"]) + ", " + words(result["host"]["cores"]) + " cores, kernel " +
					       words(result["host"]["kernel"])}});
}

// Caveats for the reader, before any figure.
void add_remarks(Page &page, const json &result)
{
	std::vector<std::string> lines;
	for (const char *key : {"violations", "warnings"})
		for (const json &line : result[key])
			lines.push_back((key[0] == 'v' ? "Broken rule: " : "") + line.get<std::string>());
	if (result["failed_commands"]["count"] > 0)
		lines.push_back(words(result["failed_commands"]["count"]) +
				" commands failed, the first: " + words(result["failed_commands"]["first"]));
	if (!lines.empty())
		page.list(lines);
}

std::string without_figures(const json &result)
{
	Page page("Hartzone: a run without figures", "result.json says no more");
	page.text(result.contains("error") ? "The run failed: " + words(result["error"])
					   : "The power was cut, as asked, at: " + words(result["power_cut"]));
	return page.html();
}

} // namespace

std::string run_report(const json &result)
{
	if (!result.contains("totals"))
		return without_figures(result);
	Page page("Hartzone: " + words(result["workload"].value("name", json("a workload"))) + " on " +
			  words(result["device"].value("name", json("a device"))),
		  words(result["workers"]) + " workers of " + std::to_string(result["harts"].size()) + " harts, " +
			  short_number(result["elapsed_ns"].get<double>() / 1e6) + " ms of device time, " +
			  short_number(result["verified_bytes"].get<double>() / (1 << 20)) + " MiB read and found right, digest " +
			  words(result["digest"]));
	add_remarks(page, result);
	add_commands(page, result);
	add_harts(page, result);
	add_flash(page, result);
	add_locks(page, result);
	add_lock_profile(page, result);
	add_provenance(page, result);
	page.heading("Configuration");
	add_flattened(page, "Device", result["device"]);
	add_flattened(page, "Workload", result["workload"]);
	if (result["trace"].is_object())
		add_flattened(page, "Trace", result["trace"]);
	return page.html();
}

} // namespace hz::rep
