// Acked: how many operations were acknowledged as durable, in a file that outlives the program and the device's power.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "apps/rocksdb/key_space.hpp"
#include "session/machine/descriptor.hpp"

namespace hz::rocks {

class Acked {
public:
	// file: empty for memory only. `fresh`: nothing is acknowledged yet; else the file holds
	// the acknowledged operations of this key space; without a file, the writes of each key in
	// turn are unknown. Throws Error.
	Acked(const std::string &file, const KeySpace &space, bool fresh);

	void set(uint64_t operations);
	// Acknowledged are the operations from first() on that are below operations().
	uint64_t first() const { return first_; }
	uint64_t operations() const { return operations_; }

private:
	KeySpace space_;
	Descriptor file_;
	uint64_t first_ = 0, operations_ = 0;
};

} // namespace hz::rocks
