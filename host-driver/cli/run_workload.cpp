// The main job: boot, prepare, measure, read the logs, shut down.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_workload.hpp"

#include <chrono>
#include <memory>

#include "cli/machine_run.hpp"
#include "cli/prepared_device.hpp"
#include "cli/run_queues.hpp"
#include "namespaces.h"
#include "results/software.hpp"
#include "results/timeline.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/locate.hpp"

namespace hz::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Facts known before the run; completes the workload for the device.
res::RunFacts facts_before(Machine &machine, const wl::Workload &workload, const replay::TraceSurvey *trace)
{
	res::RunFacts facts;
	facts.device = machine.config();
	facts.attached = !machine.is_ours();
	facts.workload = wl::workload_to_json(workload);
	facts.virtual_clock = machine.region().header().virtual_clock;
	facts.seed = workload.seed;
	facts.mount_ns = machine.region().header().mount_ns;
	facts.mount = machine.region().header().mount;
	if (trace)
		facts.trace = trace->to_json(facts.device.namespace_kind == HZ_NS_ZONED && workload.mapping == wl::Mapping::direct);
	return facts;
}

// Defaults of the workload's tailor from the device.
void fit_tailor(wl::TailorSpec &tailor, const hz_device_config &config)
{
	hz_shape shape;
	hz_namespace_shape(&config, 0, &shape);
	tailor.unit = tailor.unit ? tailor.unit : shape.superpage_sectors;
	tailor.memory = tailor.memory ? tailor.memory : 8 * tailor.unit;
}

void check_namespaces(const wl::Workload &workload, const hz_device_config &config)
{
	for (const uint32_t nsid : workload.namespaces)
		if (nsid > config.namespaces)
			throw wl::WorkloadError(workload.file + ": namespaces: the device has " + std::to_string(config.namespaces) +
						", and no namespace " + std::to_string(nsid));
}

std::shared_ptr<const replay::TraceSurvey> make_ready(wl::Workload &workload, const hz_device_config &config)
{
	if (config.media_mode == HZ_MEDIA_TIMING_ONLY)
		workload.verify = false; // such a device gives zeros
	wl::choose_mapping(workload, config.namespace_kind == HZ_NS_ZONED);
	if (workload.tailor)
		fit_tailor(*workload.tailor, config);
	return workload.trace ? replay::survey_trace(*workload.trace) : nullptr;
}

// All phases after the workload's preparation.
void carry_out(MachineRun &run, const wl::Workload &workload, res::RunFacts &facts)
{
	const GentleStop gentle; // from here on there is something to keep
	run.measure(facts);
	if (workload.verify && facts.interrupted.empty())
		run.read_back(facts);
	run.end();
}

void refuse_kept(const wl::Workload &workload, const char *option, const char *why)
{
	if (workload.keep_prepared)
		throw wl::WorkloadError(workload.file + ": prepared: kept: " + option + " " + why + ": leave one of the two out");
}

// Prepared under the virtual clock, even if the measurement is not.
PreparedDevice prepared_for(const MachineOptions &options, const wl::Workload &workload, const MachineRun::Trace &trace,
			    const std::string &title)
{
	MachineOptions maker = options;
	maker.virtual_clock = true;
	return prepared_device(options, workload, trace, title, software_of(maker, ""));
}

} // namespace

nlohmann::json software_of(const MachineOptions &machine, const std::string &qemu_greeting)
{
	const auto plugin = machine.plugin.empty() && machine.virtual_clock ? locate_plugin() : machine.plugin;
	return res::software_info(machine.firmware.empty() ? locate_firmware() : machine.firmware, machine.virtual_clock ? plugin : "",
				  qemu_greeting);
}

res::RunFacts run_workload(MachineOptions options, wl::Workload workload, const std::string &title)
{
	const auto start = Clock::now();
	check_namespaces(workload, options.config);
	if (!options.nand_image.empty())
		refuse_kept(workload, "--image", "has a device of its own");
	const auto trace = make_ready(workload, options.config);
	options.shm_bytes = shared_bytes(workload, options.config);
	PreparedDevice prepared;
	if (workload.keep_prepared)
		prepared = prepared_for(options, workload, trace, title);
	options.image_copied = prepared.image;
	const auto kept = options.nand_image.empty() ? nullptr : std::make_unique<KeptImage>(options.nand_image, options.format_image);
	auto machine = Machine::launch(options);
	res::RunFacts facts = facts_before(*machine, workload, trace.get());
	facts.prepared_key = prepared.key;
	facts.prepared_story = prepared.story;
	MachineRun run(*machine, workload, title, options.timeline ? res::most_command_spans : 0);
	run.begin(kept.get());
	if (workload.keep_prepared)
		run.recall(trace, std::move(prepared.phases), facts);
	else
		run.prepare(trace, facts);
	carry_out(run, workload, facts);
	facts.software = software_of(options, machine->qemu_greeting());
	facts.plugin_report = machine->plugin_report();
	facts.timeline = machine->plugin_timeline();
	facts.wall_s = seconds_since(start);
	return facts;
}

res::RunFacts run_workload_on(Machine &attached, bool overwrite, wl::Workload workload, const std::string &title)
{
	const auto start = Clock::now();
	check_namespaces(workload, attached.config());
	refuse_kept(workload, "--attach", "uses a device that is up already");
	if (workload.arbitration)
		throw wl::WorkloadError(workload.file +
					": arbitration is chosen when the controller is enabled, and --attach uses one that is: "
					"remove the key, or run without --attach");
	const auto trace = make_ready(workload, attached.config());
	res::RunFacts facts = facts_before(attached, workload, trace.get());
	facts.software = res::software_of_others();
	MachineRun run(attached, workload, title, 0);
	run.begin_shared(overwrite);
	run.prepare(trace, facts);
	carry_out(run, workload, facts);
	facts.wall_s = seconds_since(start);
	return facts;
}

} // namespace hz::cli
