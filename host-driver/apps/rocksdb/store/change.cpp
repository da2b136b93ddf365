// Changes as bytes: kind, path, then the fields of the kind.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/store/change.hpp"

#include "storage/zoned_device.hpp"

namespace hz::store {

namespace {

void put_extents(Bytes &out, const Change &change)
{
	put_number(out, change.first, 4);
	put_number(out, change.extents.size(), 4);
	for (const Extent &extent : change.extents) {
		put_number(out, extent.zone, 4);
		put_number(out, extent.block, 4);
		put_number(out, extent.bytes, 8);
	}
}

void take_extents(Reader &in, Change &change)
{
	change.first = uint32_t(in.number(4));
	for (uint64_t left = in.number(4); left; left--) {
		Extent extent;
		extent.zone = uint32_t(in.number(4));
		extent.block = uint32_t(in.number(4));
		extent.bytes = in.number(8);
		change.extents.push_back(extent);
	}
}

Change take_change(Reader &in)
{
	Change change;
	const uint64_t kind = in.number(1);
	if (kind < uint64_t(ChangeKind::make_folder) || kind > uint64_t(ChangeKind::extents))
		throw Damaged("a record has a change of the unknown kind " + std::to_string(kind));
	change.kind = ChangeKind(kind);
	change.path = in.text();
	if (change.kind == ChangeKind::rename)
		change.to = in.text();
	if (change.kind == ChangeKind::extents)
		take_extents(in, change);
	if (change.kind == ChangeKind::create) {
		const uint64_t lifetime = in.number(1);
		if (lifetime >= lifetimes)
			throw Damaged(change.path + " has the unknown lifetime " + std::to_string(lifetime));
		change.lifetime = Lifetime(lifetime);
		change.time = in.number(8);
	}
	return change;
}

} // namespace

Bytes encode(const std::vector<Change> &changes)
{
	Bytes out;
	for (const Change &change : changes) {
		put_number(out, uint64_t(change.kind), 1);
		put_text(out, change.path);
		if (change.kind == ChangeKind::rename)
			put_text(out, change.to);
		if (change.kind == ChangeKind::extents)
			put_extents(out, change);
		if (change.kind == ChangeKind::create) {
			put_number(out, uint64_t(change.lifetime), 1);
			put_number(out, change.time, 8);
		}
	}
	return out;
}

std::vector<Change> decode(std::span<const std::byte> data)
{
	std::vector<Change> changes;
	for (Reader in(data); !in.at_end();)
		changes.push_back(take_change(in));
	return changes;
}

} // namespace hz::store
