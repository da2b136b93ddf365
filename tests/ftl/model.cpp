// A driver that runs batches of operations against FTL and model.
// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

namespace ftl_rig {

void Driver::begin(const std::vector<Op> &ops)
{
	running_.clear();
	for (const Op &op : ops)
		issue(op);
}

bool Driver::run_batch(const std::vector<Op> &ops)
{
	begin(ops);
	lt_host_run_until_idle();
	return end();
}

bool Driver::end()
{
	bool cut = lt_load(&rig.media.off) != 0;
	for (Running &run : running_)
		settle(run, cut);
	return !cut;
}

uint64_t Driver::run_cancelled_batch(const std::vector<Op> &ops, uint64_t after_ns)
{
	uint64_t reset_ns, last_ns;
	begin(ops);
	lt_host_run_until(clock_now_ns() + after_ns);
	last_ns = reset_ns = clock_now_ns();
	rig.cancel([this] { return std::all_of(running_.begin(), running_.end(), [](const Running &r) { return r.request->done; }); });
	for (Running &run : running_) {
		EXPECT_TRUE(run.request->done) << "op " << run.op.kind << " of zone " << run.op.zone << " was forgotten";
		last_ns = std::max(last_ns, run.request->answered_ns);
		cancelled += run.request->status() == NVME_ABORT_REQUESTED;
		settle(run, true);
	}
	return last_ns - reset_ns;
}

std::vector<Op> Driver::random_batch(uint32_t most)
{
	std::vector<Op> ops;
	for (uint32_t n = 1 + roll(most); n; n--)
		random_ops(ops);
	return ops;
}

void Driver::check_recovered()
{
	auto report = rig.report_zones();
	for (uint32_t z = 0; z < zones.size(); z++)
		check_recovered_zone(z, report[first + z]);
	ASSERT_EQ(rig.found_damage().lost_sectors + rig.found_damage().unknown_sectors, 0u) << "what is torn is no damage";
	ASSERT_EQ(rig.check(), "");
}

void Driver::check_cancelled()
{
	auto report = rig.report_zones();
	for (uint32_t z = 0; z < zones.size(); z++) {
		uint32_t durable = zones[z].durable;
		zones[z].durable = zones[z].acked;
		check_recovered_zone(z, report[first + z], true);
		zones[z].durable = std::min(durable, zones[z].acked);
	}
	ASSERT_EQ(rig.check(), "");
}

void Driver::verify_all()
{
	for (uint32_t z = 0; z < zones.size(); z++)
		verify_zone(z);
}

void Driver::all_durable()
{
	for (ModelZone &zone : zones) {
		zone.durable = zone.acked;
		zone.stays_full |= zone.full;
	}
}

void Driver::random_ops(std::vector<Op> &ops)
{
	uint32_t zone = roll(static_cast<uint32_t>(zones.size()));
	uint32_t dice = roll(100);
	for (const Op &op : ops)
		if (op.zone == zone && op.kind != FTL_WRITE && !is_read(op.kind) && op.kind != FTL_APPEND)
			return; // after a reset, finish … nothing more in this batch
	if (dice < 55)
		for (uint32_t n = 1 + roll(4); n; n--)
			ops.push_back({roll(4) ? FTL_WRITE : FTL_APPEND, zone, 1 + roll(roll(3) ? 8 : 40),
				       static_cast<uint8_t>(roll(4) ? 0 : FTL_FUA)});
	else if (dice < 58)
		ops.push_back({dice == 57 ? FTL_WRITE_UNCORRECTABLE : FTL_WRITE_ZEROES, zone, 1 + roll(20), 0});
	else if (dice < 75)
		ops.push_back({roll(3) ? FTL_READ : roll(2) ? FTL_COMPARE : FTL_VERIFY, zone, 1 + roll(60), 0});
	else if (dice < 82)
		ops.push_back({FTL_FLUSH, 0, 0, 0});
	else if (dice < 90)
		ops.push_back({FTL_ZONE_RESET, zone, 0, 0});
	else if (dice < 94)
		ops.push_back({FTL_ZONE_FINISH, zone, 0, 0});
	else if (dice < 97)
		ops.push_back({FTL_ZONE_OPEN, zone, 0, 0});
	else
		ops.push_back({FTL_ZONE_CLOSE, zone, 0, 0});
}

void Driver::issue(const Op &op)
{
	ModelZone &zone = zones[op.zone];
	uint32_t offset = static_cast<uint32_t>(zone.tags.size()), sectors = op.sectors;
	Running run{op, nullptr, offset, {}, {}, false, false};
	if (is_read(op.kind))
		run.offset = roll(capacity());
	if (is_read(op.kind) && run.offset + sectors > capacity())
		run.op.sectors = sectors = capacity() - run.offset;
	bool writes = op.kind == FTL_WRITE || op.kind == FTL_APPEND || op.kind == FTL_WRITE_ZEROES || op.kind == FTL_WRITE_UNCORRECTABLE;
	run.at_start = writes && op.kind != FTL_APPEND && offset == capacity();
	bool names_zone = op.kind == FTL_APPEND || op.kind >= FTL_ZONE_OPEN || (!is_read(op.kind) && offset == capacity());
	if (writes && rig.cfg.plp_mode == HZ_PLP_FULL) // as the HIL does
		run.op.flags |= FTL_FUA;
	run.request = std::make_unique<Request>(op.kind, lba_of(op.zone, names_zone ? 0 : run.offset), sectors, run.op.flags);
	if (op.kind == FTL_COMPARE)
		expect(run, zone);
	// Optimistic: taken back in Settle if it was refused.
	for (uint32_t i = 0; writes && i < sectors; i++) {
		run.tags.push_back(op.kind == FTL_WRITE_ZEROES ? 0 : op.kind == FTL_WRITE_UNCORRECTABLE ? marked_tag : next_tag++);
		fill_sector(run.request->pages[i], run.tags[i]);
	}
	if (writes && !zone.full && offset + sectors <= capacity())
		zone.tags.insert(zone.tags.end(), run.tags.begin(), run.tags.end());
	zone.reset_pending |= op.kind == FTL_ZONE_RESET;
	zone.finish_pending |= op.kind == FTL_ZONE_FINISH && !zone.full;
	for (const ModelZone &z : zones)
		run.acked.push_back(z.acked);
	rig.submit(*run.request, op.zone % rig.cfg.worker_count);
	running_.push_back(std::move(run));
	operations++;
}

void Driver::settle(Running &run, bool cut)
{
	ModelZone &zone = zones[run.op.zone];
	Request &request = *run.request;
	if (run.at_start && !zone.full && zone.accepted == 0) // all before it were refused, so it is the zone's first
		move_down(run, zone);
	if (!request.done || request.status() == NVME_ABORT_REQUESTED) {
		EXPECT_TRUE(cut) << "op " << run.op.kind << " of zone " << run.op.zone << " never completed";
		zone.unsure = true;
		if (run.op.kind == FTL_APPEND && run.offset != zone.accepted && !zone.full) // an earlier write of the batch was refused
			move_down(run, zone);
		if (run.tags.size() && run.offset == zone.accepted && run.offset + run.tags.size() <= capacity())
			accept(zone, run.offset + run.op.sectors);
		return;
	}
	switch (run.op.kind) {
	case FTL_WRITE:
	case FTL_APPEND:
	case FTL_WRITE_ZEROES:
	case FTL_WRITE_UNCORRECTABLE: settle_write(run, zone); break;
	case FTL_READ: settle_read(run, zone); break;
	case FTL_COMPARE:
		if (!settle_marks(run, zone))
			settle_compare(run);
		break;
	case FTL_VERIFY: EXPECT_TRUE(settle_marks(run, zone) || request.status() == 0) << request.status(); break;
	case FTL_FLUSH:
		EXPECT_EQ(request.status(), 0);
		for (size_t z = 0; z < zones.size(); z++)
			if (zones[z].durable < run.acked[z] && run.acked[z] <= zones[z].tags.size())
				zones[z].durable = run.acked[z];
		break;
	case FTL_ZONE_RESET:
		EXPECT_EQ(request.status(), 0);
		zone = ModelZone();
		break;
	case FTL_ZONE_FINISH:
		EXPECT_EQ(request.status(), 0);
		zone.finish_pending = false;
		if (!zone.full) { // else nothing had to be done
			zone.durable = zone.acked;
			zone.stays_full = true;
		}
		zone.full = true;
		break;
	default: EXPECT_TRUE(!zone.full || request.status() == NVME_ZONE_INVALID_TRANSITION); break;
	}
}

void Driver::accept(ModelZone &zone, uint32_t end)
{
	zone.accepted = end;
	zone.full |= end == capacity();
}

void Driver::move_down(Running &run, ModelZone &zone)
{
	run.offset = zone.accepted;
	zone.tags.resize(zone.accepted);
	if (run.offset + run.op.sectors <= capacity())
		zone.tags.insert(zone.tags.end(), run.tags.begin(), run.tags.end());
}

void Driver::settle_write(Running &run, ModelZone &zone)
{
	uint16_t status = run.request->status();
	bool refused_budget = status == NVME_TOO_MANY_ACTIVE || status == NVME_TOO_MANY_OPEN;
	if (zone.full) {
		EXPECT_EQ(status, NVME_ZONE_FULL);
		return;
	}
	if (refused_budget || (status == NVME_ZONE_INVALID_WRITE && (run.offset != zone.accepted || zone.unsure))) {
		EXPECT_TRUE(zone.accepted == 0 || status != NVME_TOO_MANY_ACTIVE) << "it is active already";
		zone.tags.resize(zone.accepted);
		return;
	}
	if (run.op.kind == FTL_APPEND && run.offset != zone.accepted) // an earlier write of the batch was refused
		move_down(run, zone);
	if (run.offset + run.op.sectors > capacity()) {
		EXPECT_TRUE(status == NVME_ZONE_BOUNDARY || status == NVME_ZONE_FULL) << status;
		return;
	}
	ASSERT_EQ(status, 0) << "write of zone " << run.op.zone << " at " << run.offset;
	EXPECT_TRUE(run.op.kind != FTL_APPEND || run.request->req.result == lba_of(run.op.zone, run.offset));
	accept(zone, run.offset + run.op.sectors);
	zone.acked = zone.accepted;
	if (run.op.flags & FTL_FUA)
		zone.durable = zone.accepted;
}

void Driver::settle_read(Running &run, ModelZone &zone)
{
	if (settle_marks(run, zone))
		return;
	ASSERT_EQ(run.request->status(), 0);
	for (uint32_t i = 0; i < run.op.sectors; i++) {
		uint32_t at = run.offset + i;
		bool written = at < zone.tags.size() && sector_is(run.request->pages[i], zone.tags[at]);
		bool zeros = sector_is(run.request->pages[i], 0);
		EXPECT_TRUE(written || (zeros && at >= run.acked[run.op.zone]))
			<< "zone " << run.op.zone << " sector " << at << " reads wrong";
	}
}

bool Driver::settle_marks(const Running &run, const ModelZone &zone)
{
	bool marked = run.request->status() == NVME_HZ_MARKED, certain = false, possible = false;
	for (uint32_t at = run.offset; at < run.offset + run.op.sectors && at < zone.tags.size(); at++) {
		possible |= zone.tags[at] == marked_tag;
		certain |= zone.tags[at] == marked_tag && at < run.acked[run.op.zone];
	}
	EXPECT_TRUE(marked ? possible : !certain)
		<< "zone " << run.op.zone << " from " << run.offset << ": status " << run.request->status();
	return marked;
}

void Driver::expect(Running &run, const ModelZone &zone)
{
	for (uint32_t i = 0; i < run.op.sectors; i++) {
		uint32_t at = run.offset + i;
		fill_sector(run.request->pages[i], at < zone.tags.size() ? zone.tags[at] : 0);
	}
	run.differs = roll(2);
	if (run.differs)
		fill_sector(run.request->pages[roll(run.op.sectors)], foreign_tag);
}

void Driver::settle_compare(const Running &run)
{
	uint16_t status = run.request->status();
	bool certain = run.differs || run.offset + run.op.sectors <= run.acked[run.op.zone];
	ASSERT_TRUE(status == 0 || status == NVME_COMPARE_FAILURE) << "compare status " << status;
	EXPECT_TRUE(!certain || (status != 0) == run.differs)
		<< "compare of " << run.op.sectors << " sectors of zone " << run.op.zone << " from " << run.offset << " is wrong";
}

void Driver::check_recovered_zone(uint32_t z, const nvme_zone_descriptor &found, bool running)
{
	ModelZone &zone = zones[z];
	uint8_t state = found.state >> 4;
	uint32_t wp = static_cast<uint32_t>(found.write_pointer - found.start);
	if (state == NVME_ZS_FULL) {
		bool was_full = zone.full || zone.finish_pending || zone.tags.size() == capacity();
		ASSERT_TRUE(was_full) << "zone " << z << " became full by itself";
		if (zone.tags.size() == capacity())
			zone.acked = capacity();
		wp = zone.full ? zone.acked : static_cast<uint32_t>(zone.tags.size());
		zone.full = true;
		zone.stays_full |= !running; // while it runs, the cause of FULL may still be in RAM
	} else {
		bool reset = zone.reset_pending && wp == 0;
		if (reset)
			zone = ModelZone();
		ASSERT_LE(zone.durable, wp) << "zone " << z << " lost durable data";
		ASSERT_LE(wp, zone.tags.size()) << "zone " << z << " has sectors nobody wrote";
		ASSERT_TRUE(running || state == (wp ? NVME_ZS_CLOSED : NVME_ZS_EMPTY)) << "zone " << z << " state " << int(state);
		ASSERT_FALSE(zone.full && zone.durable == capacity());
		ASSERT_FALSE(zone.stays_full) << "zone " << z << " was FULL";
		zone.full = false;
	}
	zone.tags.resize(wp);
	zone.accepted = zone.acked = zone.durable = wp;
	zone.reset_pending = zone.finish_pending = zone.unsure = false;
	verify_zone(z);
}

void Driver::verify_zone(uint32_t z)
{
	constexpr uint32_t most = 24; // larger buffers (128 KiB) are mapped again each time under AddressSanitizer
	for (uint32_t at = 0; at < capacity(); at += most) {
		uint32_t sectors = std::min(most, capacity() - at);
		Request read(FTL_READ, lba_of(z, at), sectors);
		ASSERT_EQ(rig.run_over_marks(read), 0);
		for (uint32_t i = 0; i < sectors; i++) {
			uint64_t tag = at + i < zones[z].tags.size() ? zones[z].tags[at + i] : 0;
			ASSERT_TRUE(sector_is(read.pages[i], tag)) << "zone " << z << " sector " << at + i;
		}
	}
}

} // namespace ftl_rig
