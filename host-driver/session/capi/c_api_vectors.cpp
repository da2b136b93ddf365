// C interface: transfers from and to several buffers, with flags.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/capi/c_api_vectors.hpp"

#include <cstring>
#include <vector>

#include "session/capi/c_api.hpp"
#include "session/machine/error.hpp"

namespace hz::capi {

uint32_t blocks_of(const hartzone_queue *queue, const iovec *parts, int count)
{
	uint64_t bytes = 0;
	for (int i = 0; i < count; i++)
		bytes += parts[i].iov_len;
	if (bytes % HARTZONE_BLOCK_BYTES)
		throw hz::Error("buffers of " + std::to_string(bytes) + " bytes are no whole blocks of 4096");
	require_fit(queue, bytes / HARTZONE_BLOCK_BYTES);
	return uint32_t(bytes / HARTZONE_BLOCK_BYTES);
}

nvme_sqe verify_of(uint64_t block, uint32_t blocks)
{
	if (blocks == 0 || blocks > HZ_MAX_TRANSFER_SECTORS)
		throw Error(std::to_string(blocks) + " blocks to verify: a command takes 1 to " + std::to_string(HZ_MAX_TRANSFER_SECTORS));
	return QueuePair::verify(block, blocks);
}

namespace {

// Writes without a handle name none: the device does not look at a directive that it does not know.
void set_handle(const hartzone_queue *queue, nvme_sqe &sqe, unsigned handle)
{
	const uint32_t handles = queue->device->machine->config().fdp_handles;
	if (!handle)
		return;
	if (handle >= handles || sqe.opcode == NVME_IO_ZONE_APPEND)
		throw hz::Error("HARTZONE_HANDLE(" + std::to_string(handle) + ") of a write or copy: this device has " +
				std::to_string(handles) + " reclaim unit handles");
	sqe.cdw12 |= uint32_t(NVME_DIRECTIVE_PLACEMENT) << NVME_RW_DTYPE_SHIFT;
	sqe.cdw13 |= handle << NVME_RW_DSPEC_SHIFT;
}

} // namespace

void set_flags(const hartzone_queue *queue, nvme_sqe &sqe, unsigned flags)
{
	const unsigned known = HARTZONE_FUA | HARTZONE_DURABLE | (sqe.opcode == NVME_IO_WRITE ? HARTZONE_IN_PLACE : 0);
	const unsigned handle = flags >> 16, plain = flags & 0xffff;
	if (plain & ~known)
		throw hz::Error("flags " + std::to_string(plain) +
				": only HARTZONE_FUA, HARTZONE_DURABLE and HARTZONE_HANDLE are known, and HARTZONE_IN_PLACE of a write");
	sqe.cdw12 |= flags & HARTZONE_FUA ? NVME_RW_FUA : 0;
	sqe.cdw3 |= flags & HARTZONE_DURABLE ? NVME_RW_DURABLE : 0;
	sqe.cdw3 |= flags & HARTZONE_IN_PLACE ? NVME_RW_IN_PLACE : 0;
	set_handle(queue, sqe, handle);
}

} // namespace hz::capi

using namespace hz::capi;

namespace {

std::vector<std::byte> gathered(const iovec *parts, int count)
{
	std::vector<std::byte> all;
	for (int i = 0; i < count; i++) {
		const auto *from = static_cast<const std::byte *>(parts[i].iov_base);
		all.insert(all.end(), from, from + parts[i].iov_len);
	}
	return all;
}

int send(hartzone_queue *queue, nvme_sqe (*command)(uint64_t, uint32_t), uint64_t block, const iovec *parts, int count, unsigned flags,
	 uint64_t *result)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		nvme_sqe sqe = command(block, blocks_of(queue, parts, count));
		set_flags(queue, sqe, flags);
		return run(queue, sqe, gathered(parts, count), {}, result);
	});
}

nvme_sqe plain_write(uint64_t block, uint32_t blocks) { return hz::QueuePair::write(block, blocks); }

} // namespace

int hartzone_readv(hartzone_queue *queue, uint64_t block, const iovec *parts, int count)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		const uint32_t blocks = blocks_of(queue, parts, count);
		std::vector<std::byte> all(size_t(blocks) * HARTZONE_BLOCK_BYTES);
		const int code = run(queue, hz::QueuePair::read(block, blocks), {}, all, nullptr);
		const std::byte *from = all.data();
		for (int i = 0; !code && i < count; from += parts[i++].iov_len)
			std::memcpy(parts[i].iov_base, from, parts[i].iov_len);
		return code;
	});
}

int hartzone_writev(hartzone_queue *queue, uint64_t block, const iovec *parts, int count, unsigned flags)
{
	return send(queue, plain_write, block, parts, count, flags, nullptr);
}

int hartzone_appendv(hartzone_queue *queue, uint64_t zone_start, const iovec *parts, int count, unsigned flags, uint64_t *block)
{
	return send(queue, hz::QueuePair::append, zone_start, parts, count, flags, block);
}

int hartzone_write_zeroes(hartzone_queue *queue, uint64_t block, uint32_t blocks, unsigned flags)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		if (blocks == 0 || blocks > 65536)
			throw hz::Error(std::to_string(blocks) + " blocks of zeros: a command writes 1 to 65536");
		nvme_sqe sqe = hz::QueuePair::write_zeroes(block, blocks);
		set_flags(queue, sqe, flags & ~unsigned(HARTZONE_DEALLOCATE));
		sqe.cdw12 |= flags & HARTZONE_DEALLOCATE ? NVME_RW_DEAC : 0;
		return run(queue, sqe);
	});
}
