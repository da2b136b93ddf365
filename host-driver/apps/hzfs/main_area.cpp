// MainArea: section counters; the device's own are read at the start, and after a failed write.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hzfs/main_area.hpp"

#include <algorithm>
#include <string>

namespace hz::fs {

using store::block_bytes;
using store::Damaged;
using store::NoSpace;
using store::Safety;

MainArea::MainArea(store::ZonedDevice &device, const Head &head)
	: device_(device), zoned_(device.shape().zones), first_(head.first), blocks_(head.section_blocks), sections_(head.sections),
	  owners_(uint64_t(head.sections) * head.section_blocks), logs_(head.logs)
{
	for (uint32_t i = 0; i < sections_.size(); i++) {
		const store::ZoneState state = zoned_ ? device_.state(i) : store::ZoneState{blocks_, true};
		sections_[i].written = sections_[i].durable = uint32_t(state.written);
		sections_[i].writable = state.writable;
	}
}

void MainArea::read(Address from, std::span<std::byte> data)
{
	if (zoned_)
		device_.read(section_of(from), block_of(from), data);
	else
		device_.read_plain(first_ + from - 1, data);
}

uint32_t MainArea::room(Temperature temperature) const
{
	const uint32_t section = log(temperature).section;
	return section == no_section ? 0 : blocks_ - sections_[section].written;
}

bool MainArea::has_slack(uint32_t section) const
{
	const Section &one = sections_[section];
	const bool free = section == slack_.section || (one.alive && !one.open && !one.chained);
	return free && one.writable && one.written == blocks_ && one.alive < blocks_;
}

uint64_t MainArea::slack() const
{
	uint64_t blocks = 0;
	for (uint32_t i = 0; slack_wanted() && i < sections_.size(); i++)
		blocks += has_slack(i) ? blocks_ - sections_[i].alive : 0;
	return blocks;
}

// The next dead blocks; none: there are none behind the last ones.
MainArea::Gap MainArea::gap() const
{
	const auto dead = [&](uint32_t block) { return !owner(address(slack_.section, block)).file; };
	Gap found{slack_block_, 0};
	while (found.block < blocks_ && !dead(found.block))
		found.block++;
	while (found.block + found.blocks < blocks_ && dead(found.block + found.blocks))
		found.blocks++;
	return found;
}

// Open the section with most slack; false: none has any.
bool MainArea::open_slack()
{
	if (slack_.section != no_section)
		close(slack_);
	for (uint32_t i = 0; i < sections_.size(); i++)
		if (has_slack(i) && (slack_.section == no_section || sections_[i].alive < sections_[slack_.section].alive))
			slack_.section = i;
	if (slack_.section == no_section)
		return false;
	sections_[slack_.section].open = true;
	slack_block_ = 0;
	return true;
}

// The log for data that have no section of their own; nullptr: use an empty section. Nodes always
// do: inodes form a row, and maps are few.
MainArea::Log *MainArea::slack_log(Temperature temperature)
{
	if (temperature < Temperature::hot_data || log(temperature).section != no_section || !slack_wanted())
		return nullptr;
	return (slack_.section != no_section && gap().blocks) || open_slack() ? &slack_ : nullptr;
}

void MainArea::count()
{
	empty_ = writable_ = 0;
	for (const Section &one : sections_) {
		writable_ += one.writable;
		empty_ += one.writable && !one.written && !one.open;
	}
}

void MainArea::open(Log &log)
{
	const auto found = std::find_if(sections_.begin(), sections_.end(),
					[](const Section &one) { return one.writable && !one.written && !one.open; });
	if (found == sections_.end())
		throw NoSpace("no section of the device is left to write to");
	found->open = true;
	log.section = uint32_t(found - sections_.begin());
	count();
}

void MainArea::close(Log &log)
{
	sections_[log.section].open = false;
	some_dead_ |= !sections_[log.section].alive;
	log.section = no_section;
	count();
}

void MainArea::ask_again(Log &log)
{
	if (!zoned_)
		return;
	const store::ZoneState state = device_.state(log.section);
	Section &one = sections_[log.section];
	one.written = uint32_t(state.written);
	one.writable = state.writable;
	if (!one.writable || one.written == blocks_)
		close(log);
}

void MainArea::put(uint32_t section, uint32_t block, std::span<const std::byte> data, Safety safety)
{
	if (zoned_)
		device_.write(section, block, data, safety);
	else
		device_.write_plain(first_ + uint64_t(section) * blocks_ + block, data, safety);
	note_written(section, block, uint32_t(data.size() / block_bytes), safety == Safety::durable);
}

void MainArea::note_written(uint32_t section, uint32_t block, uint32_t blocks, bool durable)
{
	Section &one = sections_[section];
	one.written = std::max(one.written, block + blocks);
	if (!durable)
		one.durable = std::min(one.durable, block);
	else if (zoned_ || one.durable == block)
		one.durable = std::max(one.durable, block + blocks);
	clock_ += blocks;
	one.touched = clock_;
}

// Write the part that fits into the log's section.
template <typename Put> MainArea::Row MainArea::put_row(Temperature temperature, size_t wanted, Put put)
{
	Log *const slack = slack_log(temperature);
	Log &to = slack ? *slack : log(temperature);
	if (to.section == no_section)
		open(to);
	const uint32_t section = to.section, written = sections_[section].written;
	const Gap here = slack ? gap() : Gap{written, blocks_ - written};
	const uint32_t block = here.block, blocks = std::min<uint32_t>(here.blocks, uint32_t(wanted));
	try {
		put(section, block, blocks);
	} catch (const store::DeviceError &) {
		ask_again(to);
		throw;
	}
	sections_[section].chained |= temperature == Temperature::hot_node;
	if (slack) {
		slack_written_ += blocks;
		slack_block_ = block + blocks;
	} else if (sections_[section].written == blocks_) {
		close(to);
	}
	return {address(section, block), blocks};
}

MainArea::Row MainArea::append(Temperature temperature, std::span<const std::byte> &data, Safety safety)
{
	const Row row = put_row(temperature, data.size() / block_bytes, [&](uint32_t section, uint32_t block, uint32_t blocks) {
		put(section, block, data.first(blocks * block_bytes), safety);
	});
	data = data.subspan(row.blocks * block_bytes);
	return row;
}

MainArea::Row MainArea::append_copies(Temperature temperature, std::span<const Address> &from)
{
	const Row row = put_row(temperature, from.size(), [&](uint32_t section, uint32_t block, uint32_t blocks) {
		std::vector<store::CopySource> extents;
		for (const Address at : from.first(blocks)) {
			const uint32_t source = section_of(at), first = block_of(at);
			if (!extents.empty() && extents.back().zone == source && extents.back().block + extents.back().blocks == first)
				extents.back().blocks++;
			else
				extents.push_back({source, first, 1});
		}
		device_.copy(section, block, extents);
		note_written(section, block, blocks, false);
	});
	from = from.subspan(row.blocks);
	return row;
}

MainArea::States MainArea::states(uint32_t segment_blocks) const
{
	States all;
	for (uint32_t section = 0; section < sections_.size(); section++)
		for (uint32_t first = 0; first < blocks_; first += segment_blocks) {
			const uint32_t end = std::min({first + segment_blocks, blocks_, sections_[section].written});
			uint32_t alive = 0;
			for (uint32_t block = first; block < end; block++)
				alive += owners_[address(section, block) - 1].file != 0;
			(end <= first ? all.free : alive < end - first ? all.dirty : all.valid)++;
		}
	return all;
}

bool MainArea::overwrite(Address at, std::span<const std::byte> block)
{
	if (!zoned_)
		device_.write_plain(first_ + at - 1, block, Safety::durable);
	else if (!device_.overwrite(section_of(at), block_of(at), block))
		return false;
	sections_[section_of(at)].touched = ++clock_;
	return true;
}

void MainArea::flush()
{
	device_.flush();
	for (Section &one : sections_)
		one.durable = one.written;
}

void MainArea::own(Address at, const Owner &owner)
{
	owners_[at - 1] = owner;
	sections_[section_of(at)].alive++;
}

void MainArea::release(Address at)
{
	owners_[at - 1] = {};
	some_dead_ |= !--sections_[section_of(at)].alive;
}

void MainArea::chain_saved()
{
	for (Section &one : sections_)
		one.chained = false;
	some_dead_ = true;
}

void MainArea::reset_dead()
{
	if (!some_dead_)
		return;
	for (uint32_t i = 0; i < sections_.size(); i++) {
		Section &one = sections_[i];
		if (!one.written || one.alive || one.open || one.chained || !one.writable)
			continue;
		if (zoned_)
			device_.reset(i);
		else
			device_.deallocate(first_ + uint64_t(i) * blocks_, blocks_);
		one.written = one.durable = 0;
	}
	some_dead_ = false;
	count();
}

void MainArea::adopt(Address at, const Owner &owner)
{
	const std::string who = "file " + std::to_string(owner.file);
	if (!at || at > owners_.size())
		throw Damaged(who + " claims block " + std::to_string(at) + ", which the device does not have");
	const std::string where = "block " + std::to_string(block_of(at)) + " of section " + std::to_string(section_of(at));
	if (block_of(at) >= sections_[section_of(at)].written)
		throw Damaged(who + " claims " + where + ", where the device has nothing: durable data were lost");
	if (owners_[at - 1].file)
		throw Damaged(who + " claims " + where + ", which is file " + std::to_string(owners_[at - 1].file) + "'s");
	own(at, owner);
}

// Any log but that of inodes; preferably the one that matches the section's last block.
unsigned MainArea::log_after_mount(uint32_t section) const
{
	const Owner &last = owners_[address(section, sections_[section].written - 1) - 1];
	const unsigned logs = unsigned(logs_.size());
	const Temperature guess = last.what & Owner::map ? Temperature::warm_node : Temperature::warm_data;
	unsigned wanted = log_of(guess, logs);
	for (unsigned i = 1; i < logs && logs_[wanted].section != no_section; i++)
		wanted = i;
	return wanted;
}

// Keep filling a partly written section, since the device may have no room for another active one.
void MainArea::begin(uint32_t chain_section, uint32_t chain_block)
{
	for (uint32_t i = 0; !zoned_ && i < sections_.size(); i++) {
		Section &one = sections_[i];
		while (one.written && !owners_[address(i, one.written - 1) - 1].file && !(i == chain_section && one.written == chain_block))
			one.written--;
		one.durable = one.written;
	}
	for (uint32_t i = 0; i < sections_.size(); i++) {
		Section &one = sections_[i];
		const bool chain = i == chain_section;
		if (one.written == blocks_ || !one.writable || (!chain && (!one.written || !one.alive)))
			continue;
		Log &log = logs_[chain ? 0 : log_after_mount(i)];
		if (log.section != no_section)
			continue;
		log.section = i;
		one.open = true;
	}
	some_dead_ = true;
	count();
}

} // namespace hz::fs
