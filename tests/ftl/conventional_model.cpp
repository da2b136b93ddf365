// Possible contents of a conventional sector, and a driver that runs batches of operations against FTL and model.
// SPDX-License-Identifier: BSD-3-Clause
#include "conventional_model.hpp"

namespace ftl_rig {

void ConventionalSector::write(uint64_t batch, uint64_t tag)
{
	if (groups.back().batch != batch)
		groups.push_back({batch, {}});
	groups.back().tags.push_back(tag);
}

void ConventionalSector::flushed(uint64_t batch)
{
	while (groups.size() > 1 && groups[1].batch < batch)
		groups.erase(groups.begin());
}

void ConventionalSector::failed(uint64_t batch)
{
	if (groups.back().batch == batch && groups.size() > 1) {
		const std::vector<uint64_t> &old = groups[groups.size() - 2].tags;
		groups.back().tags.insert(groups.back().tags.end(), old.begin(), old.end());
	}
}

void ConventionalSector::may_be_lost()
{
	while (groups.size() > 1) {
		groups[1].tags.insert(groups[1].tags.end(), groups[0].tags.begin(), groups[0].tags.end());
		groups.erase(groups.begin());
	}
}

void ConventionalSector::copy(uint64_t batch, const ConventionalSector &other)
{
	std::vector<uint64_t> found = other.groups.back().tags;
	if (other.groups.back().batch == batch && other.groups.size() > 1) {
		const std::vector<uint64_t> &old = other.groups[other.groups.size() - 2].tags;
		found.insert(found.end(), old.begin(), old.end());
	}
	for (uint64_t tag : found)
		if (groups.back().batch != batch || !std::count(groups.back().tags.begin(), groups.back().tags.end(), tag))
			write(batch, tag);
}

bool ConventionalSector::may_read_during(uint64_t batch, const uint8_t *page) const
{
	size_t last = groups.size() - 1;
	return holds(groups[last], page) || (groups[last].batch == batch && last && holds(groups[last - 1], page));
}

bool ConventionalSector::may_be_marked_during(uint64_t batch) const
{
	std::vector<uint8_t> page(HZ_SECTOR_BYTES);
	fill_sector(page.data(), marked_tag);
	return may_read_during(batch, page.data());
}

bool ConventionalSector::recover(const uint8_t *page)
{
	for (const Group &group : groups)
		for (uint64_t tag : group.tags)
			if (sector_is(page, tag)) {
				groups = {{0, {tag}}};
				return true;
			}
	return false;
}

bool ConventionalSector::holds(const Group &group, const uint8_t *page)
{
	return std::any_of(group.tags.begin(), group.tags.end(), [page](uint64_t tag) { return sector_is(page, tag); });
}

ConventionalDriver::ConventionalDriver(Rig &rig_, uint64_t seed)
	: rig(rig_), random(seed), capacity(static_cast<uint32_t>(rig_.shape.zone_capacity_sectors)),
	  sectors(rig_.shape.conventional_zones * capacity)
{
}

void ConventionalDriver::begin(const std::vector<ConventionalOp> &ops)
{
	running_.clear();
	batch_++;
	for (const ConventionalOp &op : ops)
		running_.push_back(issue(op));
}

bool ConventionalDriver::end()
{
	bool cut = lt_load(&rig.media.off) != 0;
	settle_all(cut);
	return !cut;
}

bool ConventionalDriver::run_batch(const std::vector<ConventionalOp> &ops)
{
	begin(ops);
	lt_host_run_until_idle();
	return end();
}

uint64_t ConventionalDriver::run_cancelled_batch(const std::vector<ConventionalOp> &ops, uint64_t after_ns)
{
	uint64_t reset_ns, last_ns;
	begin(ops);
	lt_host_run_until(clock_now_ns() + after_ns);
	last_ns = reset_ns = clock_now_ns();
	rig.cancel([this] { return std::all_of(running_.begin(), running_.end(), [](const Running &r) { return r.request->done; }); });
	settle_all(false);
	for (Running &run : running_) {
		last_ns = std::max(last_ns, run.request->answered_ns);
		cancelled += run.request->status() == NVME_ABORT_REQUESTED;
		cancelled_updates += run.request->status() == NVME_ABORT_REQUESTED && run.op.kind == FTL_PLACEMENT_UPDATE;
	}
	return last_ns - reset_ns;
}

std::vector<ConventionalOp> ConventionalDriver::random_batch(uint32_t most)
{
	std::vector<ConventionalOp> ops;
	for (uint32_t n = 1 + roll(most); n; n--) {
		uint32_t dice = roll(100), count = 1 + roll(roll(4) ? 6 : 40), lba = pick_place();
		uint8_t fua = roll(6) ? 0 : FTL_FUA;
		if (roll(100) < deallocations)
			ops.push_back({FTL_DEALLOCATE, lba, roll(4) ? count : 1 + roll(100), fua});
		else if (dice < 4)
			ops.push_back({FTL_COPY, lba, count, fua, roll(sector_count())});
		else if (dice < 62)
			ops.push_back({FTL_WRITE, lba, count, fua});
		else if (dice == 62)
			ops.push_back({FTL_WRITE_UNCORRECTABLE, lba, count, fua});
		else if (dice < 66)
			ops.push_back({FTL_WRITE_ZEROES, lba, count, static_cast<uint8_t>(fua | (roll(2) ? FTL_FREES : 0))});
		else if (dice < 74)
			ops.push_back({roll(2) ? FTL_COMPARE : FTL_VERIFY, roll(sector_count()), 1 + roll(60)});
		else if (dice < 92)
			ops.push_back({FTL_READ, roll(sector_count()), 1 + roll(60)});
		else
			ops.push_back({FTL_FLUSH, 0, 0});
	}
	if (rig.cfg.fdp_handles)
		place(ops);
	return ops;
}

// On a device with reclaim unit handles: writes name one, and some of them are updated.
void ConventionalDriver::place(std::vector<ConventionalOp> &ops)
{
	for (ConventionalOp &op : ops)
		op.placement = pick_handle(true);
	if (roll(4) == 0)
		ops.push_back({FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, pick_handle(false)});
}

template <typename F> void ConventionalDriver::each_sector(F visit)
{
	for (uint32_t at = 0, count; at < sector_count(); at += count) {
		count = std::min(32u, room_at(at));
		Request read(FTL_READ, lba_of(at), count);
		ASSERT_EQ(rig.run_over_marks(read), 0);
		for (uint32_t i = 0; i < count; i++)
			visit(at + i, read.pages[i]);
		ASSERT_FALSE(testing::Test::HasFailure());
	}
}

void ConventionalDriver::verify_all()
{
	each_sector([this](uint32_t at, const uint8_t *page) {
		EXPECT_TRUE(sectors[at].may_read(page)) << "conventional sector " << at << " reads wrong";
	});
}

void ConventionalDriver::check_recovered()
{
	ASSERT_EQ(rig.check(), "");
	each_sector([this](uint32_t at, const uint8_t *page) {
		EXPECT_TRUE(sectors[at].recover(page)) << "conventional sector " << at << " is neither old nor new";
	});
}

void ConventionalDriver::all_durable()
{
	batch_++;
	for (ConventionalSector &sector : sectors)
		sector.flushed(batch_);
}

void ConventionalDriver::churn()
{
	const uint32_t handles = rig.cfg.fdp_handles;
	const auto handle = [&] { return static_cast<uint16_t>(handles ? roll(handles) : 0); };
	for (int i = 0; i < 12; i++) {
		std::vector<ConventionalOp> ops;
		for (int n = 0; n < 30; n++)
			ops.push_back(
				{FTL_WRITE, roll(sector_count()), 1 + roll(40), static_cast<uint8_t>(roll(9) ? 0 : FTL_FUA), 0, handle()});
		if (handles)
			ops.push_back({FTL_PLACEMENT_UPDATE, 0, 1, 0, 0, handle()});
		ops.push_back({FTL_FLUSH, 0, 0});
		ASSERT_TRUE(run_batch(ops));
		ASSERT_EQ(rig.check(), "");
		ASSERT_FALSE(testing::Test::HasFailure());
	}
}

void ConventionalDriver::fill(uint32_t step)
{
	for (uint32_t at = 0; at < sector_count(); at += step)
		ASSERT_TRUE(run_batch({{FTL_WRITE, at, std::min(step, sector_count() - at)}}));
}

void ConventionalDriver::name_sources(Running &run) const
{
	const uint32_t first = (run.op.sectors + 1) / 2, rest = run.op.sectors - first;
	std::vector<std::pair<uint64_t, uint32_t>> sources{{lba_of(run.op.from), first}};
	if (rest)
		sources.emplace_back(lba_of(run.op.from) + first, rest);
	run.request->name_sources(sources);
}

ConventionalDriver::Running ConventionalDriver::issue(ConventionalOp op)
{
	op.sectors = std::min(op.sectors, room_at(op.lba));
	if (op.kind == FTL_COPY)
		op.sectors = std::min(op.sectors, room_at(op.from));
	if (rig.cfg.plp_mode == HZ_PLP_FULL && writes_data(op.kind)) // as the HIL does
		op.flags |= FTL_FUA;
	Running run{op, std::make_unique<Request>(op.kind, lba_of(op.lba), op.sectors, op.flags), next_tag};
	run.request->req.placement = op.placement;
	if (op.kind == FTL_PLACEMENT_UPDATE)
		run.request->name_handles({op.placement});
	if (op.kind == FTL_WRITE_ZEROES || op.kind == FTL_DEALLOCATE)
		run.tag = 0;
	if (op.kind == FTL_DEALLOCATE)
		run.request->name_ranges({{0, op.sectors, lba_of(op.lba)}});
	if (op.kind == FTL_COPY)
		name_sources(run);
	if (op.kind == FTL_COMPARE)
		expect(run);
	if (op.kind == FTL_WRITE)
		for (auto *page : run.request->pages)
			fill_sector(page, next_tag++);
	rig.submit(*run.request, roll(rig.cfg.worker_count));
	return run;
}

void ConventionalDriver::expect(Running &run)
{
	for (uint32_t i = 0; i < run.op.sectors; i++)
		fill_sector(run.request->pages[i], sectors[run.op.lba + i].groups.back().tags.back());
	run.differs = roll(2);
	if (run.differs)
		fill_sector(run.request->pages[roll(run.op.sectors)], foreign_tag);
}

bool ConventionalDriver::is_certain(const Running &run) const
{
	return std::all_of(&sectors[run.op.lba], &sectors[run.op.lba] + run.op.sectors, [this](const ConventionalSector &sector) {
		const ConventionalSector::Group &last = sector.groups.back();
		return last.batch != batch_ && last.tags == std::vector<uint64_t>(last.tags.size(), last.tags.back());
	});
}

bool ConventionalDriver::met_a_mark(const Running &run) const
{
	const ConventionalSector *from = &sectors[run.op.kind == FTL_COPY ? run.op.from : run.op.lba];
	return run.request->status() == NVME_HZ_MARKED && (is_read(run.op.kind) || run.op.kind == FTL_COPY) &&
	       std::any_of(from, from + run.op.sectors, [this](const ConventionalSector &s) { return s.may_be_marked_during(batch_); });
}

void ConventionalDriver::settle_compare(const Running &run)
{
	uint16_t status = run.request->status();
	if (met_a_mark(run))
		return;
	bool certain = run.differs || is_certain(run), unreadable = reads_may_fail && status == NVME_UNRECOVERED_READ;
	EXPECT_TRUE(unreadable || status == 0 || status == NVME_COMPARE_FAILURE) << "compare status " << status;
	EXPECT_TRUE(unreadable || !certain || (status != 0) == run.differs)
		<< "compare of " << run.op.sectors << " sectors from " << run.op.lba << " is wrong";
}

void ConventionalDriver::note_write(Running &run)
{
	for (uint32_t i = 0; i < run.op.sectors; i++)
		sectors[run.op.lba + i].write(batch_, run.op.kind == FTL_WRITE_UNCORRECTABLE ? marked_tag : run.tag ? run.tag + i : 0);
}

void ConventionalDriver::note_copy(const Running &run)
{
	const std::vector<ConventionalSector> from(&sectors[run.op.from],
						   &sectors[run.op.from] + run.op.sectors); // they may overlap
	for (uint32_t i = 0; i < run.op.sectors; i++)
		sectors[run.op.lba + i].copy(batch_, from[i]);
}

void ConventionalDriver::settle_all(bool cut)
{
	for (Running &run : running_)
		if ((writes_data(run.op.kind) && run.op.kind != FTL_COPY) || run.op.kind == FTL_DEALLOCATE)
			note_write(run);
	for (size_t i = 0; i < running_.size(); i++) // a copy may be of another one's result
		for (Running &run : running_)
			if (run.op.kind == FTL_COPY)
				note_copy(run);
	for (Running &run : running_) // reads first: a later write of the batch may have replaced the data they saw
		if (is_read(run.op.kind))
			settle(run, cut);
	for (Running &run : running_)
		if (!is_read(run.op.kind))
			settle(run, cut);
}

void ConventionalDriver::settle(Running &run, bool cut)
{
	if (!run.request->done) {
		EXPECT_TRUE(cut) << "op " << run.op.kind << " at " << run.op.lba << " never completed";
		return;
	}
	uint16_t status = run.request->status();
	bool ended = status == NVME_ABORT_REQUESTED;
	if (run.op.kind == FTL_COMPARE && !ended) {
		settle_compare(run);
		return;
	}
	if (is_read(run.op.kind) && met_a_mark(run))
		return;
	if (is_read(run.op.kind) && !ended) {
		EXPECT_TRUE(!status || (reads_may_fail && status == NVME_UNRECOVERED_READ)) << "read status " << status;
		for (uint32_t i = 0; i < run.op.sectors && !status && run.op.kind == FTL_READ; i++)
			EXPECT_TRUE(sectors[run.op.lba + i].may_read_during(batch_, run.request->pages[i]))
				<< "conventional sector " << run.op.lba + i << " reads wrong";
		return;
	}
	EXPECT_TRUE(!status || writes_may_fail || ended || (reads_may_fail && run.op.kind == FTL_COPY) || met_a_mark(run))
		<< "op " << run.op.kind << " at " << run.op.lba << " status " << status;
	refused = refused || status;
	if (status) {
		for (uint32_t i = 0;
		     i < run.op.sectors && !is_read(run.op.kind) && run.op.kind != FTL_FLUSH && run.op.kind != FTL_PLACEMENT_UPDATE; i++)
			sectors[run.op.lba + i].failed(batch_);
		for (ConventionalSector &sector : sectors)
			if (run.op.kind == FTL_FLUSH && !ended)
				sector.may_be_lost();
		return;
	}
	if (run.op.kind == FTL_FLUSH)
		for (ConventionalSector &sector : sectors)
			sector.flushed(batch_);
	else if (run.op.flags & FTL_FUA)
		for (uint32_t i = 0; i < run.op.sectors; i++)
			sectors[run.op.lba + i].flushed(batch_ + 1);
}

} // namespace ftl_rig
