// Machine: the watch thread owns the children; everybody else looks at two atomics.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/machine.hpp"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "namespaces.h"
#include "session/machine/boot_watch.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/locate.hpp"
#include "session/machine/machine_impl.hpp"

namespace hz {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

uint64_t shm_bytes_for(uint64_t heap_bytes)
{
	uint64_t bytes = 2 * HZ_SHM_HEAP_OFFSET;
	while (bytes < HZ_SHM_HEAP_OFFSET + heap_bytes)
		bytes *= 2;
	return bytes;
}

/* Memory that grows with the device: the map, flat or the state of its table pages, with cache and
 * log, or of zones, or both; the reverse map of backing zones; zones, their locks and statistics; the data cache. The
 * rest fits the minimum size. A sparse file backs the memory, so an overestimate costs nothing. */
static uint64_t ram_of_namespace(const hz_device_config &config, uint32_t number)
{
	constexpr uint64_t least = 256ull << 20, step = 64ull << 20, zone_bytes = 32 << 10, page_state_bytes = 64;
	// For an entry's four bytes in the cache, with its share of a shard's buckets; for a bucket
	// in eight shards; for a record of the log.
	constexpr uint64_t cache_ratio = 24, bucket_bytes = 64, record_bytes = 48;
	hz_shape shape;
	hz_namespace_shape(&config, number, &shape);
	const uint64_t zones = uint64_t(shape.zones) + shape.backing_zones;
	const bool of_zones = config.l2p_kind == HZ_L2P_KIND_ZONE;
	const uint64_t zones_of_sectors = of_zones ? shape.conventional_zones : zones;
	const uint64_t map_bytes = (of_zones ? zones * HZ_ZONE_ENTRY_BYTES : 0) +
				   zones_of_sectors * (config.l2p_cache_bytes ? shape.map_pages_per_zone * page_state_bytes
									      : shape.zone_capacity_sectors * HZ_MAP_ENTRY_BYTES);
	const uint64_t cached = config.l2p_cache_bytes ? uint64_t(config.l2p_cache_bytes) * cache_ratio +
								 config.l2p_buckets * bucket_bytes + config.l2p_log_entries * record_bytes
						       : 0;
	// Sector places of a buffer, with their records; a zone's list of staged sectors; shared
	// rings.
	constexpr uint64_t place_bytes = 128, staged_bytes = 4;
	const uint64_t rings = config.buffer_pool_bytes ? config.buffer_pool_bytes / HZ_SECTOR_BYTES * hz_sector_memory(&config) +
								  (config.write_buffers + config.conventional_buffers) *
									  (shape.ring_sectors * place_bytes + (64 << 10)) +
								  zones * shape.ring_sectors * staged_bytes +
								  config.buffer_pool_bytes / HZ_SECTOR_BYTES * 8 * (config.worker_count + 4)
							: 0;
	// A line of the data cache, with its buckets.
	constexpr uint64_t line_bytes = 256;
	const uint64_t lines = config.data_cache_bytes + config.data_cache_bytes / config.page_bytes * line_bytes;
	// For a map in flash: addresses of conventional sectors, during the mount.
	const uint64_t found = config.l2p_cache_bytes ? shape.conventional_zones * shape.zone_capacity_sectors * HZ_MAP_ENTRY_BYTES : 0;
	const uint64_t bytes = lines + found + map_bytes + cached + rings + shape.backing_zones * shape.zone_capacity_sectors * 5 +
			       zones * zone_bytes;
	return least + bytes / step * step;
}

uint64_t ram_bytes_for(const hz_device_config &config)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < config.namespaces; i++)
		bytes += ram_of_namespace(config, i);
	return bytes;
}

Machine::Machine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Machine::~Machine() = default;

std::unique_ptr<Machine> Machine::launch(const MachineOptions &options)
{
	auto impl = std::make_unique<Impl>();
	impl->prepare(options);
	impl->start();
	impl->wait_boot(options.boot_timeout);
	return std::unique_ptr<Machine>(new Machine(std::move(impl)));
}

std::unique_ptr<Machine> Machine::attach(const fs::path &run_directory)
{
	auto impl = std::make_unique<Impl>();
	impl->command.run_directory = fs::absolute(run_directory);
	if (access(impl->command.shm().c_str(), F_OK))
		throw Error("there is no device in " + run_directory.string() + ": name the run directory of one that runs");
	impl->region.emplace(Region::attach(impl->command.shm()));
	impl->follow();
	return std::unique_ptr<Machine>(new Machine(std::move(impl)));
}

bool Machine::is_ours() const { return impl_->directory != nullptr; }
int Machine::owner_connection() const { return impl_->owner.get(); }
Region &Machine::region() { return *impl_->region; }
const hz_device_config &Machine::config() const { return impl_->region->config(); }
const fs::path &Machine::run_directory() const { return impl_->command.run_directory; }
const fs::path &Machine::image() const { return impl_->command.nand_image; }
fs::path Machine::kept_image() const
{
	const fs::path &image = impl_->command.nand_image;
	return !is_ours() || image.parent_path() == impl_->command.run_directory ? fs::path() : image;
}
const fs::path &Machine::vsock_path() const { return impl_->vsock_path; }
unsigned Machine::cid() const { return impl_->cid; }
Machine::Impl::Clock::time_point Machine::fair_now() const { return impl_->fair_now(); }
bool Machine::alive() const { return impl_->up.load(std::memory_order_relaxed); }
void Machine::check() const { impl_->check(); }
void Machine::check_waiting() const { impl_->check_waiting(); }
void Machine::kill() { impl_->signal_qemu(SIGKILL); }
void Machine::give_up(const std::string &why) { impl_->tell(why); }
int Machine::qemu_pid() const { return impl_->qemu_pid; }
int Machine::daemon_pid() const { return impl_->daemon_pid; }
std::string Machine::console() const { return read_tail(impl_->command.console()); }
std::string Machine::qemu_stderr() const { return read_tail(impl_->command.qemu_log()); }
std::string Machine::qemu_greeting() const { return read_tail(impl_->command.qemu_greeting()); }
std::string Machine::plugin_report() const { return read_tail(impl_->command.plugin_report(), 64 << 20); }
std::string Machine::plugin_timeline() const { return read_tail(impl_->command.plugin_timeline(), 64 << 20); }

ExitStatus Machine::exit_status() const
{
	std::lock_guard hold(impl_->lock);
	return impl_->status;
}

ExitStatus Machine::wait_exit(std::chrono::milliseconds timeout)
{
	const auto until = fair_now() + timeout;
	std::unique_lock hold(impl_->lock);
	impl_->expected_end = true;
	while (!impl_->status.exited && fair_now() < until) {
		impl_->changed.wait_for(hold, 50ms);
		hold.unlock();
		check_interrupted();
		hold.lock();
	}
	return impl_->status;
}

void Machine::require_exit(std::chrono::milliseconds timeout)
{
	const ExitStatus end = wait_exit(timeout);
	if (!end.exited)
		throw Error("the device was shut down, but the machine did not end within " + std::to_string(timeout.count() / 1000) +
			    " s");
	if (end.code != HZ_POWER_OK)
		check();
}

ExitStatus Machine::stop(std::chrono::milliseconds grace)
{
	auto ended = [this] { return impl_->status.exited || !is_ours(); };
	impl_->expect_end();
	impl_->signal_qemu(SIGTERM);
	std::unique_lock hold(impl_->lock);
	if (!impl_->changed.wait_for(hold, grace, ended)) {
		hold.unlock();
		impl_->signal_qemu(SIGKILL);
		hold.lock();
		impl_->changed.wait_for(hold, 5s, ended);
	}
	return impl_->status;
}

} // namespace hz
