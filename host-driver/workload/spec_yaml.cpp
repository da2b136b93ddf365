/* YAML → Workload. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/log_record.hpp"
#include "workload/spec.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace hz::wl {
namespace {

using conf::Fields;

constexpr std::string_view mapping_names[] = {"direct", "log"};
constexpr std::string_view pattern_names[] = {"sequential", "random"};
constexpr std::string_view distribution_names[] = {"uniform", "zipf"};
constexpr std::string_view think_names[] = {"constant", "exponential"};
constexpr std::string_view timing_names[] = {"closed", "open"};
constexpr std::string_view order_names[] = {"trace", "streams"};
constexpr std::string_view split_names[] = {"auto", "address", "stream"};
constexpr std::string_view fit_names[] = {"wrap", "refuse"};
constexpr std::string_view area_names[] = {"sequential", "conventional"};
constexpr std::string_view priority_names[] = {"urgent", "high", "medium", "low"};
constexpr std::string_view burst_names[] = {"1", "2", "4", "8", "16", "32", "64", "unlimited"};
constexpr std::string_view prepared_names[] = {"anew", "kept"};
constexpr uint32_t max_threads = 64, max_namespaces = 16; /* HZ_MAX_NAMESPACES */
constexpr uint64_t max_block_sectors = 128;               /* HZ_MAX_TRANSFER_SECTORS */

template <typename Enum> void choice(Fields &f, const char *key, Enum &out, std::span<const std::string_view> names)
{
	uint32_t value = uint32_t(out);
	f.choice(key, value, names);
	out = Enum(value);
}

uint64_t block_sectors(Fields &f, const char *key)
{
	uint64_t sectors = 0;
	f.sectors(key, sectors);
	if (sectors < 1 || sectors > max_block_sectors)
		f.fail(key, "a block is 4 KiB to 512 KiB");
	return sectors;
}

void read_blocks(Fields &f, ThreadSpec &t)
{
	if (f.has("block") && f.has("blocks"))
		f.fail("blocks", "give either block or blocks");
	if (f.has("block"))
		t.blocks = {{block_sectors(f, "block"), 1}};
	if (!f.has("blocks"))
		return;
	t.blocks.clear();
	for (Fields &item : f.list("blocks")) {
		BlockSize block{block_sectors(item, "size"), 1};
		item.count("weight", block.weight, 1, 1000000);
		item.finish();
		t.blocks.push_back(block);
	}
	if (t.blocks.empty() || t.blocks.size() > 64)
		f.fail("blocks", "needs 1 to 64 entries");
}

void read_record(Fields &f, ThreadSpec &t)
{
	f.bytes("record", t.record, 0, max_block_sectors * 4096);
	if (t.record && t.blocks.size() > 1)
		f.fail("record", "a log has blocks of one size: give block, and not blocks");
	if (t.record && most_sectors(t) > max_block_sectors)
		f.fail("record", "the blocks that hold a record are more than 512 KiB: make record or block smaller");
	if (t.record && t.append)
		f.fail("record", "the block that the last record left half full is written again, which an append cannot: remove append");
}

void read_patterns(Fields &f, ThreadSpec &t)
{
	if (f.has("pattern")) {
		choice(f, "pattern", t.read_pattern, pattern_names);
		t.write_pattern = t.read_pattern;
	}
	choice(f, "read_pattern", t.read_pattern, pattern_names);
	choice(f, "write_pattern", t.write_pattern, pattern_names);
	choice(f, "distribution", t.distribution, distribution_names);
	f.real("zipf_theta", t.zipf_theta, 0.01, 5.0);
	f.real("read_ratio", t.read_ratio, 0.0, 1.0);
	f.real("trim_ratio", t.trim_ratio, 0.0, 1.0);
	if (t.read_ratio + t.trim_ratio > 1.0)
		f.fail("trim_ratio", "with read_ratio is more than 1: together they are at most all commands");
}

void read_place(Fields &f, ThreadSpec &t)
{
	choice(f, "area", t.area, area_names);
	f.count("zones", t.zones);
	f.count("first_zone", t.first_zone, 0, any_zone - 1);
	f.count("zone_step", t.zone_step, 1, 65536);
	if (t.first_zone == any_zone && t.zone_step != 1)
		f.fail("zone_step", "goes with first_zone: give both");
	if (t.first_zone != any_zone && !t.zones)
		f.fail("first_zone", "needs the number of zones: give zones too");
	if (t.first_zone != any_zone && t.area == Area::conventional)
		f.fail("first_zone", "goes with sequential zones: remove it, or area: conventional");
}

/* Nothing is written in order there. */
void check_conventional(const Fields &f, const ThreadSpec &t)
{
	if (t.area != Area::conventional)
		return;
	if (t.append)
		f.fail("append", "goes with sequential zones: remove it, or area: conventional");
	if (t.durable_ratio > 0)
		f.fail("durable_ratio", "goes with sequential zones: remove it, or area: conventional");
	if (t.open_zones != 1)
		f.fail("open_zones", "goes with sequential zones: remove it, or area: conventional");
	if (t.zone_depth)
		f.fail("zone_depth", "goes with sequential zones: remove it, or area: conventional");
	if (t.zrwa)
		f.fail("zrwa", "goes with sequential zones: remove it, or area: conventional");
}

void read_span(Fields &f, ThreadSpec &t)
{
	if (f.has("span") && f.has("span_bytes"))
		f.fail("span_bytes", "give either span or span_bytes");
	if (f.has("span"))
		t.span_sectors = 0;
	if (f.has("span_bytes"))
		t.span = 1.0;
	f.real("span", t.span, 0.001, 1.0);
	f.sectors("span_bytes", t.span_sectors);
}

void read_thread(Fields f, ThreadSpec &t, bool weighted)
{
	read_patterns(f, t);
	read_blocks(f, t);
	f.count("queue_depth", t.queue_depth, 1, 1023);
	f.duration("think", t.think_ns, 0, 1000000000000);
	choice(f, "think_distribution", t.think, think_names);
	read_place(f, t);
	f.count("open_zones", t.open_zones, 1, 1024);
	f.count("zone_depth", t.zone_depth, 0, 1023);
	f.flag("reset_when_full", t.reset_when_full);
	f.flag("append", t.append);
	f.flag("zrwa", t.zrwa);
	f.flag("fua", t.fua);
	read_record(f, t);
	f.real("durable_ratio", t.durable_ratio, 0.0, 1.0);
	f.count("placement", t.placement, 0, UINT16_MAX);
	f.count("flush_every", t.flush_every);
	f.count("total_ops", t.total_ops);
	f.sectors("total_bytes", t.total_sectors);
	read_span(f, t);
	f.real("prefill", t.prefill, 0.0, 1.0);
	choice(f, "priority", t.priority, priority_names);
	if (f.has("priority") && !weighted)
		f.fail("priority", "counts with weighted round robin only: give the workload's key arbitration, too");
	f.finish();
	if (t.zrwa && t.append)
		f.fail("zrwa", "a zone with a random write area takes no appends: remove append");
	check_conventional(f, t);
}

TraceSpec read_trace(Fields f)
{
	TraceSpec t;
	f.text("file", t.file, 4096);
	f.text("format", t.format, 32);
	f.duration("time_unit", t.time_unit_ns, 1, 1000000000);
	f.count("skip_bad", t.skip_bad);
	choice(f, "timing", t.timing, timing_names);
	f.real("time_scale", t.time_scale, 1e-6, 1e6);
	f.count("threads", t.threads, 1, max_threads);
	f.count("queue_depth", t.queue_depth, 1, 1023);
	choice(f, "split", t.split, split_names);
	choice(f, "offsets", t.fit, fit_names);
	f.flag("preload", t.preload);
	f.count("max_ops", t.max_ops);
	f.count("repeat", t.repeat, 1, 1000000);
	choice(f, "order", t.order, order_names);
	f.real("think_scale", t.think_scale, 0.0, 1000.0);
	f.flag("durable", t.durable);
	for (const char *key : {"split", "offsets", "preload", "repeat"})
		t.block_key = f.has(key) ? key : t.block_key;
	if (t.file.empty())
		f.fail("file", "is missing: name the trace to replay");
	if (t.order == Order::streams && (t.threads != 1 || t.timing == Timing::open))
		f.fail("order", "streams run beside each other in one queue, as fast as they can: give threads: 1, and no timing");
	if (f.has("think_scale") && t.order != Order::streams)
		f.fail("think_scale",
		       "scales what the programs of a trace compute, which only order: streams replays: give that, or remove the key");
	f.finish();
	return t;
}

TailorSpec read_tailor(Fields f)
{
	TailorSpec t;
	f.sectors("unit", t.unit);
	f.sectors("memory", t.memory);
	f.duration("hold", t.hold_ns, 0, 1000000000000);
	f.finish();
	return t;
}

void read_namespaces(Fields &f, Workload &w)
{
	std::vector<uint64_t> named;
	f.counts("namespaces", named, max_namespaces, 1, max_namespaces);
	if (named.empty())
		return;
	if (std::set<uint64_t>(named.begin(), named.end()).size() != named.size())
		f.fail("namespaces", "names one twice: the threads are dealt to them in turn, so each is named once");
	w.namespaces.assign(named.begin(), named.end());
}

void read_threads(Fields &f, Workload &w)
{
	uint32_t count = 4;
	f.count("threads", count, 1, max_threads);
	ThreadSpec common;
	read_thread(f.child("common"), common, w.arbitration.has_value());
	w.threads.assign(count, common);
	std::vector<Fields> each = f.list("each");
	if (each.size() > count)
		f.fail("each", "has more entries than threads (" + std::to_string(count) + ")");
	for (size_t i = 0; i < each.size(); i++)
		read_thread(each[i], w.threads[i], w.arbitration.has_value());
}

void require_an_end(const Fields &f, const Workload &w)
{
	for (const ThreadSpec &t : w.threads)
		if (!t.total_ops && !t.total_sectors)
			f.fail("common", "the workload never ends: give total_ops or total_bytes");
}

ArbitrationSpec read_arbitration(Fields f)
{
	ArbitrationSpec a;
	f.count("high", a.high, 1, 256);
	f.count("medium", a.medium, 1, 256);
	f.count("low", a.low, 1, 256);
	f.choice("burst", a.burst, burst_names);
	f.finish();
	return a;
}

/* The preparation of a trace is known only after reading it. */
void read_prepared(Fields &f, Workload &w)
{
	uint32_t kept = 0;
	f.choice("prepared", kept, prepared_names);
	w.keep_prepared = kept;
	if (kept && w.trace && w.trace->block_key.empty())
		w.trace->block_key = "prepared";
	if (kept && !prepares(w))
		f.fail("prepared", "nothing is written before the measurement: give prefill too, or remove the key");
}

Workload read_workload(YAML::Node root, const std::string &file)
{
	Workload w;
	w.file = file;
	Fields f(std::move(root), file, "");
	f.text("name", w.name, 64);
	f.count("seed", w.seed);
	f.flag("verify", w.verify);
	f.flag("accept_unreadable", w.accept_unreadable);
	f.duration("turnaround", w.turnaround_ns, 1, 1000000000);
	read_namespaces(f, w);
	f.real("over_provisioning", w.over_provisioning, 0.0, 0.9);
	f.count("gc_low_zones", w.gc_low_zones, 1, 1024);
	if (f.has("arbitration") && f.has("trace"))
		f.fail("arbitration", "the threads of a trace have no priorities: remove the key");
	if (f.has("arbitration"))
		w.arbitration = read_arbitration(f.child("arbitration"));
	if (f.has("trace")) {
		if (f.has("threads") || f.has("common") || f.has("each"))
			f.fail("trace", "a workload either replays a trace or generates threads, not both");
		w.trace = read_trace(f.child("trace"));
		w.mapping = Mapping::log;
	} else {
		read_threads(f, w);
	}
	if (f.has("iotailor"))
		w.tailor = read_tailor(f.child("iotailor"));
	w.mapping_given = f.has("mapping");
	choice(f, "mapping", w.mapping, mapping_names);
	read_prepared(f, w);
	f.flag("shared", w.shared);
	if (w.shared && w.trace)
		f.fail("shared", "a trace says itself where its records go: remove the key");
	if (w.shared && w.verify)
		f.fail("shared", "threads overwrite each other's sectors, so the data of a read are not known: give verify: false too");
	f.finish(); /* first: a misspelt key is why another one is missing */
	require_an_end(f, w);
	return w;
}

} // namespace

Workload parse_workload(const std::string &text, const std::string &name) { return read_workload(conf::load_yaml_text(text, name), name); }

Workload load_workload(const std::string &path)
{
	Workload w = read_workload(conf::load_yaml_file(path), path);
	if (!w.trace || std::filesystem::path(w.trace->file).is_absolute())
		return w;
	const auto beside = std::filesystem::path(path).parent_path() / w.trace->file;
	if (std::filesystem::exists(beside))
		w.trace->file = beside.lexically_normal().string();
	return w;
}

Workload part_of(const Workload &workload, size_t first, size_t n)
{
	Workload part = workload;
	part.threads.clear();
	size_t count = 0;
	for (size_t i = first; i < workload.thread_count(); i += n, count++)
		if (!workload.trace)
			part.threads.push_back(workload.threads[i]);
	if (part.trace)
		part.trace->threads = static_cast<uint32_t>(count);
	return part;
}

void choose_mapping(Workload &workload, bool zoned)
{
	if (workload.trace && !workload.mapping_given)
		workload.mapping = zoned ? Mapping::log : Mapping::direct;
}

void shrink(Workload &workload, uint64_t divisor)
{
	const auto part = [divisor](uint64_t &total) {
		if (total)
			total = std::max<uint64_t>(1, total / divisor);
	};
	for (ThreadSpec &t : workload.threads) {
		part(t.total_ops);
		part(t.total_sectors);
	}
	if (workload.trace) {
		part(workload.trace->max_ops);
		workload.trace->repeat = std::max<uint32_t>(1, uint32_t(workload.trace->repeat / divisor));
	}
}

} // namespace hz::wl
