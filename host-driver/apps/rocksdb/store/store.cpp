// Store: names, handles, and the data of files.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/store/store.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace hz::store {

namespace {

constexpr size_t chunk_bytes = 64 * block_bytes; // a file's tail goes to the device when it is so long
constexpr uint32_t usual_active = 16;            // where the device has no limit

uint32_t active_for_data(const DeviceShape &shape)
{
	constexpr uint32_t least = MetadataLog::most_active + 1;
	if (!shape.zones)
		throw DeviceError("files are kept in sequential zones, of which this device has none: it is a block device");
	if (shape.max_active && shape.max_active < least)
		throw DeviceError("the device allows " + std::to_string(shape.max_active) + " active zones: files need " +
				  std::to_string(least));
	if (shape.zones < MetadataLog::zones + ZoneTable::reserve + 1)
		throw DeviceError("the device has " + std::to_string(shape.zones) + " sequential zones: files need " +
				  std::to_string(MetadataLog::zones + ZoneTable::reserve + 1));
	return (shape.max_active ? shape.max_active : usual_active) - MetadataLog::most_active;
}

} // namespace

void Store::format(ZonedDevice &device)
{
	active_for_data(device.shape());
	MetadataLog(device).format({});
	for (uint32_t zone = MetadataLog::zones; zone < device.shape().zones; zone++)
		if (const ZoneState state = device.state(zone); state.writable && state.written)
			device.reset(zone);
}

Store::Store(ZonedDevice &device) : device_(device), log_(device), zones_(device, MetadataLog::zones, active_for_data(device.shape()))
{
	log_.replay([this](std::span<const std::byte> content) {
		for (const Change &one : decode(content))
			catalog_.apply(one);
	});
	for (const auto &[path, file] : catalog_.files())
		for (const Extent &extent : file->extents)
			zones_.adopt(extent, file->lifetime);
	zones_.reset_dead();
	log_.roll(encode(catalog_.snapshot()));
}

// Memory is updated before the log, so that a snapshot written instead contains the changes.
void Store::record(const std::vector<Change> &changes)
{
	if (!log_.append(encode(changes)))
		log_.roll(encode(catalog_.snapshot()));
}

void Store::change(const Change &one)
{
	const std::shared_ptr<File> gone = catalog_.apply(one);
	record({one});
	if (gone && !gone->handles)
		release(*gone);
}

void Store::log_extents(File &file)
{
	const uint32_t first = file.logged;
	file.logged = uint32_t(file.extents.size());
	if (!file.removed)
		record({{.kind = ChangeKind::extents,
			 .path = file.path,
			 .first = first,
			 .extents = {file.extents.begin() + first, file.extents.end()}}});
}

void Store::release(const File &file)
{
	for (const Extent &extent : file.extents)
		zones_.release(extent);
	zones_.reset_dead();
}

Store::Handle Store::hold(std::shared_ptr<File> file)
{
	file->handles++;
	File *const plain = file.get();
	return {plain, [this, file = std::move(file)](File *) { let_go(*file); }};
}

// In a destructor: a zone that cannot be reset now is reset by a later call, or when the store is opened again.
void Store::let_go(File &file)
{
	const Lock lock(mutex_);
	if (--file.handles || !file.removed)
		return;
	try {
		release(file);
	} catch (const DeviceError &) {
	}
}

Store::Handle Store::create(const std::string &path, Lifetime lifetime)
{
	const Lock lock(mutex_);
	change({.kind = ChangeKind::create, .path = path, .lifetime = lifetime, .time = uint64_t(std::time(nullptr))});
	return hold(catalog_.find(path));
}

Store::Handle Store::open(const std::string &path)
{
	const Lock lock(mutex_);
	std::shared_ptr<File> file = catalog_.find(path);
	return file ? hold(std::move(file)) : nullptr;
}

bool Store::remove(const std::string &path)
{
	const Lock lock(mutex_);
	if (!catalog_.find(path))
		return false;
	change({.kind = ChangeKind::remove, .path = path});
	return true;
}

bool Store::rename(const std::string &from, const std::string &to)
{
	const Lock lock(mutex_);
	if (!catalog_.find(from))
		return false;
	change({.kind = ChangeKind::rename, .path = from, .to = to});
	return true;
}

void Store::make_folder(const std::string &path)
{
	const Lock lock(mutex_);
	if (!catalog_.has_folder(path))
		change({.kind = ChangeKind::make_folder, .path = path});
}

void Store::remove_folder(const std::string &path)
{
	const Lock lock(mutex_);
	if (catalog_.has_folder(path))
		change({.kind = ChangeKind::remove_folder, .path = path});
}

bool Store::has_folder(const std::string &path)
{
	const Lock lock(mutex_);
	return catalog_.has_folder(path);
}

std::set<std::string> Store::names_in(const std::string &folder)
{
	const Lock lock(mutex_);
	return catalog_.names_in(folder);
}

void Store::set_lifetime(File &file, Lifetime lifetime)
{
	const Lock lock(mutex_);
	if (!is_durable(file.lifetime))
		file.lifetime = lifetime;
}

void Store::put(Place place, Lifetime lifetime, std::span<const std::byte> data)
{
	try {
		device_.write(place.zone, place.block, data, is_durable(lifetime) ? Safety::durable : Safety::until_flush);
	} catch (const DeviceError &) {
		zones_.ask_again(place.zone);
		throw;
	}
	zones_.wrote(place, data.size() / block_bytes, lifetime);
}

// `all`: write the last block too, padded with zeros; the next data begin a new block.
void Store::write_tail(File &file, bool all)
{
	while (file.tail.size() >= block_bytes || (all && !file.tail.empty())) {
		const Place place = find_place(file.lifetime);
		const uint64_t whole = all ? blocks_of(file.tail.size()) : file.tail.size() / block_bytes;
		const uint64_t blocks = std::min(whole, place.room);
		const size_t bytes = std::min<size_t>(file.tail.size(), blocks * block_bytes);
		Bytes data(file.tail.begin(), file.tail.begin() + ptrdiff_t(bytes));
		data.resize(blocks * block_bytes);
		put(place, file.lifetime, data);
		file.tail.erase(file.tail.begin(), file.tail.begin() + ptrdiff_t(bytes));
		file.written += bytes;
		Extent *const last = file.extents.size() > file.logged ? &file.extents.back() : nullptr;
		if (last && last->zone == place.zone && last->bytes % block_bytes == 0 &&
		    last->block + last->bytes / block_bytes == place.block)
			last->bytes += bytes;
		else
			file.extents.push_back({place.zone, uint32_t(place.block), bytes});
	}
}

void Store::append(File &file, std::span<const std::byte> data)
{
	const Lock lock(mutex_);
	file.tail.insert(file.tail.end(), data.begin(), data.end());
	if (file.tail.size() >= chunk_bytes)
		write_tail(file, false);
}

void Store::sync(File &file)
{
	const Lock lock(mutex_);
	write_tail(file, true);
	if (file.logged == file.extents.size())
		return;
	if (!is_durable(file.lifetime))
		device_.flush();
	log_extents(file);
}

size_t Store::read(const File &file, uint64_t offset, std::span<std::byte> data)
{
	const Lock lock(mutex_);
	size_t done = 0;
	uint64_t start = 0; // of the extent, in the file
	for (const Extent &extent : file.extents) {
		const uint64_t from = offset + done - start;
		start += extent.bytes;
		if (done == data.size() || from >= extent.bytes)
			continue;
		const size_t bytes = std::min<uint64_t>(extent.bytes - from, data.size() - done), skipped = from % block_bytes;
		Bytes blocks(blocks_of(skipped + bytes) * block_bytes);
		device_.read(extent.zone, extent.block + from / block_bytes, blocks);
		std::memcpy(data.data() + done, blocks.data() + skipped, bytes);
		done += bytes;
	}
	if (offset + done >= start && offset + done < file.size()) {
		const uint64_t from = offset + done - start;
		const size_t bytes = std::min<uint64_t>(file.tail.size() - from, data.size() - done);
		std::memcpy(data.data() + done, file.tail.data() + from, bytes);
		done += bytes;
	}
	return done;
}

uint64_t Store::size(const File &file)
{
	const Lock lock(mutex_);
	return file.size();
}

uint64_t Store::time(const File &file)
{
	const Lock lock(mutex_);
	return file.time;
}

ZoneTable::Space Store::space()
{
	const Lock lock(mutex_);
	return zones_.space();
}

uint64_t Store::collected_blocks()
{
	const Lock lock(mutex_);
	return collected_;
}

} // namespace hz::store
