/* Tailor: all times count from the start of the phase. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/tailor.hpp"

#include <algorithm>
#include <utility>

namespace hz::replay {

using wl::Op;
using wl::Request;
using wl::Step;

void Tailor::begin_measurement()
{
	source_->begin_measurement();
	figures_ = {};
	ended_ = false;
	now_ns_ = taken_ns_ = issued_ns_ = 0;
}

bool Tailor::is_tailored(const Request &request) const { return request.op == Op::write && request.lba >= rules_.first_lba; }

/* All that was taken before it must have ended before it leaves. */
bool Tailor::is_barrier(const Request &request) const
{
	switch (request.op) {
	case Op::read:
	case Op::deallocate:
	case Op::write: return false;
	default: return true;
	}
}

Step Tailor::next(Request &request)
{
	while (ready_.empty()) {
		if (!have_pending_) {
			const Step step = fetch();
			if (step != Step::issue)
				return step;
			continue;
		}
		if (release_held_since(pending_ns_))
			break;
		if (is_barrier(pending_) && !pass_barrier()) {
			if (ready_.empty())
				return Step::blocked;
			break;
		}
		place();
	}
	issue(request);
	return Step::issue;
}

/* Takes the next command of the source, or issues ready ones; else returns the reason to wait. */
Step Tailor::fetch()
{
	if (sectors_ >= rules_.memory)
		return wait(Step::blocked, Release::memory);
	const Step step = ended_ ? Step::done : source_->next(pending_);
	ended_ = step == Step::done;
	if (step != Step::issue)
		return wait(step, Release::idle);
	pending_ns_ = taken_ns_ = std::max(std::max(now_ns_, taken_ns_) + pending_.think_ns, pending_.not_before_ns);
	have_pending_ = true;
	return Step::issue;
}

/* Commands under way will end, and more parts may then join the held ones. */
Step Tailor::wait(Step step, Release why)
{
	if (release_held_since(now_ns_))
		return Step::issue;
	if (under_way_ && step == Step::blocked)
		return step;
	const bool more = why == Release::memory ? release_oldest(why) : release_all(why);
	return more ? Step::issue : step;
}

void Tailor::place()
{
	have_pending_ = false;
	if (is_tailored(pending_))
		return take_write();
	figures_.passed++;
	ready_.push_back({std::move(pending_), pending_ns_});
}

/* false: writes before it have not ended. */
bool Tailor::pass_barrier()
{
	const bool all = pending_.op == Op::flush || pending_.op == Op::reset_all;
	bool free = true;
	for (auto &[number, zone] : zones_) {
		if (!all && number != zone_of(pending_.lba))
			continue;
		release(zone, pending_.op == Op::flush ? Release::flush : Release::zone_command, pending_ns_);
		free &= !zone.under_way;
	}
	return free;
}

void Tailor::take_write()
{
	uint32_t slot = uint32_t(writes_.size());
	if (free_writes_.empty()) {
		writes_.emplace_back();
	} else {
		slot = free_writes_.back();
		free_writes_.pop_back();
	}
	const uint64_t lba = pending_.lba;
	const uint32_t sectors = pending_.sectors;
	const bool durable = pending_.fua || pending_.durable;
	writes_[slot] = {.request = std::move(pending_), .taken_ns = pending_ns_};
	figures_.writes++;
	figures_.sectors += sectors;
	sectors_ += sectors;
	uint32_t parts = 0;
	for (uint32_t done = 0; done < sectors; parts++)
		done += put_part(slot, lba + done, done);
	figures_.split += parts > 1;
	if (durable)
		release(zones_[zone_of(lba)], Release::durable, pending_ns_);
}

/* Add the part up to the end of its superpage to the held data of its zone. Returns its sectors. */
uint32_t Tailor::put_part(uint32_t write, uint64_t lba, uint32_t skipped)
{
	const Request &request = writes_[write].request;
	Zone &zone = zones_[zone_of(lba)];
	const Request &begun = zone.held.command;
	if (begun.sectors && (begun.lba + begun.sectors != lba || begun.cause != request.cause))
		release(zone, Release::rest, pending_ns_);
	Held &held = zone.held;
	const uint64_t offset = lba % rules_.zone_size,
		       unit_end = std::min(offset - offset % rules_.unit + rules_.unit, rules_.zone_capacity);
	const uint32_t wanted = request.sectors - skipped;
	const uint32_t sectors = offset < unit_end ? uint32_t(std::min<uint64_t>(wanted, unit_end - offset)) : wanted;
	if (!held.command.sectors) {
		held.command = {.op = Op::write, .cause = request.cause, .lba = lba, .tag = 0, .stamps = {}};
		held.since_ns = pending_ns_;
	}
	held.command.sectors += sectors;
	held.command.fua |= request.fua;
	held.command.durable |= request.durable;
	held.command.not_before_ns = request.not_before_ns;
	const auto first = request.stamps.begin() + skipped;
	held.command.stamps.insert(held.command.stamps.end(), first, first + sectors);
	held.writes.push_back(write);
	held.last_ns = pending_ns_;
	writes_[write].commands++;
	held_sectors_ += sectors;
	figures_.most_held_sectors = std::max(figures_.most_held_sectors, held_sectors_);
	if (offset + sectors >= unit_end)
		release(zone, Release::rest, pending_ns_);
	return sectors;
}

bool Tailor::release(Zone &zone, Release why, uint64_t at_ns)
{
	if (!zone.held.command.sectors)
		return false;
	const Request &command = zone.held.command;
	const bool whole = command.sectors == rules_.unit && command.lba % rules_.zone_size % rules_.unit == 0;
	whole ? figures_.superpages++ : figures_.partial[size_t(why)]++;
	held_sectors_ -= command.sectors;
	emit(std::move(zone.held), zone, at_ns);
	zone.held = {};
	return true;
}

bool Tailor::release_all(Release why)
{
	bool any = false;
	for (auto &[number, zone] : zones_)
		any |= release(zone, why, zone.held.last_ns);
	return any;
}

bool Tailor::release_oldest(Release why)
{
	Zone *oldest = nullptr;
	for (auto &[number, zone] : zones_)
		if (zone.held.command.sectors && (!oldest || zone.held.since_ns < oldest->held.since_ns))
			oldest = &zone;
	return oldest && release(*oldest, why, oldest->held.last_ns);
}

bool Tailor::release_held_since(uint64_t now_ns)
{
	bool any = false;
	for (auto &[number, zone] : zones_)
		if (zone.held.command.sectors && zone.held.since_ns + rules_.hold_ns < now_ns)
			any |= release(zone, Release::hold, zone.held.since_ns + rules_.hold_ns);
	return any;
}

/* A superpage may exceed one command: then it is split into equal parts, and the last one ends all
 * writes that have not ended before. */
void Tailor::emit(Held held, Zone &zone, uint64_t at_ns)
{
	const uint32_t parts = (held.command.sectors + rules_.max_transfer - 1) / rules_.max_transfer;
	const uint32_t each = (held.command.sectors + parts - 1) / parts;
	for (const uint32_t number : held.writes) {
		Write &write = writes_[number];
		write.commands += parts - 1;
		if (held.writes.size() > 1 && !std::exchange(write.grouped, true))
			figures_.grouped++;
		if (write.request.lba + write.request.sectors <= held.command.lba + held.command.sectors)
			figures_.held_ns.add(std::max(at_ns, write.taken_ns) - write.taken_ns);
	}
	for (uint32_t done = 0; done < held.command.sectors; done += each) {
		Request part = held.command;
		part.lba += done;
		part.sectors = std::min(each, held.command.sectors - done);
		const auto first = held.command.stamps.begin() + done;
		part.stamps.assign(first, first + part.sectors);
		commands_[part.lba] = held.writes;
		zone.under_way++;
		ready_.push_back({std::move(part), at_ns});
	}
}

/* The delay that the thread adds after a cause. For requests with a time of their own it is that
 * time. */
void Tailor::issue(Request &request)
{
	Ready &first = ready_.front();
	const uint64_t base_ns = std::max(now_ns_, issued_ns_), at_ns = std::max(base_ns, first.at_ns);
	request = std::move(first.request);
	ready_.pop_front();
	const bool timed = request.not_before_ns != 0;
	if (!timed || is_tailored(request))
		request.think_ns = timed ? 0 : at_ns - base_ns;
	if (timed && is_tailored(request))
		request.not_before_ns = at_ns;
	issued_ns_ = at_ns;
	under_way_++;
}

void Tailor::complete(const Request &request, uint16_t status, uint64_t result)
{
	under_way_--;
	const auto command = request.op == Op::write ? commands_.find(request.lba) : commands_.end();
	if (command == commands_.end())
		return source_->complete(request, status, result);
	const std::vector<uint32_t> writes = std::move(command->second);
	commands_.erase(command);
	const auto zone = zones_.find(zone_of(request.lba));
	if (!--zone->second.under_way && !zone->second.held.command.sectors)
		zones_.erase(zone);
	for (const uint32_t write : writes)
		end_part(write, status, result);
}

void Tailor::end_part(uint32_t number, uint16_t status, uint64_t result)
{
	Write &write = writes_[number];
	if (!write.status) {
		write.status = status;
		write.result = result;
	}
	if (--write.commands)
		return;
	const Write ended = std::move(write);
	sectors_ -= ended.request.sectors;
	free_writes_.push_back(number);
	figures_.latency_ns.add(std::max(now_ns_, ended.taken_ns) - ended.taken_ns);
	source_->complete(ended.request, ended.status, ended.result);
}

} // namespace hz::replay
