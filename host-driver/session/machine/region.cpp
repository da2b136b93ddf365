// Region: create and map the file behind ivshmem #0.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/machine/region.hpp"

#include <atomic>
#include <bit>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "session/machine/descriptor.hpp"
#include "session/machine/error.hpp"
#include "session/machine/futex.hpp"

namespace hz {

namespace {

std::byte *map_file(int fd, uint64_t bytes, const std::filesystem::path &file)
{
	void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		throw_errno("cannot map " + file.string());
	return static_cast<std::byte *>(base);
}

} // namespace

Region Region::create(const std::filesystem::path &file, uint64_t bytes, const hz_device_config &device, bool virtual_clock)
{
	if (!std::has_single_bit(bytes) || bytes < 2 * HZ_SHM_HEAP_OFFSET)
		throw Error("the shared region must be a power of two of at least 8 MiB, not " + std::to_string(bytes) + " bytes");
	const Descriptor d(open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (!d || ftruncate(d.get(), static_cast<off_t>(bytes)))
		throw_errno("cannot create " + file.string());
	Region region;
	region.base_ = map_file(d.get(), bytes, file);
	region.bytes_ = bytes;
	std::memcpy(region.base_ + HZ_SHM_CONFIG_OFFSET, &device, sizeof(device));
	auto &h = region.header();
	h.magic = HZ_SHM_MAGIC;
	h.version = HZ_SHM_VERSION;
	h.header_bytes = sizeof(h);
	h.region_bytes = bytes;
	h.virtual_clock = virtual_clock;
	return region;
}

Region Region::attach(const std::filesystem::path &file)
{
	const Descriptor d(open(file.c_str(), O_RDWR | O_CLOEXEC));
	struct stat info {};
	if (!d || fstat(d.get(), &info))
		throw_errno("cannot open " + file.string());
	if (info.st_size < 2 * HZ_SHM_HEAP_OFFSET)
		throw Error(file.string() + " is too small to be a device's shared memory");
	Region region;
	region.bytes_ = static_cast<uint64_t>(info.st_size);
	region.base_ = map_file(d.get(), region.bytes_, file);
	const auto &h = region.header();
	if (h.magic != HZ_SHM_MAGIC || h.version != HZ_SHM_VERSION || h.region_bytes != region.bytes_)
		throw Error(file.string() + " is not a device's shared memory of this version");
	return region;
}

Region::Region(Region &&other) noexcept : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_) {}

Region::~Region()
{
	if (base_)
		munmap(base_, bytes_);
}

hz_shm_header &Region::header() const { return *reinterpret_cast<hz_shm_header *>(base_); }

const hz_device_config &Region::config() const { return *reinterpret_cast<const hz_device_config *>(base_ + HZ_SHM_CONFIG_OFFSET); }

const hz_memory_ledger &Region::memory() const { return *reinterpret_cast<const hz_memory_ledger *>(base_ + HZ_SHM_LEDGER_OFFSET); }

hz_queue_clock &Region::queue_clock(unsigned qid) const
{
	if (qid > HZ_MAX_IO_QUEUES)
		throw Error("queue id " + std::to_string(qid) + " is above " + std::to_string(HZ_MAX_IO_QUEUES));
	return reinterpret_cast<hz_queue_clock *>(base_ + HZ_SHM_QUEUES_OFFSET)[qid];
}

std::byte *Region::at(BusAddress bus, uint64_t length) const
{
	if (bus > bytes_ || length > bytes_ - bus)
		throw Error("address " + std::to_string(bus) + " + " + std::to_string(length) + " is outside the shared region");
	return base_ + bus;
}

void Region::clear(BusAddress bus, uint64_t length) const
{
	static const std::byte zeros[host_page_bytes]{};
	std::byte *pages = at(bus, length);
	if (!madvise(pages, length, MADV_REMOVE))
		return;
	for (uint64_t i = 0; i < length; i += host_page_bytes) // some file systems lack holes; unwritten pages stay unwritten
		if (std::memcmp(pages + i, zeros, host_page_bytes))
			std::memset(pages + i, 0, host_page_bytes);
}

void Region::ring_bell() const
{
	auto &bell = header().host_bell;
	std::atomic_ref(bell).fetch_add(1, std::memory_order_seq_cst);
	futex_wake_all(&bell);
}

} // namespace hz
