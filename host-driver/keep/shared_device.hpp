// SharedDevice: a namespace of a device of another process, used by a run next to other users. Runs
// at the same time see the same empty zones: those that name their zones keep apart.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "keep/beside.hpp"

namespace hz {

class SharedDevice final : public Beside {
public:
	// overwrite: the run may write blocks and conventional zones with any content. now_ns: the
	// device's time; no two runs begin at the same. Throws wl::WorkloadError, with the remedy,
	// if the workload cannot run next to the existing data.
	SharedDevice(const FoundNamespace &found, bool overwrite, uint64_t now_ns);

	const char *go_on() const override { return ": reset-zone of ./hartzone nvme zns empties one"; }
	std::unique_ptr<KeptPort> port(replay::Port &queue) const override;

private:
	void require_empty(const FoundNamespace &found) const;
};

} // namespace hz
