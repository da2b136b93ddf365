// Verify: long reads, and sector by sector where they fail.
// SPDX-License-Identifier: BSD-3-Clause
#include "keep/verify_image.hpp"

#include "replay/pattern.hpp"
#include "replay/progress.hpp"
#include "session/machine/error.hpp"

namespace hz {

namespace {

constexpr size_t problems_shown = 8;

class Verifier {
public:
	Verifier(QueuePair &queue, const NamespaceInfo &device)
		: queue_(queue), device_(device), most_(queue.data(0).size() / replay::sector_bytes)
	{
	}

	// In ascending order.
	void add(uint64_t lba, const Promise &promise)
	{
		if (promises_.size() == most_ || lba != first_ + promises_.size())
			finish();
		if (promises_.empty())
			first_ = lba;
		promises_.push_back(promise);
		report_.promised++;
	}
	// Check sectors added and not read yet.
	void finish()
	{
		if (!promises_.empty())
			read(first_, promises_);
		promises_.clear();
	}
	const VerifyReport &report() const { return report_; }

private:
	void read(uint64_t lba, std::span<const Promise> promises)
	{
		data_.resize(promises.size() * replay::sector_bytes);
		const Completion done = queue_.run(QueuePair::read(lba, static_cast<uint32_t>(promises.size())), {}, data_);
		if (done.status && promises.size() == 1)
			return problem(report_.unreadable, "LBA " + std::to_string(lba) + " cannot be read: " + status_text(done.status));
		for (size_t i = 0; i < promises.size(); i++)
			if (done.status)
				read(lba + i, promises.subspan(i, 1));
			else
				check(lba + i, promises[i],
				      std::span<const std::byte, replay::sector_bytes>(&data_[i * replay::sector_bytes],
										       replay::sector_bytes));
	}
	// A sector that can be overwritten may hold something newer that was not acknowledged before the run ended.
	void check(uint64_t lba, const Promise &promise, std::span<const std::byte, replay::sector_bytes> sector)
	{
		const bool overwritable = !device_.zoned || lba < device_.conventional_zones * device_.zone_size_sectors;
		if (replay::check_versions(sector, promise.seed, promise.stamp, overwritable ? UINT64_MAX : promise.stamp.version))
			report_.right++;
		else
			problem(report_.wrong, replay::describe_mismatch(sector, promise.seed, promise.stamp, lba));
	}
	void problem(uint64_t &count, const std::string &sentence)
	{
		count++;
		if (report_.problems.size() < problems_shown)
			report_.problems.push_back(sentence);
	}

	QueuePair &queue_;
	const NamespaceInfo &device_;
	const size_t most_; // sectors per read
	VerifyReport report_;
	uint64_t first_ = 0;
	std::vector<Promise> promises_; // of sectors from first_ on
	std::vector<std::byte> data_;
};

} // namespace

VerifyReport verify_image(const AckRecord &record, QueuePair &queue, const NamespaceInfo &device)
{
	Verifier verifier(queue, device);
	replay::Progress progress("reading what was promised");
	record.each(0, record.sectors(), [&](uint64_t lba, const Promise &promise) {
		verifier.add(lba, promise);
		progress.show(static_cast<uint32_t>(lba * 1000000 / record.sectors()));
		return true;
	});
	verifier.finish();
	return verifier.report();
}

} // namespace hz
