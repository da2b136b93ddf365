// Acked: one line, replaced atomically.
// SPDX-License-Identifier: BSD-3-Clause
#include "apps/rocksdb/acked.hpp"

#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

#include "session/machine/error.hpp"

namespace hz::rocks {

Acked::Acked(const std::string &file, const KeySpace &space, bool fresh) : space_(space)
{
	if (file.empty()) {
		first_ = operations_ = fresh ? 0 : space.keys;
		return;
	}
	std::ifstream in(file);
	KeySpace found{};
	if (!fresh) {
		if (!(in >> found.keys >> found.seed >> operations_))
			throw Error(file + " does not say which writes were acknowledged: --acked takes a file that fillseq has made");
		if (found.keys != space.keys || found.seed != space.seed)
			throw Error(file + " is of other keys: give --keys " + std::to_string(found.keys) + " --seed " +
				    std::to_string(found.seed));
	}
	const std::string young = file + ".new"; // the file always holds a complete line
	file_ = Descriptor(::open(young.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
	if (!file_)
		throw_errno(file + " cannot be written");
	set(operations_);
	if (std::rename(young.c_str(), file.c_str()))
		throw_errno(file + " cannot be written");
}

void Acked::set(uint64_t operations)
{
	char line[80];
	operations_ = operations;
	const int bytes = std::snprintf(line, sizeof(line), "%20llu %20llu %20llu\n", static_cast<unsigned long long>(space_.keys),
					static_cast<unsigned long long>(space_.seed), static_cast<unsigned long long>(operations));
	if (file_ && pwrite(file_.get(), line, size_t(bytes), 0) != bytes)
		throw_errno("the file of --acked cannot be written");
}

} // namespace hz::rocks
