// Controller: typed admin commands over the process's local or remote control.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/controller.hpp"

#include <algorithm>

#include "session/machine/error.hpp"
#include "session/share/local_control.hpp"
#include "session/nvme/promise_file.hpp"
#include "session/nvme/prp.hpp"
#include "session/share/remote_control.hpp"
#include "session/share/service.hpp"

namespace hz {

namespace {

constexpr uint64_t list_bytes = 8192;

} // namespace

Controller::Controller(Machine &machine, std::chrono::milliseconds timeout) : machine_(machine)
{
	if (machine.is_ours())
		local_ = std::make_unique<LocalControl>(machine, timeout);
	else
		remote_ = std::make_unique<RemoteControl>(machine);
}

Controller::~Controller() = default;

Control &Controller::control()
{
	if (local_)
		return *local_;
	return *remote_;
}

LocalControl &Controller::own(const char *what)
{
	if (!local_)
		throw Error(std::string("only the process that launched the device may ") + what);
	return *local_;
}

Link &Controller::link() { return own("use its registers").link(); }

// An attached process may write into its queues at any time; they must not be reused.
void Controller::end_service()
{
	const size_t others = service_ ? service_->tenants() : 0;
	if (others || thrown_out_)
		throw Error("the controller cannot be reset: " + (others ? std::to_string(others) : std::string("some")) +
			    " other processes are attached to it");
	service_.reset();
}

void Controller::enable(nvme_cc_ams arbitration)
{
	LocalControl &local = own("enable it");
	end_service();
	buffer_ = 0;
	local.enable(arbitration);
}

void Controller::disable()
{
	LocalControl &local = own("disable it");
	end_service();
	local.disable();
}

void Controller::shutdown()
{
	LocalControl &local = own("shut it down");
	thrown_out_ |= service_ && service_->tenants();
	service_.reset();
	local.shutdown();
}

void Controller::disconnect() { own("hang up").disconnect(); }

void Controller::serve()
{
	LocalControl &local = own("let others in");
	local.require_enabled();
	PromiseFile::show(machine_);
	if (!service_)
		service_ = std::make_unique<Service>(machine_.run_directory(), local);
}

void Controller::leave()
{
	if (remote_)
		remote_->leave();
}

// A write that masks no interrupt: the device acts upon it where its time stands.
void Controller::await_standing() { link().write32(NVME_REG_INTMS, 0); }

AdminResult Controller::admin(nvme_sqe sqe, std::span<std::byte> in, std::span<const std::byte> out, const std::function<void()> &meanwhile)
{
	const auto run = [&] { return meanwhile ? own("see a command begin").admin(sqe, meanwhile) : control().admin(sqe); };
	const uint64_t bytes = std::max(in.size(), out.size());
	if (local_)
		local_->require_enabled();
	if (bytes > admin_buffer_bytes)
		throw Error("an admin command moves at most 512 KiB, not " + std::to_string(bytes) + " bytes");
	PromiseFile::before_admin(machine_, sqe);
	if (!bytes)
		return run();
	if (!buffer_)
		buffer_ = control().allocate(admin_buffer_bytes + list_bytes);
	Region &region = machine_.region();
	std::byte *buffer = region.at(buffer_, admin_buffer_bytes);
	std::copy(out.begin(), out.end(), buffer);
	const PrpPair pair = build_prps(region, buffer_, bytes, buffer_ + admin_buffer_bytes);
	sqe.prp1 = pair.prp1;
	sqe.prp2 = pair.prp2;
	const AdminResult result = run();
	std::copy_n(buffer, in.size(), in.begin());
	return result;
}

uint32_t Controller::require(const char *what, nvme_sqe sqe, std::span<std::byte> in, std::span<const std::byte> out)
{
	const AdminResult result = admin(sqe, in, out);
	require_success(what, result);
	return result.dw0;
}

std::vector<std::byte> Controller::identify(uint8_t cns, uint32_t nsid, uint8_t csi)
{
	std::vector<std::byte> data(4096);
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_IDENTIFY;
	sqe.nsid = nsid;
	sqe.cdw10 = cns;
	sqe.cdw11 = static_cast<uint32_t>(csi) << 24;
	require("Identify", sqe, data);
	return data;
}

uint32_t Controller::get_feature(uint8_t fid, uint32_t cdw11)
{
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_GET_FEATURES;
	sqe.cdw10 = fid;
	sqe.cdw11 = cdw11;
	return require("Get Features", sqe);
}

uint32_t Controller::set_feature(uint8_t fid, uint32_t cdw11)
{
	nvme_sqe sqe{};
	sqe.opcode = NVME_ADMIN_SET_FEATURES;
	sqe.cdw10 = fid;
	sqe.cdw11 = cdw11;
	return require("Set Features", sqe);
}

BusAddress Controller::allocate(uint64_t bytes) { return control().allocate(bytes); }
void Controller::free(BusAddress address) { control().free(address); }

std::unique_ptr<QueuePair> Controller::create_queue(unsigned qid, const QueueOptions &options)
{
	return std::make_unique<QueuePair>(machine_, control().create_queue(qid, options), options);
}

void Controller::delete_queue(std::unique_ptr<QueuePair> queue) { control().delete_queue(queue->qid()); }

} // namespace hz
