// SharedDevice: a namespace of a device that another process keeps up, which a run uses beside whatever else is done with it. Runs at the
// same time see the same empty zones: those that name their zones keep apart.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "keep/beside.hpp"

namespace hz {

class SharedDevice final : public Beside {
public:
	// overwrite: blocks and conventional zones are the run's to write, whatever they hold. now_ns: the device's time, of which no two runs
	// begin at the same. Throws wl::WorkloadError, which says how to go on, if the workload cannot run beside what is there.
	SharedDevice(const FoundSpace &space, bool overwrite, uint64_t now_ns);

	const char *go_on() const override { return ": reset-zone of ./hartzone nvme zns empties one"; }
	std::unique_ptr<KeptPort> port(replay::Port &queue) const override;

private:
	void require_empty(const FoundSpace &space) const;
};

} // namespace hz
