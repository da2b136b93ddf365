// CommandCase: checks around every command of the tables.
// SPDX-License-Identifier: BSD-3-Clause
#include "command_case.hpp"

#include <algorithm>
#include <ostream>

#include "session/machine/error.hpp"

namespace conform {

std::ostream &operator<<(std::ostream &out, const CommandCase &c)
{
	return out << c.name << ": status " << std::hex << c.status << std::dec;
}

nvme_sqe admin_command(Bench &bench, uint8_t opcode, uint32_t nsid, uint32_t cdw10, uint32_t cdw11)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.nsid = nsid;
	sqe.prp1 = bench.page(0);
	sqe.cdw10 = cdw10;
	sqe.cdw11 = cdw11;
	return sqe;
}

nvme_sqe io_command(Bench &bench, uint8_t opcode, uint64_t lba, uint32_t sectors)
{
	nvme_sqe sqe{};
	sqe.opcode = opcode;
	sqe.nsid = 1;
	sqe.prp1 = bench.page(0);
	sqe.prp2 = bench.page(1);
	sqe.cdw10 = static_cast<uint32_t>(lba);
	sqe.cdw11 = static_cast<uint32_t>(lba >> 32);
	sqe.cdw12 = (sectors - 1) & 0xffff;
	return sqe;
}

std::function<nvme_sqe(Bench &)> dataset(uint32_t attributes, const std::vector<nvme_dsm_range> &ranges, uint32_t hints, uint32_t nsid)
{
	return [=](Bench &bench) {
		nvme_sqe sqe = admin_command(bench, NVME_IO_DATASET_MANAGEMENT, nsid, static_cast<uint32_t>(ranges.size() - 1),
					     attributes | hints);
		std::copy_n(reinterpret_cast<const std::byte *>(ranges.data()), ranges.size() * sizeof(ranges[0]), bench.at(bench.page(0)));
		return sqe;
	};
}

std::function<nvme_sqe(Bench &)> copy(uint64_t to, const std::vector<std::pair<uint64_t, uint32_t>> &sources, uint32_t fields,
				      uint32_t nsid)
{
	return [=](Bench &bench) {
		nvme_sqe sqe = io_command(bench, NVME_IO_COPY, to, static_cast<uint32_t>(sources.size()));
		std::vector<nvme_copy_range> list(sources.size());
		for (size_t i = 0; i < sources.size(); i++) {
			list[i].slba = sources[i].first;
			list[i].nlb = static_cast<uint16_t>(sources[i].second - 1);
		}
		sqe.nsid = nsid;
		sqe.cdw12 |= fields;
		std::copy_n(reinterpret_cast<const std::byte *>(list.data()), list.size() * sizeof(list[0]), bench.at(bench.page(0)));
		return sqe;
	};
}

void AdminCommand::check()
{
	Bench &b = bench();
	auto result = b.controller().admin(GetParam().make(b));
	EXPECT_EQ(result.status, GetParam().status) << hz::status_text(result.status);
	EXPECT_EQ(b.controller().identify(NVME_CNS_CONTROLLER).size(), 4096u);
}

void IoCommand::check()
{
	Bench &b = bench();
	auto result = b.raw(GetParam().make(b));
	EXPECT_EQ(result.status, GetParam().status) << hz::status_text(result.status);
	if (result.status == NVME_SUCCESS)
		return;
	for (const auto &zone : b.controller().zone_report(b.queue()))
		EXPECT_TRUE(zone.state >> 4 == NVME_ZS_EMPTY && zone.write_pointer == zone.start) << "zone at " << zone.start;
}

} // namespace conform
