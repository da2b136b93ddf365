/* Device figures of an interval, on a device whose counters we may not reset. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "results/device_figures.hpp"

#include <cstddef>

namespace hz::res {
namespace {

/* For records of 64-bit counters from `first` to their end. */
template <typename Record> void subtract_counters(Record &from, const Record &base, size_t first)
{
	auto *const values = reinterpret_cast<uint64_t *>(&from);
	const auto *const bases = reinterpret_cast<const uint64_t *>(&base);
	for (size_t i = first / 8; i < sizeof(Record) / 8; i++)
		values[i] -= bases[i];
}

void subtract(hz_hart_times &times, const hz_hart_times &base)
{
	times.elapsed_ns -= base.elapsed_ns;
	times.work_ns -= base.work_ns;
	times.idle_ns -= base.idle_ns;
	times.events -= base.events;
	for (size_t i = 0; i < HZ_MAX_LOCK_CLASSES; i++)
		times.spin_ns[i] -= base.spin_ns[i];
}

void subtract(hz_lock_entry &lock, const hz_lock_entry &base)
{
	lock.acquisitions -= base.acquisitions;
	lock.contended -= base.contended;
	lock.wait_ns -= base.wait_ns;
	lock.hold_ns -= base.hold_ns;
	lock.handovers -= base.handovers;
}

std::vector<NamespaceFigures> namespace_figures(Controller &controller)
{
	std::vector<NamespaceFigures> parts;
	if (controller.machine().config().namespaces > 1)
		for (const uint32_t nsid : controller.namespaces())
			parts.push_back({nsid, controller.log_ftl(nsid)});
	return parts;
}

} // namespace

DeviceFigures figures_of(Controller &controller)
{
	return {controller.log_harts(), controller.log_flash(),        controller.log_ftl(),
		controller.log_locks(), namespace_figures(controller), controller.log_energy()};
}

void subtract(DeviceFigures &figures, const DeviceFigures &before)
{
	const uint64_t dies = figures.flash.dies;
	subtract_counters(figures.flash, before.flash, offsetof(hz_log_flash, reads));
	figures.flash.dies = dies;
	subtract_counters(figures.energy, before.energy, offsetof(hz_log_energy, reads));
	subtract_counters(figures.ftl, before.ftl, offsetof(hz_log_ftl, host_read_sectors));
	for (NamespaceFigures &part : figures.namespaces)
		for (const NamespaceFigures &base : before.namespaces)
			if (part.nsid == base.nsid)
				subtract_counters(part.ftl, base.ftl, offsetof(hz_log_ftl, host_read_sectors));
	for (uint32_t i = 0; i < figures.harts.harts && i < HZ_MAX_HARTS; i++)
		subtract(figures.harts.hart[i], before.harts.hart[i]);
	for (size_t i = 0; i < figures.locks.size() && i < before.locks.size(); i++)
		subtract(figures.locks[i], before.locks[i]);
}

} // namespace hz::res
