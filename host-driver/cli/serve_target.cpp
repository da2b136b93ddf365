// ServeTarget: options, and the instructions for connecting hosts.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/serve_target.hpp"

#include <algorithm>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "session/machine/error.hpp"

namespace hz::cli {

namespace {

constexpr const char *name_prefix = "nqn.2026-11.org.hartzone:";
constexpr size_t longest_name = 223; // of an NQN

// The error in an NQN suffix, limited to characters that a shell needs no quotes for.
std::string wrong_name(const std::string &name)
{
	const bool legal = std::ranges::all_of(
		name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("-._:", c); });
	return legal && name.size() + std::strlen(name_prefix) <= longest_name ? "" : "takes letters, digits and -._:, not '" + name + "'";
}

std::unique_ptr<fabrics::Recorder> recorder_of(const TargetFlags &flags, const Machine &machine)
{
	if (flags.record.empty())
		return nullptr;
	const fabrics::LaneOptions lanes = flags.lane_options();
	return std::make_unique<fabrics::Recorder>(flags.record,
						   fabrics::RecordHead{machine.config().name, machine.config().worker_count, lanes.lanes,
								       lanes.depth, lanes.queue().turnaround_ns});
}

} // namespace

void TargetFlags::add_to(CLI::App &command)
{
	command.option_defaults()->group("For hosts on a network");
	const auto take = [this](const std::string &text) {
		try {
			address = fabrics::parse_address(text);
			return std::string();
		} catch (const Error &e) {
			return std::string(e.what());
		}
	};
	add_optional(
		command, "--nvme-tcp", "[ADDRESS:PORT]",
		"Show the device as an NVMe/TCP target, which Linux attaches as disks; the virtual clock is then paced by the wall clock. Default: "
		"127.0.0.1:4420; port 0 is any that is free. E.g. --nvme-tcp 127.0.0.1:0",
		take);
	const std::vector<CLI::Option *> before = command.get_options();
	add_flag(command, "--open", open, "Whoever reaches the address may read and write: needed for one that is not of this host alone");
	add_option(command, "--name", "WORD",
		   "The last part of the target's name, and of its disks' ids. Default: the device's name. E.g. --name left",
		   [this](const std::string &text) {
			   name = text;
			   return wrong_name(text);
		   });
	add_count(command, "--lanes", lanes, 1, HZ_MAX_IO_QUEUES,
		  "Queue pairs of the device that the hosts' queues share, each of 128 slots. Default: 8. E.g. --lanes 2");
	add_real(command, "--transport", transport_us, 1, 10000,
		 "Modelled transport delay of a command to the device, in microseconds. Default: 20. E.g. --transport 50");
	add_real(command, "--slow-down", slow_down, 0.01, 10000,
		 "Factor by which device time is slower than the wall clock, so that an emulation on a slow host is in time. Default: 1. "
		 "E.g. --slow-down 50");
	add_text(command, "--record", record, "FILE",
		 "Write each command and its arrival to this file, which ./hartzone run --as-recorded repeats. E.g. --record f2fs.hzr");
	for (const CLI::Option *option : command.get_options())
		if (std::find(before.begin(), before.end(), option) == before.end())
			others_.push_back(option);
}

void TargetFlags::check(bool virtual_clock) const
{
	const auto given = std::ranges::find_if(others_, [](const CLI::Option *option) { return option->count() > 0; });
	if (!address && given != others_.end())
		throw Error((*given)->get_name() + " is for hosts on a network: add --nvme-tcp");
	if (!address)
		return;
	if (!address->is_loopback() && !open)
		throw Error("--nvme-tcp " + address->host + " would let whoever reaches it read and write: add --open if that is wanted");
	if (!virtual_clock && (!record.empty() || slow_down != 1))
		throw Error((record.empty() ? "--slow-down" : "--record") + std::string(" needs device time: leave out --clock real"));
	require_writable_file("--record", record);
}

fabrics::LaneOptions TargetFlags::lane_options() const
{
	fabrics::LaneOptions options;
	options.lanes = static_cast<unsigned>(lanes);
	options.transport_ns = static_cast<uint64_t>(transport_us * 1000);
	options.slow_down = slow_down;
	return options;
}

// The server's loop and the device work at the same time, so they do not share a core.
void TargetFlags::apply(MachineOptions &options) const
{
	if (!address)
		return;
	options.shm_bytes = std::max(options.shm_bytes, lane_options().shared_bytes());
	if (options.virtual_clock && options.plugin_options.find("pin=") == std::string::npos)
		options.plugin_options += (options.plugin_options.empty() ? "" : ",") + std::string("pin=off");
}

ServeTarget::ServeTarget(Controller &controller, const TargetFlags &flags)
	: controller_(controller), attached_(controller.namespaces()), server_(*flags.address),
	  backend_(std::make_unique<fabrics::DeviceBackend>(controller, flags.lane_options(), recorder_of(flags, controller.machine()))),
	  record_(flags.record)
{
	fabrics::SubsystemOptions options;
	const hz_device_config &config = controller.machine().config();
	options.name = name_prefix + (flags.name.empty() ? std::string(config.name) : flags.name);
	options.address = address().host;
	options.service = std::to_string(address().port);
	options.device = &config;
	subsystem_ = std::make_shared<fabrics::Subsystem>(std::move(options), *backend_, attached_);
}

ServeTarget::~ServeTarget()
{
	server_.stop();
	if (thread_.joinable())
		thread_.join();
}

std::string ServeTarget::connect_line() const
{
	return "nvme connect -t tcp -a " + address().host + " -s " + std::to_string(address().port) + " -n " + subsystem_name();
}

std::string ServeTarget::text() const
{
	return "an NVMe/TCP target is at " + address().host + ", port " + std::to_string(address().port) + ":\n  " + connect_line() + "\n" +
	       fabrics::linux_text(subsystem_->exports(), controller_.machine().config());
}

void ServeTarget::run(const std::function<bool()> &stopped) { server_.run(*backend_, subsystem_, stopped); }

void ServeTarget::start()
{
	thread_ = std::thread([this] {
		try {
			run([] { return false; });
		} catch (...) {
			failed_ = std::current_exception();
		}
	});
}

std::string ServeTarget::end()
{
	server_.stop();
	if (thread_.joinable())
		thread_.join();
	if (failed_)
		std::rethrow_exception(failed_);
	const std::string digest = backend_->end();
	std::string text = std::to_string(server_.accepted()) + " connections of hosts";
	if (const std::string late = fabrics::lateness_text(backend_->lateness()); !late.empty())
		text += "; " + late;
	return text + "\n" + (record_.empty() ? "" : record_ + ": digest " + digest + "\n");
}

} // namespace hz::cli
