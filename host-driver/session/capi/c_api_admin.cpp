// C interface: admin commands, and any command by its dwords.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/capi/c_api.hpp"

#include "session/machine/error.hpp"

using namespace hz::capi;

namespace {

nvme_sqe entry_of(const hartzone_command &c)
{
	nvme_sqe sqe{};
	sqe.opcode = c.opcode;
	sqe.flags = c.flags;
	sqe.nsid = c.nsid;
	sqe.cdw2 = c.cdw2;
	sqe.cdw3 = c.cdw3;
	sqe.cdw10 = c.cdw10;
	sqe.cdw11 = c.cdw11;
	sqe.cdw12 = c.cdw12;
	sqe.cdw13 = c.cdw13;
	sqe.cdw14 = c.cdw14;
	sqe.cdw15 = c.cdw15;
	return sqe;
}

hartzone_command command_of(uint8_t opcode, uint32_t cdw10, uint32_t cdw11)
{
	hartzone_command command{};
	command.opcode = opcode;
	command.cdw10 = cdw10;
	command.cdw11 = cdw11;
	return command;
}

enum : uint8_t { to_device = 1, from_device = 2 }; // bits of an opcode

std::span<std::byte> bytes_of(void *data, uint64_t bytes) { return {static_cast<std::byte *>(data), size_t(bytes)}; }

} // namespace

int hartzone_admin(hartzone_device *device, const hartzone_command *command, void *data, uint32_t bytes, uint64_t *result)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		const nvme_sqe sqe = entry_of(*command);
		if (hz::for_the_owner_alone(sqe))
			throw hz::Error("admin command " + std::to_string(sqe.opcode) + " is the library's: it manages queues and events");
		if (bytes && !(sqe.opcode & (to_device | from_device)))
			throw hz::Error("admin command " + std::to_string(sqe.opcode) + " moves no data: its lowest two bits are 0");
		const std::span<std::byte> all = bytes_of(data, bytes), none;
		const hz::AdminResult answer = device->state->controller->admin(sqe, sqe.opcode & from_device ? all : none,
										sqe.opcode & to_device ? all : none);
		if (result && !answer.status)
			*result = answer.dw0;
		return int(answer.status);
	});
}

int hartzone_io(hartzone_queue *queue, const hartzone_command *command, void *data, uint32_t bytes, uint64_t *result)
{
	const nvme_sqe sqe = entry_of(*command);
	const uint64_t moved = hz::QueuePair::bytes_of(sqe);
	const bool enough = guarded(false, [&] {
		if (moved > bytes)
			throw hz::Error("the command moves " + std::to_string(moved) + " bytes by its fields, and there are only " +
					std::to_string(bytes));
		return true;
	});
	if (!enough)
		return HARTZONE_ERROR;
	const std::span<std::byte> all = bytes_of(data, moved), none;
	return run(queue, sqe, sqe.opcode & to_device ? all : none, sqe.opcode & from_device ? all : none, result);
}

int hartzone_identify(hartzone_device *device, uint8_t cns, uint32_t nsid, uint8_t csi, void *data)
{
	hartzone_command command = command_of(NVME_ADMIN_IDENTIFY, cns, uint32_t(csi) << 24);
	command.nsid = nsid;
	return hartzone_admin(device, &command, data, 4096, nullptr);
}

int hartzone_log_page(hartzone_device *device, uint8_t page, uint32_t nsid, uint64_t offset, void *data, uint32_t bytes)
{
	const uint32_t dwords = bytes / 4 - 1;
	const bool whole = guarded(false, [&] {
		if (bytes == 0 || bytes % 4)
			throw hz::Error("a log page is read in multiples of 4 bytes, not " + std::to_string(bytes));
		return true;
	});
	if (!whole)
		return HARTZONE_ERROR;
	hartzone_command command = command_of(NVME_ADMIN_GET_LOG_PAGE, page | (dwords & 0xffff) << 16, dwords >> 16);
	command.nsid = nsid;
	command.cdw12 = uint32_t(offset);
	command.cdw13 = uint32_t(offset >> 32);
	return hartzone_admin(device, &command, data, bytes, nullptr);
}

int hartzone_get_feature(hartzone_device *device, uint8_t feature, uint8_t select, uint32_t *value)
{
	const hartzone_command command = command_of(NVME_ADMIN_GET_FEATURES, feature | uint32_t(select & 7) << 8, 0);
	uint64_t result = 0;
	const int code = hartzone_admin(device, &command, nullptr, 0, &result);
	if (!code)
		*value = uint32_t(result);
	return code;
}

int hartzone_set_feature(hartzone_device *device, uint8_t feature, uint32_t value)
{
	const hartzone_command command = command_of(NVME_ADMIN_SET_FEATURES, feature, value);
	return hartzone_admin(device, &command, nullptr, 0, nullptr);
}
