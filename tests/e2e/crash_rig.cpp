// CrashRig: boot, check, run, die, again.
// SPDX-License-Identifier: BSD-3-Clause
#include "crash_rig.hpp"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

#include "config/device_yaml.hpp"
#include "geometry.h"
#include "replay/pattern.hpp"
#include "replay/runner.hpp"
#include "session/machine/error.hpp"

namespace e2e {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr uint64_t data_seed = 77, start_margin_ns = 100000;

fs::path new_folder()
{
	static unsigned count = 0;
	fs::path folder = fs::temp_directory_path() / ("hz-e2e-" + std::to_string(getpid()) + "-" + std::to_string(count++));
	fs::create_directory(folder);
	return folder;
}

} // namespace

CrashRig::CrashRig(bool virtual_clock, uint64_t seed, const std::string &device)
	: virtual_clock_(virtual_clock), random_(seed), folder_(new_folder()),
	  config_(hz::conf::load_device(std::string(HZ_TREE) + "/tests/e2e/" + device + ".yaml"))
{
	hz_shape shape;
	hz_shape_of(&config_, &shape);
	for (unsigned i = 0; i < queues; i++) {
		hz::wl::ZoneShare share;
		share.zones = shape.zones / queues;
		share.first_zone = i * share.zones;
		share.zone_size = shape.zone_size_sectors;
		share.zone_capacity = shape.zone_capacity_sectors;
		share.max_transfer = 40;
		sources_.push_back(std::make_unique<CrashSource>(share, random_(), config_.max_active / queues));
	}
}

CrashRig::~CrashRig()
{
	drop();
	std::error_code ignored;
	fs::remove_all(folder_, ignored);
}

void CrashRig::drop()
{
	pairs_.clear();
	controller_.reset();
	machine_.reset();
}

void CrashRig::boot(const End &end)
{
	drop();
	hz::MachineOptions options;
	options.config = config_;
	options.virtual_clock = virtual_clock_;
	options.nand_image = folder_ / "image";
	options.shm_bytes = 64 << 20;
	options.power_cut_op = end.cut_op;
	options.power_cut_ns = end.cut_ns;
	// For post-mortems: the image as the last death left it, and as it was one boot before.
	if (const char *keep = std::getenv("HARTZONE_TEST_KEEP"); keep && fs::exists(options.nand_image)) {
		if (fs::exists(keep))
			fs::rename(keep, std::string(keep) + ".before");
		fs::copy_file(options.nand_image, keep);
	}
	machine_ = hz::Machine::launch(options);
	controller_ = std::make_unique<hz::Controller>(*machine_);
	controller_->enable();
	for (unsigned i = 0; i < queues; i++)
		pairs_.push_back(controller_->create_queue(i + 1, {.depth = 9, .data_bytes = HZ_MAX_TRANSFER_SECTORS * HZ_SECTOR_BYTES}));
}

void CrashRig::verify()
{
	hz::QueuePair &queue = *pairs_[0];
	const auto zones = controller_->zone_report(queue);
	for (auto &source : sources_) {
		const hz::wl::ZoneShare &share = source->share();
		std::vector<std::byte> data(share.zone_capacity * HZ_SECTOR_BYTES);
		for (uint32_t z = 0; z < share.zones; z++) {
			for (uint64_t at = 0, n; at < share.zone_capacity; at += n) {
				n = std::min<uint64_t>(HZ_MAX_TRANSFER_SECTORS, share.zone_capacity - at);
				std::span<std::byte> in(&data[at * HZ_SECTOR_BYTES], n * HZ_SECTOR_BYTES);
				const auto read = hz::QueuePair::read(share.start_of(share.first_zone + z) + at, static_cast<uint32_t>(n));
				const auto done = queue.run(read, {}, in);
				ASSERT_EQ(done.status, 0) << hz::status_text(done.status);
			}
			source->recover(z, zones.at(share.first_zone + z), [&](uint64_t offset, const hz::wl::Stamp &stamp) {
				std::span<const std::byte, HZ_SECTOR_BYTES> sector(&data[offset * HZ_SECTOR_BYTES], HZ_SECTOR_BYTES);
				return hz::replay::check_sector(sector, data_seed, stamp);
			});
			if (::testing::Test::HasFatalFailure())
				return;
		}
	}
	share_active_zones();
}

// A zone that was full may not be so any more after a cut: then a source has more active ones than its share, and the others fewer.
void CrashRig::share_active_zones()
{
	unsigned left = config_.max_active;
	for (const auto &source : sources_)
		left -= source->active();
	for (auto &source : sources_) {
		const unsigned active = source->active(), share = config_.max_active / queues;
		const unsigned more = std::min(left, share - std::min(share, active));
		source->allow(active + more);
		left -= more;
	}
}

void CrashRig::run(uint64_t commands, const End &end)
{
	std::atomic<uint64_t> issued{0};
	std::vector<hz::replay::QueuePort> ports;
	std::vector<hz::replay::PhaseThread> threads;
	hz::replay::ThreadOptions options;
	options.seed = data_seed;
	options.start_ns = controller_->log_harts().now_ns + start_margin_ns;
	ports.reserve(queues);
	for (unsigned i = 0; i < queues; i++) {
		sources_[i]->start(commands, [&] {
			if (++issued == end.kill_at_command)
				machine_->kill();
		});
		ports.emplace_back(*pairs_[i]);
		threads.push_back({&ports.back(), sources_[i].get(), options});
	}
	std::jthread killer([&] {
		if (!end.kill_after_us)
			return;
		std::this_thread::sleep_for(std::chrono::microseconds(end.kill_after_us));
		machine_->kill();
	});
	for (const auto &account : hz::replay::run_phase(threads, "", [this] { machine_->kill(); }))
		ASSERT_EQ(account.mismatched_sectors, 0u) << account.first_mismatch;
}

bool CrashRig::boot_and_run(uint64_t commands, const End &end)
{
	bool checked = false;
	try {
		boot(end);
		verify();
		checked = true;
		if (commands && !::testing::Test::HasFatalFailure())
			run(commands, end);
		return true;
	} catch (const hz::PowerCut &) {
		EXPECT_TRUE(end.cut_op || end.cut_ns);
	} catch (const hz::Error &e) {
		EXPECT_NE(std::string(e.what()).find("QEMU was killed by signal 9"), std::string::npos) << e.what();
		EXPECT_TRUE(checked && (end.kill_at_command || end.kill_after_us)) << e.what();
	}
	cuts_++;
	return false;
}

void CrashRig::shutdown()
{
	controller_->shutdown();
	controller_->disconnect();
	const auto end = machine_->wait_exit(20s);
	EXPECT_TRUE(end.exited);
	EXPECT_EQ(end.code, HZ_POWER_OK) << end.reason;
	drop();
}

void CrashRig::kill()
{
	machine_->kill();
	drop();
}

void CrashRig::settle()
{
	for (auto &source : sources_)
		source->settle();
}

uint64_t CrashRig::durable_sectors() const
{
	uint64_t sum = 0;
	for (const auto &source : sources_)
		sum += source->durable_sectors();
	return sum;
}

uint64_t CrashRig::lost_sectors() const
{
	uint64_t sum = 0;
	for (const auto &source : sources_)
		sum += source->lost_sectors();
	return sum;
}

} // namespace e2e
