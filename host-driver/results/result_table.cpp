/* The result as a short table for people. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/run_facts.hpp"

#include <cstdarg>
#include <cstdio>

namespace hz::res {
namespace {

using nlohmann::json;

[[gnu::format(printf, 1, 2)]] std::string print(const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return text;
}

double us(const json &ns) { return ns.get<double>() / 1000; }

std::string kind_line(const char *name, const json &k)
{
	const json &l = k["latency_ns"];
	return print("%-9s %9llu %10.0f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %7llu\n", name, (unsigned long long)k["ops"].get<uint64_t>(),
		     k["iops"].get<double>(), k["mib_s"].get<double>(), us(l["mean"]), us(l["p50"]), us(l["p99"]), us(l["p999"]),
		     us(l["max"]), (unsigned long long)k["errors"].get<uint64_t>());
}

std::string hart_line(const json &h)
{
	const double all = h["elapsed_ns"].get<double>();
	const auto part = [&](const char *key) { return all > 0 ? 100 * h[key].get<double>() / all : 0; };
	return print("%4u %-11s %7.2f %7.2f %7.2f\n", h["id"].get<unsigned>(), h["role"].get<std::string>().c_str(), part("work_ns"),
		     part("spin_ns"), part("idle_ns"));
}

std::string mapping_line(const json &m)
{
	if (!m.is_object() || !m.contains("host_waf"))
		return "";
	return print("mapping log: host WAF %.3f, %llu collections, %.1f MiB copied\n", m["host_waf"].get<double>(),
		     (unsigned long long)m["gc_runs"].get<uint64_t>(), m["gc_copied_bytes"].get<double>() / (1 << 20));
}

std::string in_units(uint64_t ns)
{
	const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	for (const auto &unit : units)
		if (ns % unit.ns == 0)
			return (ns == unit.ns ? "" : std::to_string(ns / unit.ns) + " ") + unit.name;
	return (ns == 1 ? "" : std::to_string(ns) + " ") + "ns";
}

/* How the trace was understood. */
std::string trace_line(const json &t)
{
	if (!t.is_object())
		return "";
	const auto from = [](const json &known) { return known == "format" ? std::string() : " (" + known.get<std::string>() + ")"; };
	std::string out = print("trace: %s%s, times in %s%s, %llu records", t["format"].get<std::string>().c_str(),
				from(t["format_from"]).c_str(), in_units(t["time_unit_ns"].get<uint64_t>()).c_str(),
				from(t["time_unit_from"]).c_str(), (unsigned long long)t["records"].get<uint64_t>());
	if (t["streams"].is_number())
		out += print(" of %llu streams", (unsigned long long)t["streams"].get<uint64_t>());
	return out + print(", divided by %s%s\n", t["split"].get<std::string>().c_str(), from(t["split_from"]).c_str());
}

/* Only where IOTailor was asked for. */
std::string tailor_line(const json &t)
{
	if (!t.is_object())
		return "";
	uint64_t parts = 0;
	for (const json &part : t["partial"])
		parts += count(part);
	return print("iotailor: %llu writes left as %llu superpages and %llu smaller parts (%llu split, %llu grouped), held %.1f us, "
		     "at most %llu KiB\n",
		     (unsigned long long)count(t["writes"]), (unsigned long long)count(t["superpages"]), (unsigned long long)parts,
		     (unsigned long long)count(t["split"]), (unsigned long long)count(t["grouped"]),
		     t["held_ns"]["mean"].get<double>() / 1e3, (unsigned long long)count(t["most_held_bytes"]) >> 10);
}

// Only if the table directory is on flash.
std::string directory_line(const json &m)
{
	const uint64_t hits = count(m["directory_hits"]), asked = hits + count(m["directory_misses"]);
	return asked ? print("directory of table pages: %llu of %llu lookups in the cache\n", (unsigned long long)hits,
			     (unsigned long long)asked)
		     : "";
}

/* Only where the map is in flash. */
std::string map_line(const json &r)
{
	const json &m = r["l2p"], &hits = m["hits"];
	uint64_t lookups = 0;
	for (const char *kind : {"hits", "misses"})
		for (const json &level : m[kind])
			lookups += count(level);
	if (!lookups && !count(m["log_hits"]) && !count(m["updates"]))
		return "";
	return print("map: %.1f %% of %llu lookups in the cache (page %llu, chunk %llu, zone %llu), ",
		     m["hit_ratio"].is_number() ? 100 * m["hit_ratio"].get<double>() : 100.0, (unsigned long long)lookups,
		     (unsigned long long)count(hits["page"]), (unsigned long long)count(hits["chunk"]),
		     (unsigned long long)count(hits["zone"])) +
	       print("%llu in the log, %llu fetches, %llu joined, %llu table pages written, %llu stalls\n",
		     (unsigned long long)count(m["log_hits"]), (unsigned long long)count(m["fetches"]),
		     (unsigned long long)count(m["joined"]), (unsigned long long)count(m["table_pages_written"]),
		     (unsigned long long)count(m["stalls"])) +
	       directory_line(m);
}

/* Only where there is a data cache that was asked. */
std::string data_cache_line(const json &r)
{
	const json &c = r["data_cache"], &reads = c["reads"], &writes = c["writes"], &backs = c["write_backs"];
	const uint64_t read = count(reads["hits"]) + count(reads["partial"]) + count(reads["misses"]);
	const uint64_t written = count(writes["hits"]) + count(writes["misses"]);
	if (!read && !written)
		return "";
	return print("data cache: %llu of %llu reads of a line hit, %llu of %llu writes; ", (unsigned long long)count(reads["hits"]),
		     (unsigned long long)read, (unsigned long long)count(writes["hits"]), (unsigned long long)written) +
	       print("lines written back: %llu evicted, %llu flushed, %llu through, %llu in the background\n",
		     (unsigned long long)count(backs["evicted"]), (unsigned long long)count(backs["flushed"]),
		     (unsigned long long)count(backs["through"]), (unsigned long long)count(backs["background"]));
}

/* Only where the device collects conventional zones. */
std::string collector_line(const json &r)
{
	if (!count(r["ftl"]["conventional_gc_runs"]))
		return "";
	return print("collector: %llu backing superblocks, %.1f MiB moved; writes waited %llu times for an erased one\n",
		     (unsigned long long)count(r["ftl"]["conventional_gc_runs"]),
		     r["ftl"]["conventional_gc_bytes"].get<double>() / (1 << 20),
		     (unsigned long long)count(r["ftl"]["conventional_stalls"]));
}

// Only under the virtual clock.
std::string energy_line(const json &e)
{
	if (!e.is_object())
		return "";
	const json &parts = e["parts_mj"];
	const double total = e["total_mj"].get<double>();
	double flash = 0;
	for (const char *cells : {"slc", "normal"})
		for (const char *operation : {"_read", "_program", "_erase"})
			flash += parts[std::string(cells) + operation].get<double>();
	const auto percent = [total](double mj) { return total > 0 ? 100 * mj / total : 0; };
	std::string out = print("energy %.3f mJ: flash %.1f %%, channels %.1f %%, link %.1f %%, harts %.1f %%; ", total, percent(flash),
				percent(parts["channel"].get<double>()), percent(parts["link"].get<double>()),
				percent(parts["hart_busy"].get<double>() + parts["hart_idle"].get<double>())) +
			  print("%.1f mW on average", e["mean_mw"].get<double>());
	return out + (e["mj_per_gib"].is_number() ? print(", %.1f mJ per GiB\n", e["mj_per_gib"].get<double>()) : "\n");
}

// A run for a test, not for its figures.
std::string jitter_words(const json &r)
{
	const json jitter = r.value("/vclock/parameters/jitter"_json_pointer, json());
	return jitter.is_object()
		       ? ", schedule perturbed by seed " + jitter["seed"].dump() + " (" + jitter["permille"].dump() + " permille)"
		       : "";
}

// The answer in one sentence.
std::string answer_line(const json &totals, double elapsed_ns)
{
	const std::pair<const char *, const char *> kinds[] = {
		{"read", "a read"}, {"write", "a write"}, {"flush", "a flush"}, {"zone", "a zone command"}, {"trim", "a trim"}};
	uint64_t commands = 0;
	std::string times;
	for (const auto &[name, words] : kinds) {
		const json &kind = totals[name];
		commands += count(kind["ops"]);
		if (count(kind["ops"]))
			times += print(times.empty() ? "; on average %s takes %.1f us" : ", %s %.1f us", words,
				       us(kind["latency_ns"]["mean"]));
	}
	const double a_second = elapsed_ns > 0 ? static_cast<double>(commands) / elapsed_ns * 1e9 : 0;
	return print("%.0f commands a second", a_second) + times + "\n";
}

/* Of a device whose cells have bit errors (docs/reference/config.md, faults). */
std::string retry_line(const json &nand)
{
	const auto retries = nand["read_retries"].get<uint64_t>();
	return retries ? print("%llu read retries\n", (unsigned long long)retries) : "";
}

} // namespace

std::string result_table(const json &r)
{
	const json &t = r["totals"];
	std::string out = answer_line(t, r["elapsed_ns"].get<double>());
	out += print("\n%-9s %9s %10s %9s %9s %9s %9s %9s %9s %7s\n", "", "commands", "IOPS", "MiB/s", "mean us", "p50", "p99", "p99.9",
		     "max", "errors");
	for (const char *name : {"read", "write", "flush", "zone", "gc_read", "gc_write", "trim"})
		if (t[name]["ops"].get<uint64_t>() || t[name]["errors"].get<uint64_t>())
			out += kind_line(name, t[name]);
	for (const json &e : t["errors"])
		out += print("  %llu x %s\n", (unsigned long long)e["count"].get<uint64_t>(), e["text"].get<std::string>().c_str());
	out += print("\n%4s %-11s %7s %7s %7s   (%% of device time)\n", "hart", "role", "work", "spin", "idle");
	for (const json &h : r["harts"])
		out += hart_line(h);
	out += "\n" + trace_line(r["trace"]) + mapping_line(r["mapping"]) + tailor_line(r["iotailor"]) + map_line(r) + data_cache_line(r) +
	       collector_line(r) + retry_line(r["nand"]) + energy_line(r["energy"]);
	if (r["waf"].is_number())
		out += print("device WAF %.3f, ", r["waf"].get<double>());
	out += print("verified %.1f MiB, device time %.3f ms, wall time %.1f s\n", r["verified_bytes"].get<double>() / (1 << 20),
		     r["elapsed_ns"].get<double>() / 1e6, r["wall_s"].get<double>());
	out += print("digest %s, deterministic: %s%s%s\n", r["digest"].get<std::string>().c_str(),
		     r["deterministic"].get<bool>() ? "yes" : "no, ",
		     r["deterministic"].get<bool>() ? "" : r["deterministic_reason"].get<std::string>().c_str(), jitter_words(r).c_str());
	for (const json &w : r["warnings"])
		out += "warning: " + w.get<std::string>() + "\n";
	if (r["failed_commands"]["count"].get<uint64_t>())
		out += print("FAILED: %llu commands, the first: ", (unsigned long long)r["failed_commands"]["count"].get<uint64_t>()) +
		       r["failed_commands"]["first"].get<std::string>() + "\n";
	for (const json &v : r["violations"])
		out += "VIOLATION: " + v.get<std::string>() + "\n";
	return out;
}

} // namespace hz::res
