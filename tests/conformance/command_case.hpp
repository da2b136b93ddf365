// CommandCase: a row of a table: the command, and the status that the specification asks for.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "bench.hpp"

namespace conform {

struct CommandCase {
	const char *name;
	uint16_t status;                       // SCT << 8 | SC
	std::function<nvme_sqe(Bench &)> make; // data pages start at bench.page(0), unless the case says otherwise
};

std::ostream &operator<<(std::ostream &out, const CommandCase &c);

inline std::string case_name(const ::testing::TestParamInfo<CommandCase> &info) { return info.param.name; }

// An admin command: checks its status, and that the controller answers an Identify afterwards.
class AdminCommand : public Device, public ::testing::WithParamInterface<CommandCase> {
protected:
	void check();
};
// An I/O command on a device of EMPTY zones: checks its status, and that a refused command has
// changed no zone.
class IoCommand : public ZonedDevice, public ::testing::WithParamInterface<CommandCase> {
protected:
	void check();
};

// Builders; PRP1 = page 0.
nvme_sqe admin_command(Bench &bench, uint8_t opcode, uint32_t nsid = 0, uint32_t cdw10 = 0, uint32_t cdw11 = 0);
nvme_sqe io_command(Bench &bench, uint8_t opcode, uint64_t lba = 0, uint32_t sectors = 1);
// Dataset Management; the ranges lie in page 0.
// Of {first LBA, sectors} to `to`; fields: more of CDW12.
std::function<nvme_sqe(Bench &)> copy(uint64_t to, const std::vector<std::pair<uint64_t, uint32_t>> &sources, uint32_t fields = 0,
				      uint32_t nsid = 1);
std::function<nvme_sqe(Bench &)> dataset(uint32_t attributes, const std::vector<nvme_dsm_range> &ranges, uint32_t hints = 0,
					 uint32_t nsid = 1);

} // namespace conform
