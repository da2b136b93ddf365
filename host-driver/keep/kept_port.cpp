// KeptPort: translation and acknowledgements.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/kept_port.hpp"

namespace hz {

using wl::Op;

uint64_t KeptPort::submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns)
{
	wl::Request there = request;
	if (request.op == Op::reset_all && !view_.whole())
		throw wl::WorkloadError(
			"the workload resets all zones, but some of the image hold data of earlier runs: --format-image erases them");
	if (request.op != Op::flush)
		there.lba = view_.to_device(request.lba);
	if (cid >= commands_.size())
		commands_.resize(cid + 1u);
	commands_[cid] = {there.op, {there.lba, {}}, there.durable || there.fua, durable_ + volatile_.size()};
	if (record_ && (there.op == Op::write || there.op == Op::append))
		commands_[cid].written.stamps = there.stamps;
	if (record_ && (there.op == Op::reset || there.op == Op::reset_all))
		note_reset(there.op, there.lba);
	if (record_ && (there.op == Op::deallocate || there.again))
		note_gone(there.lba, there.sectors);
	return behind_.submit(cid, there, arrival_ns);
}

// It counts from its submission: from then on the zone may be empty.
void KeptPort::note_reset(Op op, uint64_t lba)
{
	const bool all = op == Op::reset_all;
	all ? record_->revoke_all() : record_->revoke(lba, view_.zone_size());
	for (Written &write : volatile_)
		if (all || (write.lba >= lba && write.lba - lba < view_.zone_size()))
			write.stamps.clear();
}

// The same for sectors, which may hold what is written in their place from then on.
void KeptPort::note_gone(uint64_t lba, uint64_t sectors)
{
	record_->revoke(lba, sectors);
	for (Written &write : volatile_)
		if (write.lba < lba + sectors && lba < write.lba + write.stamps.size())
			write.stamps.clear();
}

void KeptPort::make_durable(uint64_t up_to)
{
	for (; durable_ < up_to && !volatile_.empty(); durable_++) {
		note_promise(volatile_.front());
		volatile_.pop_front();
	}
}

// Without the sectors that a later write has promised already.
void KeptPort::note_promise(const Written &write)
{
	const std::span<const wl::Stamp> all(write.stamps);
	for (size_t first = 0, end; first < all.size(); first = end) {
		const bool newest = all[first] != wl::Stamp();
		for (end = first + 1; end < all.size() && newest == (all[end] != wl::Stamp());)
			end++;
		if (newest)
			record_->promise(write.lba + first, seed_, all.subspan(first, end - first));
	}
}

// A completed write to sectors that can be overwritten. Older acknowledgements of them are revoked.
void KeptPort::make_sectors_durable()
{
	const Written now = std::move(volatile_.back());
	volatile_.pop_back();
	volatile_.push_back({now.lba, {}});
	for (Written &write : volatile_)
		for (size_t i = 0; i < write.stamps.size(); i++)
			if (write.lba + i >= now.lba && write.lba + i - now.lba < now.stamps.size())
				write.stamps[i] = {};
	note_promise(now);
}

// A durable write makes its zone durable up to its own end, including earlier writes.
void KeptPort::make_zone_durable(uint64_t lba)
{
	for (Written &write : volatile_)
		if (write.lba / view_.zone_size() == lba / view_.zone_size() && write.lba <= lba) {
			note_promise(write);
			write.stamps.clear();
		}
	while (!volatile_.empty() && volatile_.front().stamps.empty())
		make_durable(durable_ + 1);
}

void KeptPort::note_completed(Command &command, uint64_t result)
{
	if (command.op == Op::flush)
		make_durable(command.completed);
	if (command.op == Op::append)
		command.written.lba = result;
	if (command.op != Op::write && command.op != Op::append)
		return;
	volatile_.push_back(std::move(command.written));
	if (!volatile_cache_)
		settle();
	else if (command.durable && view_.sequential(volatile_.back().lba))
		make_zone_durable(volatile_.back().lba);
	else if (command.durable)
		make_sectors_durable();
}

std::span<const Completion> KeptPort::wait(unsigned wanted)
{
	const auto done = behind_.wait(wanted);
	batch_.assign(done.begin(), done.end());
	for (Completion &completion : batch_) {
		Command &command = commands_[completion.cid];
		if (completion.status)
			continue;
		if (record_)
			note_completed(command, completion.result);
		if (command.op == Op::append)
			completion.result = view_.from_device(completion.result);
	}
	return batch_;
}

void KeptPort::settle() { make_durable(durable_ + volatile_.size()); }

} // namespace hz
