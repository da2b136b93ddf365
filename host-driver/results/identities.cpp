/* Accounting identities, checked at the end of every run, and the digest. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/run_facts.hpp"

#include "config/device_names.hpp"

namespace hz::res {
namespace {

std::string number(uint64_t value) { return std::to_string(value); }

void check_harts(const RunFacts &f, std::vector<std::string> &out)
{
	for (uint32_t i = 0; i < f.harts.harts && i < HZ_MAX_HARTS; i++) {
		const hz_hart_times &h = f.harts.hart[i];
		uint64_t spin = 0;
		for (const uint64_t ns : h.spin_ns)
			spin += ns;
		if (h.work_ns + spin + h.idle_ns != h.elapsed_ns)
			out.push_back("hart " + number(i) + ": work " + number(h.work_ns) + " + spin " + number(spin) + " + idle " +
				      number(h.idle_ns) + " ns is not its elapsed time of " + number(h.elapsed_ns) + " ns");
	}
	if (f.harts.harts != f.device.harts)
		out.push_back("the device reports " + number(f.harts.harts) + " harts instead of " + number(f.device.harts));
}

void check_queue(const QueueAccount &q, std::vector<std::string> &out)
{
	uint64_t answered = 0, errors = 0;
	for (const KindAccount &kind : q.kind) {
		answered += kind.ops + kind.errors;
		errors += kind.errors;
		if (kind.latency.count() != kind.ops)
			out.push_back("queue " + number(q.qid) + " has " + number(kind.ops) + " commands, but " +
				      number(kind.latency.count()) + " latencies");
	}
	if (q.submitted != q.completed || answered != q.completed)
		out.push_back("queue " + number(q.qid) + " submitted " + number(q.submitted) + " commands, got " + number(q.completed) +
			      " completions and counted " + number(answered));
	uint64_t by_status = 0;
	for (const auto &[status, count] : q.errors)
		by_status += count;
	if (by_status != errors)
		out.push_back("queue " + number(q.qid) + " counted " + number(errors) + " errors, but " + number(by_status) + " by status");
	if (q.mismatched_sectors)
		out.push_back("queue " + number(q.qid) + " read " + number(q.mismatched_sectors) +
			      " wrong sectors, the first: " + q.first_mismatch);
}

/* Without errors the device must have moved exactly the bytes of the host's commands; more only if
 * other users share it. nsid: 0, or of the namespace of these counters. */
void check_bytes(const RunFacts &f, uint32_t nsid, const hz_log_ftl &ftl, std::vector<std::string> &out)
{
	uint64_t read = 0, written = 0, errors = 0;
	for (const QueueAccount &q : f.queues) {
		if (nsid && q.nsid != nsid)
			continue;
		read += q.of(Kind::read).bytes + q.of(Kind::gc_read).bytes;
		written += q.of(Kind::write).bytes + q.of(Kind::gc_write).bytes;
		for (const KindAccount &kind : q.kind)
			errors += kind.errors;
	}
	if (errors)
		return;
	const auto differ = [&](uint64_t host, uint64_t device) { return f.attached ? host > device : host != device; };
	const std::string device = nsid ? " bytes, namespace " + number(nsid) : " bytes, the device";
	if (differ(read, ftl.host_read_sectors * HZ_SECTOR_BYTES))
		out.push_back("the host read " + number(read) + device + " delivered " + number(ftl.host_read_sectors * HZ_SECTOR_BYTES));
	if (differ(written, ftl.host_write_sectors * HZ_SECTOR_BYTES))
		out.push_back("the host wrote " + number(written) + device + " took " + number(ftl.host_write_sectors * HZ_SECTOR_BYTES));
}

void check_channels(const RunFacts &f, std::vector<std::string> &out)
{
	for (uint32_t c = 0; c < f.flash.channels && c < 64; c++)
		if (f.flash.channel_busy_ns[c] > f.flash.elapsed_ns)
			out.push_back("channel " + number(c) + " was busy for " + number(f.flash.channel_busy_ns[c]) + " ns of " +
				      number(f.flash.elapsed_ns));
}

/* Table pages are read for misses and for merges only, after the mount. The FTL counts a read when
 * it begins, the flash when it ends, and a flush of the log in the background may span either end
 * of the measurement: the difference is at most the reads under way. */
void check_map(const RunFacts &f, std::vector<std::string> &out)
{
	constexpr uint64_t under_way = 64;
	const hz_log_ftl &l = f.ftl;
	const uint64_t asked = l.l2p_fetches + l.l2p_merges, read = f.flash.reads[HZ_CAUSE_MAP];
	if (read > asked + under_way || asked > read + under_way)
		out.push_back("the map asked for " + number(asked) + " reads of table pages, the flash did " + number(read));
	if (l.l2p_table_pages_written > f.flash.program_sectors[HZ_CAUSE_MAP] + under_way)
		out.push_back("the map wrote " + number(l.l2p_table_pages_written) + " table pages, the flash programmed " +
			      number(f.flash.program_sectors[HZ_CAUSE_MAP]));
}

/* No part of a lock's account is larger than its whole. */
void check_locks(const RunFacts &f, std::vector<std::string> &out)
{
	for (const hz_lock_entry &lock : f.locks)
		if (lock.contended > lock.acquisitions || lock.wait_max_ns > lock.wait_ns || lock.hold_max_ns > lock.hold_ns)
			out.push_back("lock " + conf::name_of(conf::lock_class_names(), lock.lock_class) + " " + number(lock.index) +
				      " has a part larger than its whole");
}

// A hart's times in the virtual clock's account sum to its clock's advance, and the parts of
// requests to their time.
void check_accounts(const RunFacts &f, std::vector<std::string> &out)
{
	const auto report = nlohmann::json::parse(f.plugin_report, nullptr, false);
	const auto profile = report.is_object() ? report.value("locks", nlohmann::json()) : nlohmann::json();
	if (!profile.is_object())
		return;
	for (const auto &kind : profile.at("requests"))
		if (kind.at("all").at("error") != 0)
			out.push_back("requests of kind " + kind.at("kind").dump() + ": " + kind.at("all").at("error").dump() +
				      " cycles of their time are in no part of it");
	for (const auto &hart : profile.at("accounts"))
		if (hart.at("error") != 0)
			out.push_back("hart " + hart.at("hart").dump() + ": its clock passed " + hart.at("cycles").dump() +
				      " cycles, of which " + hart.at("error").dump() + " are in no part of its account");
}

std::span<const std::byte> raw(const auto &record) { return {reinterpret_cast<const std::byte *>(&record), sizeof(record)}; }

} // namespace

std::vector<std::string> violations(const RunFacts &f)
{
	std::vector<std::string> out;
	check_harts(f, out);
	for (const QueueAccount &q : f.queues)
		check_queue(q, out);
	for (const QueueAccount &q : f.prepared)
		check_queue(q, out);
	for (const QueueAccount &q : f.read_back)
		check_queue(q, out);
	check_bytes(f, 0, f.ftl, out);
	for (const NamespaceFigures &part : f.namespaces)
		check_bytes(f, part.nsid, part.ftl, out);
	check_map(f, out);
	/* On a shared device these are differences between two moments at which locks and channels
	 * were in use. */
	if (!f.attached) {
		check_channels(f, out);
		check_locks(f, out);
	}
	check_accounts(f, out);
	return out;
}

std::string digest_of(const RunFacts &f)
{
	Digest d;
	for (const QueueAccount &q : f.queues) {
		d.u16(uint16_t(q.qid));
		d.u64(q.completed);
		d.u64(q.digest.value());
	}
	d.bytes(raw(f.harts));
	d.bytes(raw(f.flash));
	d.u64(f.locks.size());
	for (const hz_lock_entry &lock : f.locks)
		d.bytes(raw(lock));
	d.bytes(raw(f.ftl));
	return d.text();
}

} // namespace hz::res
