// ServeTarget: options, and the instructions for connecting hosts.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/serve_target.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "session/machine/error.hpp"

namespace hz::cli {

namespace {

constexpr const char *name_prefix = "nqn.2026-11.org.hartzone:";
constexpr size_t longest_name = 223; // of an NQN
constexpr const char *target_variable = "HARTZONE_NVME_CONNECT", *key_variable = "HARTZONE_DHCHAP_SECRET",
		     *target_key_variable = "HARTZONE_DHCHAP_CTRL_SECRET";
constexpr std::streamsize longest_key_file = 1024;

// The error in an NQN suffix, limited to characters that a shell needs no quotes for.
std::string wrong_name(const std::string &name)
{
	const bool legal = std::ranges::all_of(
		name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("-._:", c); });
	return legal && name.size() + std::strlen(name_prefix) <= longest_name ? "" : "takes letters, digits and -._:, not '" + name + "'";
}

// A key, or a file that has one. Errors never have the text in them: it may be a key with an error.
std::string take_key(std::optional<fabrics::SharedKey> &key, const std::string &text)
{
	std::string found = text;
	const bool is_file = !text.starts_with("DHHC-");
	if (is_file) {
		std::ifstream file(text);
		found.assign(longest_key_file, '\0');
		file.read(found.data(), longest_key_file);
		if (file.bad() || !file.gcount())
			return "takes a key, DHHC-1:…, or the path of a file that has one: this is neither";
		found.resize(static_cast<size_t>(file.gcount()));
	}
	try {
		key.emplace(fabrics::SharedKey::parse(found));
	} catch (const Error &wrong) {
		return (is_file ? "names a file whose content " : "") + std::string(wrong.what());
	}
	return {};
}

void take_variable(std::optional<fabrics::SharedKey> &key, const char *variable)
{
	const char *text = std::getenv(variable);
	if (key || !text || !*text)
		return;
	if (const std::string wrong = take_key(key, text); !wrong.empty())
		throw Error(std::string("$") + variable + " " + wrong);
}

std::string wrong_host(const std::string &name)
{
	const bool legal = name.starts_with("nqn.") && name.size() <= longest_name &&
			   std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f; });
	return legal ? ""
		     : "takes the NQN of a host, as /etc/nvme/hostnqn has it, such as nqn.2014-08.org.nvmexpress:uuid:…, not '" + name +
			       "'";
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
	add_flag(
		command, "--open", open,
		"Whoever reaches the address may read and write. One that is not of this host alone needs this, or --allow-host and --dhchap-secret");
	add_access(command);
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
	add_text(
		command, "--record", record, "FILE",
		"Write each command and its arrival to this file, which ./hartzone run --as-recorded or --by-dependencies repeats. E.g. --record f2fs.hzr");
	for (const CLI::Option *option : command.get_options())
		if (std::find(before.begin(), before.end(), option) == before.end())
			others_.push_back(option);
}

void TargetFlags::add_access(CLI::App &command)
{
	add_repeated(
		command, "--allow-host", "NQN",
		"The name of a host that may connect, as its /etc/nvme/hostnqn has it; no other may that is not named too. May be given several "
		"times. "
		"E.g. --allow-host nqn.2014-08.org.nvmexpress:uuid:6861727a-6f6e-4865-8000-6c696e757800",
		[this](const std::string &text) {
			access.hosts.insert(text);
			return wrong_host(text);
		});
	add_option(command, "--dhchap-secret", "FILE|KEY",
		   "The key that hosts must have (DH-HMAC-CHAP), as nvme gen-dhchap-key makes it, or a file with it. Default: "
		   "$HARTZONE_DHCHAP_SECRET. E.g. --dhchap-secret host.key",
		   [this](const std::string &text) { return take_key(access.key, text); });
	add_option(command, "--dhchap-ctrl-secret", "FILE|KEY",
		   "The key of the target, for hosts that want it to authenticate too. Default: $HARTZONE_DHCHAP_CTRL_SECRET. "
		   "E.g. --dhchap-ctrl-secret target.key",
		   [this](const std::string &text) { return take_key(access.target_key, text); });
}

void TargetFlags::take_environment()
{
	if (!address || open)
		return;
	take_variable(access.key, key_variable);
	take_variable(access.target_key, target_key_variable);
}

// Names of hosts are no secret: they alone keep nobody out.
void TargetFlags::check_access() const
{
	const bool limited = !access.hosts.empty() || access.key || access.target_key;
	if (open && limited)
		throw Error("--open lets everyone in: leave it out, or --allow-host, --dhchap-secret and --dhchap-ctrl-secret");
	if (access.target_key && !access.key)
		throw Error("--dhchap-ctrl-secret is for hosts that authenticate: add --dhchap-secret");
	if (!address->is_loopback() && !open && (access.hosts.empty() || !access.key))
		throw Error("--nvme-tcp " + address->host + " would let whoever reaches it read and write: add " +
			    (access.hosts.empty() ? "--allow-host" : "") + (access.hosts.empty() && !access.key ? " and " : "") +
			    (access.key ? "" : "--dhchap-secret") + ", or --open if that is wanted");
}

void TargetFlags::check(bool virtual_clock) const
{
	const auto given = std::ranges::find_if(others_, [](const CLI::Option *option) { return option->count() > 0; });
	if (!address && given != others_.end())
		throw Error((*given)->get_name() + " is for hosts on a network: add --nvme-tcp");
	if (!address)
		return;
	check_access();
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
	: controller_(controller), server_(*flags.address),
	  backend_(std::make_unique<fabrics::DeviceBackend>(controller, flags.lane_options(), recorder_of(flags, controller.machine()))),
	  record_(flags.record)
{
	fabrics::SubsystemOptions options;
	const hz_device_config &config = controller.machine().config();
	options.name = name_prefix + (flags.name.empty() ? std::string(config.name) : flags.name);
	options.address = address().host;
	options.service = std::to_string(address().port);
	options.device = &config;
	options.access = flags.access;
	subsystem_ = std::make_shared<fabrics::Subsystem>(std::move(options), *backend_, backend_->attached());
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

std::vector<std::string> ServeTarget::settings() const
{
	const fabrics::Access &access = subsystem_->options().access;
	std::vector<std::string> settings{target_variable + ("=" + connect_line())};
	if (access.key)
		settings.push_back(key_variable + ("=" + access.key->text()));
	if (access.target_key)
		settings.push_back(target_key_variable + ("=" + access.target_key->text()));
	return settings;
}

// The keys are shown to nobody.
std::string ServeTarget::text() const
{
	const fabrics::Access &access = subsystem_->options().access;
	const std::string keys = std::string(access.key ? " --dhchap-secret KEY" : "") +
				 (access.target_key ? " --dhchap-ctrl-secret KEY" : "");
	return "an NVMe/TCP target is at " + address().host + ", port " + std::to_string(address().port) + ":\n  " + connect_line() + keys +
	       "\n" + fabrics::linux_text(subsystem_->exports(), controller_.machine().config());
}

void ServeTarget::run(const std::function<bool()> &stopped) { server_.run(*backend_, subsystem_, stopped); }

void ServeTarget::start()
{
	thread_ = std::thread([this] {
		try {
			run([] { return false; });
		} catch (...) {
			failed_ = std::current_exception();
			has_failed_ = true;
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
