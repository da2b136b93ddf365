// Load: writes of keys in turn or at random, reads, and the check of all keys.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/load.hpp"

#include <vector>

#include "session/machine/error.hpp"

namespace hz::rocks {

namespace {

constexpr uint64_t none = UINT64_MAX;

void require(const rocksdb::Status &status, const char *what)
{
	if (!status.ok())
		throw Error(std::string("RocksDB's ") + what + " failed: " + status.ToString());
}

} // namespace

LoadCount Load::write(uint64_t first, uint64_t operations)
{
	LoadCount count;
	rocksdb::WriteOptions options;
	for (; count.operations < operations; count.operations++) {
		const uint64_t operation = first + count.operations;
		options.sync = sync_every_ && (count.operations + 1) % sync_every_ == 0;
		require(db_.Put(options, key_text(space_.key_of(operation)), value_text(operation)), "write");
		if (options.sync) {
			count.syncs++;
			acked_.set(operation + 1);
		}
	}
	require(db_.FlushWAL(true), "sync of its log");
	acked_.set(first + operations);
	count.syncs++;
	return count;
}

uint64_t Load::get(uint64_t key)
{
	std::string value;
	const rocksdb::Status status = db_.Get({}, key_text(key), &value);
	if (status.IsNotFound())
		return none;
	require(status, "read");
	const auto operation = operation_of(value);
	if (!operation || space_.key_of(*operation) != key)
		throw Error("key " + std::to_string(key) + " has a value that was never written to it");
	return *operation;
}

LoadCount Load::read_random()
{
	LoadCount count;
	for (; count.operations < space_.keys; count.operations++)
		count.checked += get(space_.key_of(space_.keys + count.operations)) != none;
	return count;
}

LoadCount Load::check()
{
	LoadCount count;
	std::vector<uint64_t> newest(space_.keys, none);
	for (uint64_t operation = acked_.first(); operation < acked_.operations(); operation++)
		newest[space_.key_of(operation)] = operation;
	for (uint64_t key = 0; key < space_.keys; key++, count.operations++) {
		const uint64_t found = get(key);
		if (newest[key] != none && (found == none || found < newest[key]))
			throw Error("key " + std::to_string(key) + " has lost what write " + std::to_string(newest[key]) +
				    " was acknowledged for: " +
				    (found == none ? "it is gone" : "it has that of write " + std::to_string(found)));
		count.checked += newest[key] != none;
	}
	return count;
}

LoadCount Load::run(const std::string &name)
{
	if (name == "fillseq" || name == "overwrite") // the second load rewrites the part of the first that a crash has cut off
		return write(acked_.operations(), space_.keys);
	return name == "check" ? check() : read_random();
}

} // namespace hz::rocks
