// MachineRun: the phases of a run and the figures between them.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/machine_run.hpp"

#include <algorithm>
#include <chrono>

#include "cli/run_queues.hpp"
#include "replay/read_back.hpp"
#include "session/machine/error.hpp"

namespace hz::cli {

namespace {

constexpr uint64_t start_margin_ns = 100000; // between reading the device's time and the first arrival
constexpr uint64_t rest_ns = 20000000;       // long enough for several erases, the longest operation of flash

bool cut_short(const std::vector<res::QueueAccount> &queues)
{
	return std::any_of(queues.begin(), queues.end(), [](const res::QueueAccount &queue) { return queue.interrupted; });
}

void set_elapsed(res::RunFacts &facts)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	for (const res::QueueAccount &account : facts.queues) {
		first_ns = std::min(first_ns, account.first_arrival_ns);
		last_ns = std::max(last_ns, account.last_completion_ns);
	}
	facts.elapsed_ns = last_ns > first_ns ? last_ns - first_ns : 0;
}

// A failed preparation must not pass for a prepared device.
void require_success(const std::vector<res::QueueAccount> &queues)
{
	for (const res::QueueAccount &queue : queues) {
		if (queue.failures)
			throw Error("the device could not be prepared: " + queue.first_failure);
		if (queue.mismatched_sectors)
			throw Error("the device could not be prepared: " + queue.first_mismatch);
	}
}

/* Feature 01h; its weights are 0's based. */
uint32_t feature_of(const wl::ArbitrationSpec &a) { return (a.high - 1) << 24 | (a.medium - 1) << 16 | (a.low - 1) << 8 | a.burst; }

} // namespace

MachineRun::MachineRun(Machine &machine, const wl::Workload &workload, std::string title, size_t most_spans)
	: machine_(machine), workload_(workload), title_(std::move(title)), most_spans_(most_spans), controller_(machine)
{
}

void MachineRun::begin(KeptImage *kept)
{
	controller_.enable(workload_.arbitration ? NVME_CC_AMS_WEIGHTED : NVME_CC_AMS_ROUND_ROBIN);
	if (workload_.arbitration)
		controller_.set_feature(NVME_FEAT_ARBITRATION, feature_of(*workload_.arbitration));
	make_queues();
	if (!kept)
		return;
	std::vector<FoundNamespace> found = found_namespaces();
	add_others(found);
	image_starts_ = controller_.log_smart().power_cycles[0];
	kept->begin(found, image_starts_);
	for (size_t i = 0; i < targets_.size(); i++)
		beside_.push_back(&kept->beside(i));
	look_beside();
}

void MachineRun::begin_shared(bool overwrite)
{
	make_queues();
	const std::vector<FoundNamespace> found = found_namespaces();
	const uint64_t now_ns = controller_.log_harts().now_ns;
	for (const FoundNamespace &one : found)
		shared_.push_back(std::make_unique<SharedDevice>(one, overwrite, now_ns));
	for (const auto &one : shared_)
		beside_.push_back(one.get());
	look_beside();
}

void MachineRun::prepare(const Trace &trace, res::RunFacts &facts)
{
	facts.image_starts = image_starts_;
	facts.kept_zones = kept_zones();
	plan_ = plan_for(trace);
	facts.prepared = phase("preparing " + title_, threads_of(sources(), ports(), next_start()));
	rest(facts.prepared);
	begin_accounts();
}

std::vector<replay::RecordedPhase> MachineRun::prepare_recorded(const Trace &trace)
{
	plan_ = plan_for(trace);
	const uint64_t start_ns = next_start();
	std::vector<std::unique_ptr<replay::RecordingPort>> recorders;
	std::vector<replay::Port *> through;
	for (replay::Port *port : ports()) {
		recorders.push_back(std::make_unique<replay::RecordingPort>(*port, start_ns));
		through.push_back(recorders.back().get());
	}
	require_success(phase("preparing " + title_, threads_of(sources(), through, start_ns)));
	std::vector<replay::RecordedPhase> phases;
	for (const auto &recorder : recorders)
		phases.push_back(recorder->recorded());
	return phases;
}

void MachineRun::recall(const Trace &trace, std::vector<replay::RecordedPhase> phases, res::RunFacts &facts)
{
	plan_ = plan_for(trace);
	phases.resize(plan_.threads.size()); // one too few ends before its commands do
	std::vector<std::unique_ptr<replay::RecordedPort>> recorded;
	std::vector<replay::Port *> through;
	for (size_t i = 0; i < phases.size(); i++) {
		recorded.push_back(std::make_unique<replay::RecordedPort>(ports_[i]->qid(), workload_.turnaround_ns, std::move(phases[i])));
		through.push_back(recorded.back().get());
	}
	std::vector<replay::PhaseThread> threads = threads_of(sources(), through, 0);
	for (replay::PhaseThread &thread : threads)
		thread.options.verify = false;
	facts.prepared = phase("recalling how " + title_ + " was prepared", threads);
	for (const auto &port : recorded)
		port->require_end();
	begin_accounts();
}

void MachineRun::measure(res::RunFacts &facts)
{
	for (replay::ThreadPlan &thread : plan_.threads)
		thread.source->begin_measurement();
	std::vector<replay::PhaseThread> threads = threads_of(sources(), ports(), next_start());
	for (replay::PhaseThread &thread : threads)
		thread.options.most_spans = most_spans_;
	const auto start = std::chrono::steady_clock::now();
	facts.queues = phase(title_, threads);
	facts.replay_wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
	if (cut_short(facts.queues))
		facts.interrupted = "measurement";
	set_elapsed(facts);
	static_cast<res::DeviceFigures &>(facts) = res::figures_of(controller_);
	res::subtract(facts, before_);
	for (const replay::ThreadPlan &thread : plan_.threads)
		facts.mapping.push_back(thread.source->cost());
	note_tailor(facts);
}

void MachineRun::read_back(res::RunFacts &facts)
{
	std::vector<std::unique_ptr<replay::ReadBack>> readers;
	std::vector<wl::Source *> all;
	for (replay::ThreadPlan &thread : plan_.threads)
		readers.push_back(std::make_unique<replay::ReadBack>(thread.source->live(), HZ_MAX_TRANSFER_SECTORS));
	for (auto &reader : readers)
		all.push_back(reader.get());
	facts.read_back = phase("verifying " + title_, threads_of(all, ports(), next_start()));
	if (cut_short(facts.read_back))
		facts.interrupted = "verification";
}

void MachineRun::end()
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

void MachineRun::note_tailor(res::RunFacts &facts) const
{
	if (!workload_.tailor)
		return;
	replay::TailorFigures all;
	for (const replay::ThreadPlan &thread : plan_.threads)
		all.merge(thread.tailor->figures());
	facts.iotailor = replay::json_of(all);
}

// Flash still programs what the preparation wrote; the measurement would count that as its own. On a shared device others go on.
void MachineRun::rest(const std::vector<res::QueueAccount> &prepared)
{
	const bool wrote = std::any_of(prepared.begin(), prepared.end(), [](const res::QueueAccount &queue) { return queue.submitted; });
	if (machine_.is_ours() && machine_.region().virtual_clock() && wrote)
		queues_.front()->run(QueuePair::no_operation(), {}, {}, rest_ns);
}

// On a shared device counters are not reset: another run may be measuring.
void MachineRun::begin_accounts()
{
	if (machine_.is_ours())
		controller_.reset_stats();
	else
		before_ = res::figures_of(controller_);
}

// On a running device, use free queue ids.
void MachineRun::make_queues()
{
	for (size_t i = 0; i < workload_.thread_count(); i++) {
		const unsigned qid = machine_.is_ours() ? static_cast<unsigned>(i + 1) : any_queue;
		queues_.push_back(controller_.create_queue(qid, queue_options(workload_, machine_.config(), i)));
		ports_.push_back(std::make_unique<replay::QueuePort>(*queues_.back()));
	}
	for (size_t i = 0; i < workload_.namespaces.size() && i < queues_.size(); i++)
		targets_.push_back({.device = controller_.namespace_info(*queues_[i])});
}

// The run's namespaces; the queue of each namespace's first thread identifies it.
std::vector<FoundNamespace> MachineRun::found_namespaces()
{
	std::vector<FoundNamespace> found;
	for (size_t i = 0; i < targets_.size(); i++) {
		const NamespaceInfo &device = targets_[i].device;
		found.push_back({.nsid = nsid_of(workload_, i),
				 .workload = wl::part_of(workload_, i, targets_.size()),
				 .device = device,
				 .zones = device.zoned ? controller_.zone_report(*queues_[i]) : std::vector<nvme_zone_descriptor>(),
				 .only = machine_.config().namespaces == 1});
	}
	return found;
}

// Those that the run leaves alone.
void MachineRun::add_others(std::vector<FoundNamespace> &found)
{
	const auto nobody = wl::part_of(workload_, workload_.thread_count(), 1);
	if (machine_.config().namespaces == 1)
		return;
	for (const uint32_t nsid : controller_.namespaces())
		if (std::find(workload_.namespaces.begin(), workload_.namespaces.end(), nsid) == workload_.namespaces.end())
			found.push_back(
				{.nsid = nsid, .workload = nobody, .device = controller_.namespace_info(nsid), .zones = {}, .only = false});
}

// The part of the device not used by others' data.
void MachineRun::look_beside()
{
	for (size_t i = 0; i < ports_.size(); i++)
		kept_ports_.push_back(beside_[target_of(i)]->port(*ports_[i]));
	for (size_t i = 0; i < targets_.size(); i++) {
		targets_[i].device = beside_[i]->view().seen(targets_[i].device, beside_[i]->go_on());
		targets_[i].fresh = beside_[i]->fresh();
	}
}

uint64_t MachineRun::kept_zones() const
{
	uint64_t zones = 0;
	for (const Beside *beside : beside_)
		zones += beside->view().kept_zones();
	return zones;
}

uint64_t MachineRun::pattern_seed(size_t thread) const
{
	return beside_.empty() ? workload_.seed_of(nsid_of(workload_, thread)) : beside_[target_of(thread)]->pattern_seed();
}

replay::Plan MachineRun::plan_for(const Trace &trace) const
{
	try {
		return replay::make_plan(workload_, targets_, trace);
	} catch (const wl::WorkloadError &e) {
		if (!kept_zones())
			throw;
		throw wl::WorkloadError(std::string(e.what()) + "; " + std::to_string(kept_zones()) +
					" zones hold data of others or of earlier runs" + beside_.front()->go_on());
	}
}

std::vector<wl::Source *> MachineRun::sources() const
{
	std::vector<wl::Source *> all;
	for (const replay::ThreadPlan &thread : plan_.threads)
		all.push_back(thread.source.get());
	return all;
}

std::vector<replay::Port *> MachineRun::ports() const
{
	std::vector<replay::Port *> all;
	for (size_t i = 0; i < ports_.size(); i++)
		all.push_back(kept_ports_.empty() ? ports_[i].get() : static_cast<replay::Port *>(kept_ports_[i].get()));
	return all;
}

uint64_t MachineRun::next_start() { return controller_.log_harts().now_ns + start_margin_ns; }

replay::ThreadOptions MachineRun::thread_options(size_t thread, uint64_t start_ns) const
{
	replay::ThreadOptions options;
	options.seed = pattern_seed(thread);
	options.start_ns = start_ns;
	options.queue_depth = plan_.threads[thread].queue_depth;
	options.verify = workload_.verify;
	options.accept_unreadable = workload_.accept_unreadable;
	options.ahead = may_place_ahead() ? std::min(workload_.ahead, room_ahead(workload_, machine_.config(), options.queue_depth)) : 0;
	return options;
}

// Not on a kept image: its record notes a command when it is submitted, so there that is when it arrives.
bool MachineRun::may_place_ahead() const { return machine_.region().virtual_clock() && beside_.size() == shared_.size(); }

std::vector<replay::PhaseThread> MachineRun::threads_of(const std::vector<wl::Source *> &sources, const std::vector<replay::Port *> &ports,
							uint64_t start_ns) const
{
	std::vector<replay::PhaseThread> threads;
	for (size_t i = 0; i < sources.size(); i++)
		threads.push_back({ports[i], sources[i], thread_options(i, start_ns)});
	return threads;
}

std::vector<res::QueueAccount> MachineRun::phase(const std::string &title, const std::vector<replay::PhaseThread> &threads)
{
	std::vector<res::QueueAccount> accounts = replay::run_phase(threads, title, [this] { abort(); });
	for (size_t i = 0; i < accounts.size(); i++)
		accounts[i].nsid = nsid_of(workload_, i);
	return accounts;
}

// An abandoned queue holds device time for all users of the device; the end of this process
// releases it.
void MachineRun::abort()
{
	if (machine_.is_ours())
		machine_.kill();
	else
		machine_.give_up("another thread of this run has failed");
}

} // namespace hz::cli
