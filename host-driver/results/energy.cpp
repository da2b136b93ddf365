/* What a run took in energy: the keys of the device's section `energy` times what the device counted. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/run_facts.hpp"

#include <algorithm>
#include <string>

namespace hz::res {
namespace {

using nlohmann::json;

constexpr double mj_per_pj = 1e-9, mj_per_nj = 1e-6, mj_per_fj = 1e-12; /* 1 uW for 1 ns is 1 fJ */
constexpr const char *cells_names[] = {"slc", "normal"};
static_assert(std::size(cells_names) == HZ_CELLS_KINDS);

/* Keys of one kind of cells, in nanojoules; 0: by the array time. */
struct CellKeys {
	uint32_t read_nj, program_nj, erase_nj;
};

double of_cells(uint64_t count, uint64_t array_ns, uint32_t each_nj, uint32_t uw)
{
	return each_nj ? double(count) * each_nj * mj_per_nj : double(array_ns) * uw * mj_per_fj;
}

struct HartTime {
	double busy_ns = 0, idle_ns = 0;
	uint64_t longest_ns = 0; /* of the accounts */
};

HartTime hart_time(const hz_log_harts &log)
{
	HartTime time;
	for (uint32_t i = 0; i < log.harts && i < HZ_MAX_HARTS; i++) {
		const hz_hart_times &hart = log.hart[i];
		time.busy_ns += double(hart.work_ns);
		for (const uint64_t spin_ns : hart.spin_ns)
			time.busy_ns += double(spin_ns);
		time.idle_ns += double(hart.idle_ns);
		time.longest_ns = std::max(time.longest_ns, hart.elapsed_ns);
	}
	return time;
}

json parts_of(const RunFacts &f, const HartTime &harts, double channel_bytes, double link_bytes)
{
	const hz_energy_costs &costs = f.device.energy;
	const hz_log_energy &done = f.energy;
	const CellKeys keys[] = {{costs.slc_read_nj, costs.slc_program_nj, costs.slc_erase_nj},
				 {costs.normal_read_nj, costs.normal_program_nj, costs.normal_erase_nj}};
	const double cycles_per_ns = f.device.clock.mhz / 1e3;
	const uint32_t uw = costs.cells_uw;
	json parts = json::object();
	for (size_t i = 0; i < HZ_CELLS_KINDS; i++) {
		const std::string name = cells_names[i];
		parts[name + "_read"] = of_cells(done.reads[i], done.read_ns[i], keys[i].read_nj, uw);
		parts[name + "_program"] = of_cells(done.programs[i], done.program_ns[i], keys[i].program_nj, uw);
		parts[name + "_erase"] = of_cells(done.erases[i], done.erase_ns[i], keys[i].erase_nj, uw);
	}
	parts["channel"] = channel_bytes * costs.channel_pj * mj_per_pj;
	parts["link"] = link_bytes * costs.link_pj * mj_per_pj;
	parts["hart_busy"] = harts.busy_ns * cycles_per_ns * costs.busy_pj * mj_per_pj;
	parts["hart_idle"] = harts.idle_ns * cycles_per_ns * costs.idle_pj * mj_per_pj;
	return parts;
}

json operations_of(const hz_log_energy &done)
{
	json out = json::object();
	for (size_t i = 0; i < HZ_CELLS_KINDS; i++)
		out[cells_names[i]] = {{"reads", done.reads[i]},     {"programs", done.programs[i]},     {"erases", done.erases[i]},
				       {"read_ns", done.read_ns[i]}, {"program_ns", done.program_ns[i]}, {"erase_ns", done.erase_ns[i]}};
	return out;
}

/* Operations that the limit of power held up. */
json held_of(const hz_log_energy &done)
{
	constexpr const char *kinds[] = {"read", "program", "erase"};
	json out = json::object();
	for (size_t i = 0; i < std::size(kinds); i++) {
		const std::string kind = kinds[i];
		out[kind + "s"] = done.held[i];
		out[kind + "_ns"] = done.held_ns[i];
	}
	return out;
}

} // namespace

json energy_json(const RunFacts &f)
{
	if (!f.virtual_clock)
		return nullptr;
	const uint64_t channel_bytes = f.energy.channel_sectors * HZ_SECTOR_BYTES;
	const uint64_t link_bytes = (f.ftl.host_read_sectors + f.ftl.host_write_sectors) * HZ_SECTOR_BYTES;
	const HartTime harts = hart_time(f.harts);
	const json parts = parts_of(f, harts, double(channel_bytes), double(link_bytes));
	double total_mj = 0;
	for (const json &part : parts)
		total_mj += part.get<double>();
	return {
		{"total_mj", total_mj},
		{"mean_mw", harts.longest_ns ? total_mj * 1e9 / double(harts.longest_ns) : 0.0},
		{"mj_per_gib", link_bytes ? json(total_mj * double(1 << 30) / double(link_bytes)) : json()},
		{"parts_mj", parts},
		{"operations", operations_of(f.energy)},
		{"held", held_of(f.energy)},
		{"channel_bytes", channel_bytes},
		{"link_bytes", link_bytes},
	};
}

} // namespace hz::res
