/* RunFacts → result.json. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/run_facts.hpp"

#include "config/device_json.hpp"
#include "config/device_names.hpp"
#include "results/mount_cost.hpp"
#include "session/machine/error.hpp"
#include "version.hpp"

#include <algorithm>

namespace hz::res {
namespace {

using nlohmann::json;

constexpr std::string_view cause_names[] = {"host", "slc", "fold", "gc", "map", "pad", "recovery"};
static_assert(std::size(cause_names) == HZ_CAUSES);

double per_second(uint64_t amount, uint64_t ns) { return ns ? double(amount) * 1e9 / double(ns) : 0.0; }

json latency_json(const Histogram &h)
{
	return {
		{"mean", h.mean()},        {"min", h.min()},
		{"p50", h.quantile(0.5)},  {"p90", h.quantile(0.9)},
		{"p99", h.quantile(0.99)}, {"p999", h.quantile(0.999)},
		{"max", h.max()},          {"p9999", h.quantile(0.9999)},
	};
}

json kind_json(const KindAccount &k, uint64_t elapsed_ns)
{
	return {
		{"ops", k.ops},
		{"bytes", k.bytes},
		{"errors", k.errors},
		{"iops", per_second(k.ops, elapsed_ns)},
		{"mib_s", per_second(k.bytes, elapsed_ns) / (1 << 20)},
		{"latency_ns", latency_json(k.latency)},
	};
}

json errors_json(const std::map<uint16_t, uint64_t> &errors)
{
	json out = json::array();
	for (const auto &[status, count] : errors)
		out.push_back({{"status", status}, {"text", status_text(status)}, {"count", count}});
	return out;
}

json account_json(const QueueAccount &q, uint64_t elapsed_ns)
{
	json out;
	for (size_t k = 0; k < kinds; k++)
		out[std::string(kind_names[k])] = kind_json(q.kind[k], elapsed_ns);
	out["appends"] = q.appends;
	out["submitted"] = q.submitted;
	out["completed"] = q.completed;
	out["late_arrivals"] = q.late_arrivals;
	out["errors"] = errors_json(q.errors);
	out["verified_bytes"] = q.verified_bytes;
	out["mismatched_sectors"] = q.mismatched_sectors;
	return out;
}

json queues_json(const RunFacts &f)
{
	json out = json::array();
	for (const QueueAccount &q : f.queues) {
		json one = account_json(q, f.elapsed_ns);
		one["qid"] = q.qid;
		one["nsid"] = q.nsid;
		one["worker"] = (q.qid - 1) % f.device.worker_count;
		one["digest"] = q.digest.text();
		out.push_back(one);
	}
	return out;
}

json harts_json(const hz_log_harts &log)
{
	json out = json::array();
	for (uint32_t i = 0; i < log.harts && i < HZ_MAX_HARTS; i++) {
		const hz_hart_times &h = log.hart[i];
		uint64_t spin = 0;
		json by_class = json::object();
		for (uint32_t c = 0; c < 16; c++) {
			spin += h.spin_ns[c];
			if (h.spin_ns[c])
				by_class[conf::name_of(conf::lock_class_names(), c)] = h.spin_ns[c];
		}
		out.push_back({{"id", h.hart},
			       {"role", roles_text(h.roles)},
			       {"work_ns", h.work_ns},
			       {"spin_ns", spin},
			       {"spin_by_class", by_class},
			       {"idle_ns", h.idle_ns},
			       {"elapsed_ns", h.elapsed_ns},
			       {"events", h.events}});
	}
	return out;
}

json nand_json(const hz_log_flash &log)
{
	json causes = json::object(), channels = json::array();
	for (uint32_t c = 0; c < HZ_CAUSES; c++)
		causes[std::string(cause_names[c])] = {
			{"reads", log.reads[c]},
			{"programs", log.programs[c]},
			{"erases", log.erases[c]},
			{"read_bytes", log.read_sectors[c] * HZ_SECTOR_BYTES},
			{"program_bytes", log.program_sectors[c] * HZ_SECTOR_BYTES},
		};
	for (uint32_t c = 0; c < log.channels && c < 64; c++)
		channels.push_back(log.channel_busy_ns[c]);
	return {
		{"by_cause", causes},
		{"channel_busy_ns", channels},
		{"die_busy_ns_total", log.die_busy_ns_total},
		{"dies", log.dies},
		{"elapsed_ns", log.elapsed_ns},
		{"multi_plane_ops", log.multi_plane_ops},
		{"read_retries", log.read_retries},
		{"failed_reads", log.failed_reads},
		{"failed_programs", log.failed_programs},
		{"failed_erases", log.failed_erases},
	};
}

json ftl_json(const hz_log_ftl &l)
{
	return {
		{"host_read_bytes", l.host_read_sectors * HZ_SECTOR_BYTES},
		{"host_write_bytes", l.host_write_sectors * HZ_SECTOR_BYTES},
		{"buffer_flushes",
		 {{"full", l.buffer_flushes_full},
		  {"conflict", l.buffer_flushes_conflict},
		  {"host", l.buffer_flushes_host},
		  {"finish", l.buffer_flushes_finish},
		  {"idle", l.buffer_flushes_idle}}},
		{"slc_bytes", l.slc_sectors * HZ_SECTOR_BYTES},
		{"fold_bytes", l.fold_sectors * HZ_SECTOR_BYTES},
		{"buffer_read_bytes", l.buffer_read_sectors * HZ_SECTOR_BYTES},
		{"unmapped_read_bytes", l.unmapped_read_sectors * HZ_SECTOR_BYTES},
		{"zone_resets", l.zone_resets},
		{"zone_finishes", l.zone_finishes},
		{"slc_gc_runs", l.slc_gc_runs},
		{"slc_gc_bytes", l.slc_gc_sectors * HZ_SECTOR_BYTES},
		{"conventional_gc_runs", l.conventional_gc_runs},
		{"conventional_gc_bytes", l.conventional_gc_sectors * HZ_SECTOR_BYTES},
		{"conventional_stalls", l.conventional_stalls},
		{"conventional_stall_ns", l.conventional_stall_ns},
		{"deallocated_bytes", l.deallocated_sectors * HZ_SECTOR_BYTES},
		{"copied_bytes", l.copied_sectors * HZ_SECTOR_BYTES},
		{"in_place_bytes", l.in_place_sectors * HZ_SECTOR_BYTES},
		{"in_place_refusals", l.in_place_refusals},
		{"update_folds", l.update_folds},
		{"folded_bytes", l.folded_updates * HZ_SECTOR_BYTES},
		{"refreshed_zones",
		 {{"reads", l.refreshed_reads}, {"age", l.refreshed_age}, {"wear", l.refreshed_wear}, {"rebuilt", l.refreshed_rebuilt}}},
		{"refreshed_bytes", l.refreshed_sectors * HZ_SECTOR_BYTES},
		{"refresh_failures", l.refresh_failures},
		{"parity_bytes", l.parity_sectors * HZ_SECTOR_BYTES},
		{"parity_read_bytes", l.parity_read_sectors * HZ_SECTOR_BYTES},
		{"rebuilt_bytes", {{"reads", l.rebuilt_reads * HZ_SECTOR_BYTES}, {"moves", l.rebuilt_moves * HZ_SECTOR_BYTES}}},
		{"not_rebuilt_bytes", l.rebuild_failures * HZ_SECTOR_BYTES},
		{"waits_buffer", l.waits_buffer},
		{"waits_space", l.waits_space},
		{"dropped_bytes", l.dropped_sectors * HZ_SECTOR_BYTES},
	};
}

json data_cache_json(const hz_log_ftl &l)
{
	return {
		{"reads", {{"hits", l.cache_read_hits}, {"partial", l.cache_read_partial}, {"misses", l.cache_read_misses}}},
		{"writes", {{"hits", l.cache_write_hits}, {"misses", l.cache_write_misses}}},
		{"write_backs",
		 {{"evicted", l.cache_evicted},
		  {"flushed", l.cache_flushed},
		  {"through", l.cache_through},
		  {"background", l.cache_background}}},
		{"written_bytes", l.cache_written_sectors * HZ_SECTOR_BYTES},
		{"failures", l.cache_failures},
		{"waits", l.cache_waits},
	};
}

json l2p_json(const hz_log_ftl &l)
{
	static constexpr const char *levels[] = {"page", "chunk", "zone"};
	json hits, misses;
	uint64_t hit = 0, missed = 0;
	for (int i = 0; i < 3; i++) {
		hits[levels[i]] = l.l2p_hits[i];
		misses[levels[i]] = l.l2p_misses[i];
		hit += l.l2p_hits[i];
		missed += l.l2p_misses[i];
	}
	return {
		{"hits", hits},
		{"misses", misses},
		{"hit_ratio", hit + missed ? json(double(hit) / double(hit + missed)) : json()},
		{"log_hits", l.l2p_log_hits},
		{"fetches", l.l2p_fetches},
		{"joined", l.l2p_joined},
		{"prefetched", l.l2p_prefetched},
		{"evictions", l.l2p_evictions},
		{"updates", l.l2p_updates},
		{"flushes", l.l2p_flushes},
		{"table_pages_written", l.l2p_table_pages_written},
		{"merges", l.l2p_merges},
		{"rebuilt", l.l2p_rebuilt},
		{"directory_hits", l.l2p_directory_hits},
		{"directory_misses", l.l2p_directory_misses},
		{"pins_refused", l.l2p_pins_refused},
		{"stalls", l.l2p_stalls},
		{"stall_ns", l.l2p_stall_ns},
	};
}

json namespaces_json(const std::vector<NamespaceFigures> &namespaces)
{
	json out = json::array();
	for (const NamespaceFigures &part : namespaces)
		out.push_back({{"nsid", part.nsid},
			       {"ftl", ftl_json(part.ftl)},
			       {"l2p", l2p_json(part.ftl)},
			       {"data_cache", data_cache_json(part.ftl)}});
	return out;
}

json locks_json(const std::vector<hz_lock_entry> &locks)
{
	json out = json::array();
	for (const hz_lock_entry &l : locks)
		out.push_back({
			{"class", conf::name_of(conf::lock_class_names(), l.lock_class)},
			{"index", l.index},
			{"kind", conf::name_of(conf::lock_kind_names(), l.kind)},
			{"acquisitions", l.acquisitions},
			{"contended", l.contended},
			{"wait_ns", l.wait_ns},
			{"wait_max_ns", l.wait_max_ns},
			{"wait_p99_ns", l.wait_p99_ns},
			{"hold_ns", l.hold_ns},
			{"hold_max_ns", l.hold_max_ns},
			{"hold_p99_ns", l.hold_p99_ns},
			{"handovers", l.handovers},
		});
	return out;
}

json device_waf(const RunFacts &f)
{
	uint64_t programmed = 0;
	for (const uint64_t sectors : f.flash.program_sectors)
		programmed += sectors;
	if (!f.ftl.host_write_sectors)
		return nullptr;
	return double(programmed) / double(f.ftl.host_write_sectors);
}

/* Sums the numbers of the threads' mapping costs; ratios are recomputed from the sums. */
json mapping_json(const std::vector<json> &parts)
{
	json total = json::object();
	for (const json &part : parts)
		if (part.is_object())
			for (const auto &[key, value] : part.items())
				if (value.is_number_unsigned())
					total[key] = total.value(key, uint64_t(0)) + value.get<uint64_t>();
	if (total.empty())
		return nullptr;
	const uint64_t user = total.value("user_written_bytes", uint64_t(0));
	if (total.contains("gc_copied_bytes"))
		total["host_waf"] = user ? double(user + total["gc_copied_bytes"].get<uint64_t>()) / double(user) : 1.0;
	return total;
}

/* With each thread's part. */
json trace_json(const RunFacts &f)
{
	if (!f.trace.is_object())
		return nullptr;
	json out = f.trace, records = json::array();
	uint64_t idle = 0;
	for (const json &part : f.mapping) {
		records.push_back(part["trace_records"]);
		idle += part["trace_records"] == 0;
	}
	out["thread_records"] = records;
	out["idle_threads"] = idle;
	return out;
}

/* Until the first queue had no more commands. */
json steady_json(const std::vector<QueueAccount> &queues, const QueueAccount &total)
{
	uint64_t end_ns = total.last_completion_ns;
	for (const QueueAccount &q : queues)
		if (q.completed)
			end_ns = std::min(end_ns, q.last_completion_ns);
	const Steady s = steady_of(total.series, total.first_arrival_ns, end_ns);
	const auto mean = [&s](const BatchMean &of) {
		return s.reason.empty() ? json{{"mean", of.mean}, {"half_width", of.half_width}} : json();
	};
	return {{"reason", s.reason.empty() ? json() : json(s.reason)}, {"warmup_ns", s.warmup_ns}, {"measured_ns", s.measured_ns},
		{"batches", s.reason.empty() ? steady_batches : 0},     {"iops", mean(s.iops)},     {"latency_ns", mean(s.latency_ns)}};
}

QueueAccount sum_of(const std::vector<QueueAccount> &queues)
{
	QueueAccount total;
	for (const QueueAccount &q : queues)
		total.merge(q);
	return total;
}

json failures_json(const RunFacts &f)
{
	QueueAccount all;
	for (const auto *phase : {&f.prepared, &f.queues, &f.read_back})
		all.merge(sum_of(*phase));
	return {{"count", all.failures}, {"first", all.failures ? json(all.first_failure) : json()}};
}

/* deterministic: the plugin's verdict; runs with a real clock, and interrupted ones, never are. */
void add_verdict(json &out, const RunFacts &f)
{
	out["deterministic"] = false;
	out["deterministic_reason"] = f.attached        ? "the device was shared with other processes"
				      : f.virtual_clock ? "the virtual clock plugin left no report"
							: "real clock";
	out["vclock"] = nullptr;
	const json report = json::parse(f.plugin_report, nullptr, false);
	if (!report.is_object())
		return;
	out["deterministic"] = report.value("deterministic", false);
	out["deterministic_reason"] = report.value("reason", "");
	out["vclock"] = report;
	if (f.interrupted.empty())
		return;
	out["deterministic"] = false;
	out["deterministic_reason"] = "interrupted";
}

} // namespace

std::string roles_text(uint32_t roles)
{
	std::string out;
	const auto add = [&](uint32_t bit, const char *name) {
		if (roles & bit)
			out += (out.empty() ? "" : "+") + std::string(name);
	};
	add(HZ_ROLE_HIL, "hil");
	add(HZ_ROLE_TSU, "tsu");
	add(HZ_ROLE_WORKER, "worker");
	return out.empty() ? "none" : out;
}

std::vector<std::string> races_of(const RunFacts &f)
{
	const json report = json::parse(f.plugin_report, nullptr, false);
	return report.is_object() ? report.value("races", std::vector<std::string>()) : std::vector<std::string>();
}

json verdict_of(const std::string &plugin_report)
{
	const json report = json::parse(plugin_report, nullptr, false);
	const bool readable = report.is_object();
	return {{"deterministic", readable && report.value("deterministic", false)},
		{"deterministic_reason", readable ? report.value("reason", "") : "the virtual clock plugin left no report"},
		{"digest", readable ? report.at("order_hash") : json()}};
}

json result_json(const RunFacts &f)
{
	const QueueAccount total = sum_of(f.queues), prepared = sum_of(f.prepared), read_back = sum_of(f.read_back);
	json out = {
		{"schema", result_schema},
		{"clock", f.virtual_clock ? "virtual" : "real"},
		{"device", conf::device_to_json(f.device)},
		{"workload", f.workload},
		{"workers", f.device.worker_count},
		{"all_harts", f.device.harts},
		{"seed", f.seed},
		{"elapsed_ns", f.elapsed_ns},
		{"mount_ns", f.mount_ns},
		{"mount", mount_json(f.mount)},
		{"attached", f.attached},
		{"image_starts", f.image_starts},
		{"kept_zones", f.kept_zones},
		{"totals", account_json(total, f.elapsed_ns)},
		{"queues", queues_json(f)},
		{"steady", steady_json(f.queues, total)},
		{"harts", harts_json(f.harts)},
		{"nand", nand_json(f.flash)},
		{"waf", device_waf(f)},
		{"energy", energy_json(f)},
		{"ftl", ftl_json(f.ftl)},
		{"l2p", l2p_json(f.ftl)},
		{"data_cache", data_cache_json(f.ftl)},
		{"namespaces", namespaces_json(f.namespaces)},
		{"locks", locks_json(f.locks)},
		{"mapping", mapping_json(f.mapping)},
		{"iotailor", f.iotailor},
		{"trace", trace_json(f)},
		{"as_recorded", f.as_recorded},
		{"interrupted", f.interrupted.empty() ? json() : json(f.interrupted)},
		{"preparation",
		 {{"write_bytes", prepared.of(Kind::write).bytes},
		  {"errors", errors_json(prepared.errors)},
		  {"kept", f.prepared_key.empty() ? json() : json(f.prepared_key)}}},
		{"read_back", {{"bytes", read_back.verified_bytes}, {"errors", errors_json(read_back.errors)}}},
		{"verified_bytes", total.verified_bytes + read_back.verified_bytes},
		{"wall_s", f.wall_s},
		{"replay_wall_s", f.replay_wall_s},
		{"software", f.software},
		{"host", host_info()},
		{"failed_commands", failures_json(f)},
		{"violations", violations(f)},
		{"digest", digest_of(f)},
	};
	add_verdict(out, f);
	out["warnings"] = warnings(out);
	return out;
}

} // namespace hz::res
