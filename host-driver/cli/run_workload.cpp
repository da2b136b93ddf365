// The main job: boot, prepare, measure, read the logs, shut down.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "cli/run_workload.hpp"
#include "keep/kept_image.hpp"
#include "keep/shared_device.hpp"
#include "namespaces.h"
#include "replay/plan.hpp"
#include "replay/read_back.hpp"
#include "replay/runner.hpp"
#include "results/software.hpp"
#include "results/timeline.hpp"
#include "session/controller.hpp"
#include "session/error.hpp"
#include "session/interrupt.hpp"
#include "session/locate.hpp"

namespace hz::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t start_margin_ns = 100000; // between reading the device's time and the first arrival
constexpr uint64_t admin_heap_bytes = 4 << 20;
constexpr uint64_t most_shared_bytes = 8ull << 30; // with the flash it must fit into the machine's 16 GiB for such memory

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Commands of a queue that the device may have before they arrive.
unsigned room_ahead(unsigned queue_depth) { return std::min<unsigned>(wl::most_ahead, HZ_MAX_QUEUE_DEPTH - 1 - queue_depth); }

QueueOptions queue_options(unsigned queue_depth, uint32_t turnaround_ns, uint32_t nsid = 1)
{
	QueueOptions o;
	o.nsid = nsid;
	o.depth = queue_depth + room_ahead(queue_depth) + 1; // one slot of a ring stays empty
	o.data_bytes = HZ_MAX_TRANSFER_SECTORS * HZ_SECTOR_BYTES;
	o.turnaround_ns = turnaround_ns;
	return o;
}

uint32_t nsid_of(const wl::Workload &w, size_t thread) { return w.namespaces[thread % w.namespaces.size()]; }

unsigned depth_of(const wl::Workload &w, size_t thread) { return w.trace ? w.trace->queue_depth : w.threads[thread].queue_depth; }

uint64_t heap_bytes(const wl::Workload &w)
{
	uint64_t bytes = admin_heap_bytes;
	for (size_t i = 0; i < w.thread_count(); i++)
		bytes += layout_of(queue_options(depth_of(w, i), w.turnaround_ns)).bytes;
	return bytes;
}

// Of the region with all queues and their data.
uint64_t shared_bytes(const wl::Workload &w)
{
	const uint64_t bytes = shm_bytes_for(heap_bytes(w));
	if (bytes > most_shared_bytes)
		throw wl::WorkloadError(w.file + ": the queues of " + std::to_string(w.thread_count()) + " threads need " +
					std::to_string(bytes >> 30) + " GiB of memory that the host shares with the device, and " +
					std::to_string(most_shared_bytes >> 30) +
					" GiB is the most: use fewer threads or a smaller queue depth");
	return bytes;
}

// One run on a booted machine.
class Run {
public:
	Run(Machine &machine, const wl::Workload &workload, std::string title, size_t most_spans)
		: machine_(machine), workload_(workload), title_(std::move(title)), most_spans_(most_spans), controller_(machine)
	{
	}

	// Of a machine of our own, whose image may be kept (or null).
	void begin(KeptImage *kept)
	{
		controller_.enable();
		make_queues();
		if (!kept)
			return;
		std::vector<FoundSpace> found = found_spaces();
		add_others(found);
		kept->begin(found, controller_.log_smart().power_cycles[0]);
		for (size_t i = 0; i < spaces_.size(); i++)
			beside_.push_back(&kept->space(i));
		look_beside();
	}

	// Of another process, which is up. overwrite: as of SharedDevice.
	void begin_shared(bool overwrite)
	{
		make_queues();
		const std::vector<FoundSpace> found = found_spaces();
		const uint64_t now_ns = controller_.log_harts().now_ns;
		for (const FoundSpace &space : found)
			shared_.push_back(std::make_unique<SharedDevice>(space, overwrite, now_ns));
		for (const auto &space : shared_)
			beside_.push_back(space.get());
		look_beside();
	}

	void prepare(const std::shared_ptr<const replay::TraceSurvey> &trace, res::RunFacts &facts)
	{
		facts.kept_zones = kept_zones();
		plan_ = plan_for(trace);
		facts.prepared = phase("preparing " + title_, sources());
		begin_accounts();
	}

	void measure(res::RunFacts &facts)
	{
		for (replay::ThreadPlan &thread : plan_.threads)
			thread.source->begin_measurement();
		const auto start = Clock::now();
		facts.queues = phase(title_, sources(), most_spans_);
		facts.replay_wall_s = seconds_since(start);
		if (cut_short(facts.queues))
			facts.interrupted = "measurement";
		set_elapsed(facts);
		static_cast<res::DeviceFigures &>(facts) = figures();
		res::subtract(facts, before_);
		for (const replay::ThreadPlan &thread : plan_.threads)
			facts.mapping.push_back(thread.source->cost());
		note_tailor(facts);
	}

	// Reads all that the workload left behind; no figure of the measurement sees it.
	void read_back(res::RunFacts &facts)
	{
		std::vector<std::unique_ptr<replay::ReadBack>> readers;
		std::vector<wl::Source *> all;
		for (replay::ThreadPlan &thread : plan_.threads)
			readers.push_back(std::make_unique<replay::ReadBack>(thread.source->live(), HZ_MAX_TRANSFER_SECTORS));
		for (auto &reader : readers)
			all.push_back(reader.get());
		facts.read_back = phase("verifying " + title_, all);
		if (cut_short(facts.read_back))
			facts.interrupted = "verification";
	}

	void end()
	{
		for (auto &queue : queues_)
			controller_.delete_queue(std::move(queue));
		if (!machine_.is_ours())
			return controller_.leave();
		controller_.shutdown();
		controller_.disconnect();
		for (auto &port : kept_ports_)
			port->settle();
		machine_.require_exit(std::chrono::milliseconds(60000));
	}

private:
	void note_tailor(res::RunFacts &facts) const
	{
		if (!workload_.tailor)
			return;
		replay::TailorFigures all;
		for (const replay::ThreadPlan &thread : plan_.threads)
			all.merge(thread.tailor->figures());
		facts.iotailor = replay::json_of(all);
	}

	res::DeviceFigures figures()
	{
		return {controller_.log_harts(), controller_.log_flash(), controller_.log_ftl(), controller_.log_locks(),
			namespace_figures()};
	}

	std::vector<res::NamespaceFigures> namespace_figures()
	{
		std::vector<res::NamespaceFigures> parts;
		if (machine_.config().namespaces > 1)
			for (const uint32_t nsid : controller_.namespaces())
				parts.push_back({nsid, controller_.log_ftl(nsid)});
		return parts;
	}

	// On a device of others nothing is set to zero: another run may be in the midst of its measurement.
	void begin_accounts()
	{
		if (machine_.is_ours())
			controller_.reset_stats();
		else
			before_ = figures();
	}

	// Queues of a device that is up are those that are free.
	void make_queues()
	{
		for (size_t i = 0; i < workload_.thread_count(); i++) {
			const QueueOptions options = queue_options(depth_of(workload_, i), workload_.turnaround_ns, nsid_of(workload_, i));
			const unsigned qid = machine_.is_ours() ? static_cast<unsigned>(i + 1) : any_queue;
			queues_.push_back(controller_.create_queue(qid, options));
			ports_.push_back(std::make_unique<replay::QueuePort>(*queues_.back()));
		}
		for (size_t i = 0; i < workload_.namespaces.size() && i < queues_.size(); i++)
			spaces_.push_back({.device = controller_.namespace_info(*queues_[i])});
	}

	// The run's namespaces; the queue of the first thread of each looks at it.
	std::vector<FoundSpace> found_spaces()
	{
		std::vector<FoundSpace> found;
		for (size_t i = 0; i < spaces_.size(); i++) {
			const NamespaceInfo &device = spaces_[i].device;
			found.push_back({.nsid = nsid_of(workload_, i),
					 .workload = wl::part_of(workload_, i, spaces_.size()),
					 .device = device,
					 .zones = device.zoned ? controller_.zone_report(*queues_[i]) : std::vector<nvme_zone_descriptor>(),
					 .only = machine_.config().namespaces == 1});
		}
		return found;
	}

	// Those that the run leaves alone.
	void add_others(std::vector<FoundSpace> &found)
	{
		const auto nobody = wl::part_of(workload_, workload_.thread_count(), 1);
		if (machine_.config().namespaces == 1)
			return;
		for (const uint32_t nsid : controller_.namespaces())
			if (std::find(workload_.namespaces.begin(), workload_.namespaces.end(), nsid) == workload_.namespaces.end())
				found.push_back({.nsid = nsid,
						 .workload = nobody,
						 .device = controller_.namespace_info(nsid),
						 .zones = {},
						 .only = false});
	}

	size_t space_of(size_t thread) const { return thread % spaces_.size(); }

	// What is left of the device beside the data of others.
	void look_beside()
	{
		for (size_t i = 0; i < ports_.size(); i++)
			kept_ports_.push_back(beside_[space_of(i)]->port(*ports_[i]));
		for (size_t i = 0; i < spaces_.size(); i++) {
			spaces_[i].device = beside_[i]->view().seen(spaces_[i].device, beside_[i]->go_on());
			spaces_[i].fresh = beside_[i]->fresh();
		}
	}

	uint64_t kept_zones() const
	{
		uint64_t zones = 0;
		for (const Beside *beside : beside_)
			zones += beside->view().kept_zones();
		return zones;
	}

	uint64_t pattern_seed(size_t thread) const
	{
		return beside_.empty() ? workload_.seed_of(nsid_of(workload_, thread)) : beside_[space_of(thread)]->pattern_seed();
	}

	replay::Plan plan_for(const std::shared_ptr<const replay::TraceSurvey> &trace) const
	{
		try {
			return replay::make_plan(workload_, spaces_, trace);
		} catch (const wl::WorkloadError &e) {
			if (!kept_zones())
				throw;
			throw wl::WorkloadError(std::string(e.what()) + "; " + std::to_string(kept_zones()) +
						" zones hold data of others or of earlier runs" + beside_.front()->go_on());
		}
	}

	std::vector<wl::Source *> sources() const
	{
		std::vector<wl::Source *> all;
		for (const replay::ThreadPlan &thread : plan_.threads)
			all.push_back(thread.source.get());
		return all;
	}

	std::vector<res::QueueAccount> phase(const std::string &title, const std::vector<wl::Source *> &sources, size_t most_spans = 0)
	{
		const uint64_t start_ns = controller_.log_harts().now_ns + start_margin_ns;
		std::vector<replay::PhaseThread> threads;
		for (size_t i = 0; i < sources.size(); i++) {
			replay::ThreadOptions options;
			options.seed = pattern_seed(i);
			options.start_ns = start_ns;
			options.queue_depth = plan_.threads[i].queue_depth;
			options.verify = workload_.verify;
			options.most_spans = most_spans;
			options.ahead = may_place_ahead() ? std::min(workload_.ahead, room_ahead(options.queue_depth)) : 0;
			replay::Port *port = kept_ports_.empty() ? ports_[i].get() : static_cast<replay::Port *>(kept_ports_[i].get());
			threads.push_back({port, sources[i], options});
		}
		std::vector<res::QueueAccount> accounts = replay::run_phase(threads, title, [this] { abort(); });
		name_namespaces(accounts);
		return accounts;
	}

	// Not on a kept image: its record notes a command when it is submitted, so there that is when it arrives.
	bool may_place_ahead() const { return machine_.region().virtual_clock() && beside_.size() == shared_.size(); }

	// A queue that is left alone holds device time, for all who use the device: the end of this process gives it back.
	void abort()
	{
		if (machine_.is_ours())
			machine_.kill();
		else
			machine_.give_up("another thread of this run has failed");
	}

	void name_namespaces(std::vector<res::QueueAccount> &accounts) const
	{
		for (size_t i = 0; i < accounts.size(); i++)
			accounts[i].nsid = nsid_of(workload_, i);
	}

	static bool cut_short(const std::vector<res::QueueAccount> &queues)
	{
		return std::any_of(queues.begin(), queues.end(), [](const res::QueueAccount &queue) { return queue.interrupted; });
	}

	static void set_elapsed(res::RunFacts &facts)
	{
		uint64_t first_ns = UINT64_MAX, last_ns = 0;
		for (const res::QueueAccount &account : facts.queues) {
			first_ns = std::min(first_ns, account.first_arrival_ns);
			last_ns = std::max(last_ns, account.last_completion_ns);
		}
		facts.elapsed_ns = last_ns > first_ns ? last_ns - first_ns : 0;
	}

	Machine &machine_;
	const wl::Workload &workload_;
	std::string title_;
	size_t most_spans_; // of each queue's commands in the measurement
	Controller controller_;
	std::vector<replay::Space> spaces_;  // what the run may use of each namespace, in the order of the workload
	std::vector<const Beside *> beside_; // what lies there, in the same order; empty: all of the device is this run's
	std::vector<std::unique_ptr<SharedDevice>> shared_;
	replay::Plan plan_;
	res::DeviceFigures before_; // when the measurement began: all zero on a device of our own
	std::vector<std::unique_ptr<QueuePair>> queues_;
	std::vector<std::unique_ptr<replay::Port>> ports_;
	std::vector<std::unique_ptr<KeptPort>> kept_ports_; // in front of them, beside data of others
};

// What is known of a run before it begins; the workload is made ready for the device.
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

// What a workload leaves open of it is the device's.
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

void carry_out(Run &run, const wl::Workload &workload, const std::shared_ptr<const replay::TraceSurvey> &trace, res::RunFacts &facts)
{
	run.prepare(trace, facts);
	const GentleStop gentle; // from here on there is something to keep
	run.measure(facts);
	if (workload.verify && facts.interrupted.empty())
		run.read_back(facts);
	run.end();
}

} // namespace

nlohmann::json software_of(const MachineOptions &machine)
{
	const auto plugin = machine.plugin.empty() && machine.virtual_clock ? locate_plugin() : machine.plugin;
	return res::software_info(machine.firmware.empty() ? locate_firmware() : machine.firmware, machine.virtual_clock ? plugin : "");
}

res::RunFacts run_workload(MachineOptions options, wl::Workload workload, const std::string &title)
{
	const auto start = Clock::now();
	check_namespaces(workload, options.config);
	const auto trace = make_ready(workload, options.config);
	options.shm_bytes = shared_bytes(workload);
	const auto kept = options.nand_image.empty() ? nullptr : std::make_unique<KeptImage>(options.nand_image, options.format_image);
	auto machine = Machine::launch(options);
	res::RunFacts facts = facts_before(*machine, workload, trace.get());
	facts.software = software_of(options);
	Run run(*machine, workload, title, options.timeline ? res::most_command_spans : 0);
	run.begin(kept.get());
	carry_out(run, workload, trace, facts);
	facts.plugin_report = machine->plugin_report();
	facts.timeline = machine->plugin_timeline();
	facts.wall_s = seconds_since(start);
	return facts;
}

res::RunFacts run_workload_on(Machine &attached, bool overwrite, wl::Workload workload, const std::string &title)
{
	const auto start = Clock::now();
	check_namespaces(workload, attached.config());
	const auto trace = make_ready(workload, attached.config());
	res::RunFacts facts = facts_before(attached, workload, trace.get());
	facts.software = res::software_of_others();
	Run run(attached, workload, title, 0);
	run.begin_shared(overwrite);
	carry_out(run, workload, trace, facts);
	facts.wall_s = seconds_since(start);
	return facts;
}

} // namespace hz::cli
