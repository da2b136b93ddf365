// KeptImage: state carried from one run to the next on an image that outlives them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "keep/beside.hpp"

namespace hz {

// A namespace of the image.
class KeptNamespace final : public Beside {
public:
	// The device has started for the `starts`th time on this image. Throws wl::WorkloadError,
	// with the remedy, if the workload cannot run next to the existing data. Writes nothing to
	// the record yet.
	KeptNamespace(const std::filesystem::path &image, const FoundNamespace &found, uint64_t starts);
	// The run takes place, on this namespace or on others: each record counts all runs.
	void note_run();

	const char *go_on() const override { return ": --format-image begins with an empty image, another --image with another one"; }
	std::unique_ptr<KeptPort> port(replay::Port &queue) const override
	{
		return std::make_unique<KeptPort>(queue, view_, patterns_ ? record_.get() : nullptr, seed_, volatile_cache_);
	}

private:
	void refuse_unless_beside(const FoundNamespace &found) const;
	void refuse_lost_zones(const FoundNamespace &found) const;

	std::filesystem::path image_;
	uint64_t starts_;
	bool patterns_, volatile_cache_;
	bool overwritable_ = false; // this run may leave sectors that can be overwritten, or others have
	std::unique_ptr<AckRecord> record_;
};

class KeptImage {
public:
	// Before the device starts. format: the image and its records begin blank.
	KeptImage(std::filesystem::path image, bool format);
	// A new image whose device ended before begin() gets an empty record.
	~KeptImage();
	KeptImage(const KeptImage &) = delete;
	KeptImage &operator=(const KeptImage &) = delete;
	// All attached namespaces, those of the run first. Throws as KeptNamespace does; no record has
	// changed then.
	void begin(const std::vector<FoundNamespace> &namespaces, uint64_t starts);
	// In their order.
	const Beside &beside(size_t i) const { return *namespaces_[i]; }

private:
	std::filesystem::path image_;
	bool is_new_ = false;
	std::vector<std::unique_ptr<KeptNamespace>> namespaces_;
};

} // namespace hz
