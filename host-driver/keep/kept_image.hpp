// KeptImage: what a run on an image that outlives it must know of the runs before, and leaves for those after it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "keep/beside.hpp"

namespace hz {

// A namespace of it.
class KeptSpace final : public Beside {
public:
	// The device has started for the `starts`th time on this image. Throws wl::WorkloadError, which says how to go on, if the workload cannot run
	// beside what is there. Nothing is noted yet.
	KeptSpace(const std::filesystem::path &image, const FoundSpace &space, uint64_t starts);
	// The run takes place, on this namespace or on others: each record knows of all of them.
	void note_run();

	const char *go_on() const override { return ": --format-image begins with an empty image, another --image with another one"; }
	std::unique_ptr<KeptPort> port(replay::Port &queue) const override
	{
		return std::make_unique<KeptPort>(queue, view_, patterns_ ? record_.get() : nullptr, seed_, volatile_cache_);
	}

private:
	void refuse_unless_beside(const FoundSpace &space) const;
	void refuse_lost_zones(const FoundSpace &space) const;

	std::filesystem::path image_;
	uint64_t starts_;
	bool patterns_, volatile_cache_;
	bool overwritable_ = false; // this run may leave sectors that can be overwritten, or others have
	std::unique_ptr<AckRecord> record_;
};

class KeptImage {
public:
	// Before the device starts. format: the image begins anew, and so do its records.
	KeptImage(std::filesystem::path image, bool format);
	// A new image whose device ended before begin() has a record that nothing was promised on it.
	~KeptImage();
	KeptImage(const KeptImage &) = delete;
	KeptImage &operator=(const KeptImage &) = delete;
	// All namespaces that are attached, those of the run first. Throws as KeptSpace does, and then nothing is noted in any record.
	void begin(const std::vector<FoundSpace> &spaces, uint64_t starts);
	// In their order.
	const Beside &space(size_t i) const { return *spaces_[i]; }

private:
	std::filesystem::path image_;
	bool is_new_ = false;
	std::vector<std::unique_ptr<KeptSpace>> spaces_;
};

} // namespace hz
